"""What this machine remembers of evictions: on the disk before they are sent, and found again after anything."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from rescheduler.adapters.files.sqlite.history_store import (
    KEPT_PLANS,
    Place,
    history_path,
    read_history,
    read_kept_ledger,
    read_kept_plans,
)
from rescheduler.extension_points import StoreError
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, EntryState
from rescheduler.model.plan.plan import Plan
from tests.builders import NOW
from tests.unit.adapters.history_stores import ELSEWHERE, HERE, read, store
from tests.unit.adapters.usage_stores import ALL, Told
from tests.unit.execution.entries import entry, ledger_of
from tests.unit.report.plans import small_plan


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file is to be; its folder is not there yet."""
    return tmp_path / "state" / "history.sqlite"


def test_an_eviction_is_told_once_with_what_was_known_last(path: Path) -> None:
    """A line for the intent, one for the answer; another eviction of the same pod is another one."""
    history = store(path)
    history.note([entry(state=EntryState.INTENDED)])
    history.note([entry(state=EntryState.REFUSED)])
    history.note([entry(at=NOW + 9), entry("web-1", at=NOW + 3)])
    assert read(path) == [
        ("web-0", EntryState.REFUSED), ("web-1", EntryState.OPEN), ("web-0", EntryState.OPEN),
    ]  # fmt: skip
    assert read_history(path, HERE, ALL, Told())[0] == entry(state=EntryState.REFUSED)


def test_a_line_is_there_for_another_process_at_once(path: Path) -> None:
    """And for one that comes after a kill: nothing is closed here."""
    kept = [store(path) for _ in range(3)]
    for number, history in enumerate(kept):
        history.note([entry(f"web-{number}")])
        assert len(read(path)) == number + 1


def test_each_cluster_has_a_history_of_its_own(path: Path) -> None:
    """By its uid; by its address where the uid is not known; all of them where neither is."""
    store(path).note([entry("web-0")])
    store(path, ELSEWHERE).note([entry("web-1")])
    assert [name for name, _ in read(path)] == ["web-0"]
    assert [name for name, _ in read(path, Place("", "https://two"))] == ["web-1"]
    assert read(path, Place("", "https://three")) == []
    assert len(read(path, None)) == 2


def test_only_what_is_new_enough(path: Path) -> None:
    """And lines older than 90 days go by themselves."""
    store(path).note([entry("old", at=NOW - 8e6), entry("web-0", at=NOW - 60), entry("web-1")])
    assert [name for name, _ in read(path, since=NOW - 30)] == ["web-1"]
    assert [name for name, _ in read(path)] == ["web-0", "web-1"]


def test_without_a_file_there_is_no_history_and_none_is_made(path: Path) -> None:
    """Reading leaves no trace."""
    assert read(path) == []
    assert read_kept_ledger(path, HERE) == EMPTY_LEDGER
    assert not path.parent.exists()


def test_the_ledger_is_kept_by_compare_and_swap(path: Path) -> None:
    """Where the cluster keeps none; two processes that write at once are told apart."""
    one, other = store(path), store(path)
    reading = one.read()
    assert reading.ledger == EMPTY_LEDGER
    version = one.write(ledger_of(entry()), reading.version)
    assert version is not None
    assert other.write(EMPTY_LEDGER, reading.version) is None
    assert other.read() == (ledger_of(entry()), version, None, "", "")
    assert read_kept_ledger(path, HERE) == ledger_of(entry())
    assert store(path, ELSEWHERE).read().ledger == EMPTY_LEDGER


def test_noting_lines_leaves_the_ledger_as_it_is(path: Path) -> None:
    """Both are about the same cluster."""
    history = store(path)
    history.write(ledger_of(entry()), history.read().version)
    history.note([])
    assert history.read().ledger == ledger_of(entry())


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"XDG_STATE_HOME": "/var/state"}, Path("/var/state/rescheduler/history.sqlite")),
        ({"XDG_STATE_HOME": "relative"}, Path("~/.local/state/rescheduler/history.sqlite").expanduser()),
        ({}, Path("~/.local/state/rescheduler/history.sqlite").expanduser()),
    ],
)
def test_where_the_file_is(environment: dict[str, str], expected: Path) -> None:
    """As the XDG rules have it: a relative path counts as none."""
    assert history_path(environment) == expected


def test_without_a_home_it_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may have neither."""

    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(StoreError, match="set XDG_STATE_HOME"):
        history_path({})


def test_the_newest_state_of_a_reopened_entry_wins(path: Path) -> None:
    """Also when it was written by another process."""
    store(path).note([entry(state=EntryState.INTENDED)])
    store(path).note([structs.replace(entry(), landed_on="n2")])
    assert [found.landed_on for found in read_history(path, HERE, ALL, Told())] == ["n2"]


def test_plans_are_kept_by_cluster_and_number(path: Path) -> None:
    """The newest fifty, as they were; a file from before plans were kept has none, nor has one that is not there."""
    assert read_kept_plans(path, HERE) == {}
    history = store(path)
    history.note([entry()])
    assert read_kept_plans(path, HERE) == {}
    for number in range(1, KEPT_PLANS + 3):
        history.keep_plan(number, small_plan())
    history.keep_plan(KEPT_PLANS + 2, structs.replace(small_plan(), moves=()))
    store(path, ELSEWHERE).keep_plan(1, small_plan())
    kept = read_kept_plans(path, HERE)
    assert sorted(kept) == list(range(3, KEPT_PLANS + 3))
    assert msgspec.json.decode(kept[3](), type=Plan) == small_plan()
    assert msgspec.json.decode(kept[KEPT_PLANS + 2](), type=Plan).moves == ()
    assert [name for name, _ in read(path)] == ["web-0"]


def test_a_damaged_plan_is_named_when_it_is_asked_for(path: Path) -> None:
    """The others can be read."""
    history = store(path)
    history.keep_plan(1, small_plan())
    history.keep_plan(2, small_plan())
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE plans SET plan = ? WHERE number = 1", (b"no zlib",))
    kept = read_kept_plans(path, HERE)
    assert kept[2]()
    with pytest.raises(StoreError, match="holds a plan that cannot be read"):
        kept[1]()
