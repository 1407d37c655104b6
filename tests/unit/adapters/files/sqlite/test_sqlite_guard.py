"""Whose a sqlite file is and in what state, shown with a usage store; readers beside its writer."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.adapters.files.sqlite.usage_store import SqliteUsageStore, read_usage_store
from rescheduler.extension_points import StoreError
from rescheduler.model.objects.resources import CPU
from tests.builders import NOW
from tests.unit.adapters.usage_stores import ALL, Told, opened, times_of
from tests.unit.usage.sampling import tick


def make_sqlite(path: Path, *statements: str) -> None:
    """A sqlite file that is not ours."""
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    path.touch()


def kept(path: Path, count: int = 3) -> bytes:
    """Make a store of so many ticks and close it; what is in the file."""
    store = opened(path)
    for at in range(count):
        store.append(tick(NOW + 15 * at, {f"node-{number}": number / 50 for number in range(50)}))
    store.close()
    return path.read_bytes()


def test_a_reader_sees_what_the_writer_has_kept(path: Path, store: SqliteUsageStore) -> None:
    """Beside it, without stopping it, and after it has ended."""
    store.append(tick(NOW, {"a": 0.5}))
    assert times_of(read_usage_store(path, ALL, Told())) == [0]
    store.append(tick(NOW + 15, {"a": 0.5}))
    assert times_of(read_usage_store(path, NOW + 1, Told())) == [15]
    store.close()
    assert times_of(read_usage_store(path, ALL, Told())) == [0, 15]


def test_a_reader_makes_no_file(path: Path) -> None:
    """A wrong name is an error, not an empty store."""
    with pytest.raises(StoreError, match="found no such file; wanted the one that a load watcher keeps"):
        read_usage_store(path, ALL, Told())
    assert not path.exists()


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        ((), "it holds nothing yet"),
        (("CREATE TABLE other (x)",), "it is a sqlite file of something else"),
        (("CREATE TABLE meta (key, value)",), "it is a sqlite file of something else"),
    ],
)
def test_a_reader_refuses_other_files(path: Path, statements: Sequence[str], message: str) -> None:
    """And leaves them where they are."""
    make_sqlite(path, *statements)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=message):
        read_usage_store(path, ALL, Told())
    assert path.read_bytes() == before


def test_a_reader_leaves_nothing_behind(path: Path, store: SqliteUsageStore) -> None:
    """No file of its own beside a closed store, which it might not be allowed to make, or the next writer to use."""
    store.append(tick(NOW, {"a": 0.5}))
    store.close()
    before = sorted(path.parent.iterdir())
    assert times_of(read_usage_store(path, ALL, Told())) == [0]
    assert sorted(path.parent.iterdir()) == before


def test_a_reader_beside_a_writer_that_was_killed(path: Path, store: SqliteUsageStore) -> None:
    """What stands only in the log is read too."""
    store.append(tick(NOW, {"a": 0.5}))
    copy = path.with_name("copy.sqlite")
    for suffix in ("", "-wal"):
        copy.with_name(copy.name + suffix).write_bytes(path.with_name(path.name + suffix).read_bytes())
    assert times_of(read_usage_store(copy, ALL, Told())) == [0]


@pytest.mark.parametrize("content", [b"not a database at all", b"\0" * 5000, b"SQLite format 3\0" + b"x" * 5000])
def test_a_file_that_is_no_store_is_moved_aside(path: Path, content: bytes) -> None:
    """Never deleted, never silently; the store starts empty."""
    path.write_bytes(content)
    told = Told()
    store = opened(path, told)
    store.append(tick(NOW, {"a": 0.5}))
    assert times_of(store.restore(ALL)) == [0]
    store.close()
    [aside] = path.parent.glob("usage.sqlite.corrupt-20270115T080000Z")
    assert aside.read_bytes() == content
    assert len(told) == 1
    assert f"it was moved to {aside}, and an empty one takes its place" in told[0]


@pytest.mark.parametrize(
    ("statements", "kind", "words"),
    [
        (("CREATE TABLE orders (x)",), "foreign", "it is a sqlite file of something else"),
        (("CREATE TABLE meta (key, value)", "INSERT INTO meta VALUES ('format', 'x')"), "foreign", "something else"),
        (("CREATE TABLE meta (other)",), "foreign", "its tables are not ours"),
        (
            (
                "CREATE TABLE meta (key, value)",
                "INSERT INTO meta VALUES ('format', 'rescheduler usage samples'), ('version', '2')",
            ),
            "newer",
            "found version 2 of its form, wanted 1",
        ),
        (
            (
                "CREATE TABLE meta (key, value)",
                "INSERT INTO meta VALUES ('format', 'rescheduler usage samples'), ('version', '1')",
            ),
            "foreign",
            "its tables are not ours",
        ),
    ],
)
def test_a_sqlite_file_of_another_kind_is_moved_aside(
    path: Path, statements: Sequence[str], kind: str, words: str
) -> None:
    """Another program's, a later version's, or one with other tables."""
    make_sqlite(path, *statements)
    before = path.read_bytes()
    told = Told()
    opened(path, told).close()
    [aside] = path.parent.glob(f"usage.sqlite.{kind}-*")
    assert aside.read_bytes() == before
    assert words in told[0]


def test_files_moved_aside_do_not_overwrite_each_other(path: Path) -> None:
    """Even within one second."""
    for content in (b"one", b"two", b"three"):
        path.write_bytes(content)
        opened(path).close()
        path.unlink()
    assert sorted(found.read_bytes() for found in path.parent.glob("*.corrupt-*")) == [b"one", b"three", b"two"]


def test_a_log_beside_a_file_goes_with_it(path: Path) -> None:
    """Left alone it would be played into the new file."""
    path.write_bytes(b"no database")
    path.with_name("usage.sqlite-wal").write_bytes(b"log")
    opened(path).close()
    assert [found.read_bytes() for found in path.parent.glob("*.corrupt-*-wal")] == [b"log"]


def test_an_empty_file_is_a_new_store(path: Path) -> None:
    """As a person may make it to set its rights."""
    path.touch()
    told = Told()
    opened(path, told).close()
    assert told == []
    assert list(path.parent.glob("*.corrupt-*")) == []


@settings(max_examples=60)
@given(st.data())
def test_damage_never_becomes_load(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever bytes change, what is restored is what was written; the rest is left out, and the store works."""
    path = tmp_path_factory.mktemp("damaged") / "usage.sqlite"
    content = bytearray(kept(path))
    wanted = {
        float(row.times[0]): row
        for row in (tick(NOW + 15 * at, {f"node-{n}": n / 50 for n in range(50)}) for at in range(3))
    }
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.sampled_from([len(content), 100, 4096, len(content) - 1]))]))
    told = Told()
    store = opened(path, told)
    for samples in store.restore(ALL):
        for at, time in enumerate(samples.times.tolist()):
            np.testing.assert_array_equal(samples.values[CPU][at], wanted[time].values[CPU][0].astype(np.float32))
            np.testing.assert_array_equal(samples.measured_at[at], wanted[time].measured_at[0])
    assert len(times_of(store.restore(ALL))) == 3 or told
    store.append(tick(NOW + 1000, {"a": 0.5}))
    assert times_of(store.restore(NOW + 1000)) == [1000]
    store.close()


def test_a_file_that_sqlite_would_never_write_is_damaged(path: Path) -> None:
    """Its header asks for a newer sqlite: it can be read, and each tick would be refused for ever."""
    content = bytearray(kept(path))
    content[18] = 3
    path.write_bytes(content)
    told = Told()
    store = opened(path, told)
    assert "found write version 3 in its header, wanted 2 at most" in told[0]
    store.append(tick(NOW + 1000, {"a": 0.5}))
    assert times_of(store.restore(ALL)) == [1000]
    store.close()


def test_damage_that_is_no_text_is_damage(path: Path) -> None:
    """Though sqlite quotes it in its own words, which Python then cannot read."""
    path.write_bytes(kept(path).replace(b"CREATE TABLE ticks", b"CREATE TABLE \xff\xfecks"))
    told = Told()
    store = opened(path, told)
    assert (store.restore(ALL), len(told)) == ([], 1)
    assert "it is damaged" in told[0]
    store.close()


def test_a_folder_in_place_of_the_file_is_refused(path: Path) -> None:
    """And left alone; the lock is free again."""
    path.mkdir()
    for _ in range(2):
        with pytest.raises(StoreError, match="found a folder or device, wanted a file"):
            opened(path)
    assert path.is_dir()
