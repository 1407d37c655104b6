"""Snapshots come out of an archive as they went in, in whatever order, whatever was killed or damaged on the way."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.files.archive.archive_form import Difference, objects_of
from rescheduler.adapters.files.archive.archive_reading import archived_load, list_archive
from rescheduler.adapters.files.archive.archive_source import FolderSource
from rescheduler.adapters.files.archive.archive_writing import Added, ArchiveWriter, MixedNamesError, _difference
from rescheduler.adapters.files.archive.recorded_content import RecordedContent, in_order, read_content
from rescheduler.adapters.files.archive.snapshot_names import ArchivedName, archived_name
from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.extension_points import SnapshotError
from rescheduler.model.objects.cluster import Cluster
from tests.unit.adapters.api_objects import node_object, pod_object
from tests.unit.adapters.files.archive.snapshots import LATER, START, content, recording

TIMES = [f"2026-03-01T0{hour}:{minute:02}:00Z" for hour in (0, 1) for minute in (0, 20, 40)]


def same(one: Cluster, other: Cluster) -> bool:
    """Whether two snapshots say the same."""
    return all(
        getattr(one, name) == getattr(other, name)
        for name in ("nodes", "pods", "workloads", "budgets", "namespaces", "taken_at", "absent_kinds")
    )


def listed(folder: Path) -> list[tuple[int, int, int]]:
    """Time, nodes and pods of all snapshots."""
    found = list_archive(FolderSource(folder), LATER)
    return [(one.time, one.nodes, one.pods) for one in found.snapshots]


@pytest.mark.parametrize("order", [TIMES, TIMES[::-1], [*TIMES[3:], *TIMES[:3]]])
def test_snapshots_come_out_as_they_went_in_whatever_the_order(tmp_path: Path, order: list[str]) -> None:
    """Each reads as the recording it was made of, neighbours that differ in every way included."""
    files = {}
    for number, time in enumerate(TIMES):
        pods = [pod_object(f"web-{one}", "a" if one % 2 else "b") for one in range(number, number + 3)]
        files[time] = recording(tmp_path, time, node_object("a"), node_object("b"), *pods, name=f"{number}.json")
    writer = ArchiveWriter(str(tmp_path / "archive"))
    for time in order:
        assert writer.add(read_content(files[time]), LATER) is Added.NEW
    for time, file in files.items():
        assert same(read_recording([f"{tmp_path}/archive@{time}"]), read_recording([file]))
    assert [time for time, _, _ in listed(tmp_path / "archive")] == [START + 1200 * number for number in range(6)]


names = st.sampled_from("abcdef")
objects = st.lists(
    st.builds(lambda kind, name, body: f'{{"kind":"{kind}","metadata":{{"name":"{name}"}},"x":"{body}"}}'.encode(),
              st.sampled_from(["Pod", "Node", "Service"]), names, st.text("xyz", max_size=5)),
    max_size=12,
)  # fmt: skip


@given(objects, objects)
def test_a_difference_and_its_pool_make_the_snapshot(pool: list[bytes], wanted: list[bytes]) -> None:
    """Whatever was removed, changed, added or stands twice by name."""
    snapshot = RecordedContent(1.0, {}, in_order(wanted), (), 0, 0, None)
    found = _difference(snapshot, in_order(pool))
    assert isinstance(found, Difference)
    assert sorted(objects_of(in_order(pool), found, "x")) == sorted(snapshot.objects)


def test_neighbours_share_what_they_have_in_common(tmp_path: Path) -> None:
    """An hour of equal snapshots takes little more than one."""
    writer = ArchiveWriter(str(tmp_path / "archive"))
    pods = [pod_object(f"web-{one * 7919 % 10007:x}", f"n{one % 13}", namespace=f"ns-{one % 7}") for one in range(500)]
    for minute in range(0, 60, 5):
        writer.add(content(tmp_path, f"2026-03-01T00:{minute:02}:00Z", node_object("a"), *pods), LATER)
    sizes = [one.bytes for one in list_archive(FolderSource(tmp_path / "archive"), LATER).snapshots]
    assert max(sizes[1:]) < sizes[0] / 3, sizes


def test_the_same_again_is_left_alone_and_another_of_its_time_refused(tmp_path: Path) -> None:
    """A command that was interrupted can be given again; two truths of one time cannot be."""
    writer = ArchiveWriter(str(tmp_path / "archive"))
    assert writer.add(content(tmp_path, TIMES[0]), LATER) is Added.NEW
    assert writer.add(content(tmp_path, TIMES[0]), LATER) is Added.KNOWN
    with pytest.raises(SnapshotError, match="another snapshot of 2026-03-01T00:00:00Z"):
        writer.add(content(tmp_path, TIMES[0], node_object("c")), LATER)
    assert listed(tmp_path / "archive") == [(START, 2, 1)]


def test_a_time_to_come_is_refused(tmp_path: Path) -> None:
    """Five minutes of a clock that is wrong are let pass."""
    writer = ArchiveWriter(str(tmp_path / "archive"))
    with pytest.raises(SnapshotError, match="ahead of the clock"):
        writer.add(content(tmp_path, TIMES[0]), START - 301.0)
    assert writer.add(content(tmp_path, TIMES[0]), START - 300.0) is Added.NEW


@pytest.mark.parametrize("which", [".snapshot", ".pool"])
@pytest.mark.parametrize("harm", ["cut", "garbled", "lost"])
def test_damage_costs_at_most_its_hour_is_told_and_can_be_mended(tmp_path: Path, which: str, harm: str) -> None:
    """What is damaged is named with its time; adding the snapshots again mends it."""
    folder = tmp_path / "archive"
    writer = ArchiveWriter(str(folder))
    for time in TIMES:
        writer.add(content(tmp_path, time), LATER)
    victim = sorted(folder.glob(f"2026-03-01T00*{which}"))[0]
    whole = victim.read_bytes()
    victim.write_bytes(whole[:-20] if harm == "cut" else whole[:-20] + b"x" * 20)
    if harm == "lost":
        victim.unlink()
    found = list_archive(FolderSource(folder), LATER)
    left = [one.time for one in found.snapshots]
    assert left[-3:] == [START + 3600, START + 4800, START + 6000]
    assert len(left) == (3 if which == ".pool" else 5)
    assert bool(found.problems) == (harm != "lost" or which == ".pool")
    assert all("2026-03-01T00" in problem.reason for problem in found.problems)
    for time in TIMES:
        ArchiveWriter(str(folder)).add(content(tmp_path, time), LATER)
    assert [time for time, _, _ in listed(folder)] == [START + 1200 * number for number in range(6)]


def test_what_somebody_has_copied_together_is_told_and_the_first_that_can_be_read_is_used(tmp_path: Path) -> None:
    """Two snapshots of one time from two recorders, and one of a time to come; a listing and a reader agree."""
    folders = [tmp_path / name for name in ("one", "two")]
    for folder, node in zip(folders, "ac", strict=True):
        writer = ArchiveWriter(str(folder))
        writer.add(content(tmp_path, TIMES[0], node_object(node)), LATER)
        writer.add(content(tmp_path, TIMES[1]), LATER)
    for path in folders[1].iterdir():
        path.rename(folders[0] / path.name)
    first, second = sorted(folders[0].glob("2026-03-01T00-00-00Z*"))
    problems = list_archive(FolderSource(folders[0]), LATER).problems
    assert [(problem.time, problem.reason.partition(";")[0]) for problem in problems] == [
        (START, f"{TIMES[0]}: {second.name} is another snapshot of the same time"),
        (
            START + 1200,
            f"{TIMES[1]}: {sorted(folders[0].glob('*T00-20-00Z*'))[1].name} is another snapshot of the same time",
        ),
    ]
    [early] = list_archive(FolderSource(folders[0]), START + 800.0).problems[-1:]
    assert (early.time, "is of a time to come" in early.reason) == (START + 1200, True)
    used = read_recording([f"{folders[0]}@{TIMES[0]}"])
    first.write_bytes(first.read_bytes()[:-9])
    assert listed(folders[0])[0] == (START, 1, 0)
    assert read_recording([f"{folders[0]}@{TIMES[0]}"]).nodes != used.nodes
    second.unlink()
    with pytest.raises(SnapshotError, match="damaged"):
        read_recording([f"{folders[0]}@{TIMES[0]}"])


def test_pruning_counts_back_from_the_newest_snapshot(tmp_path: Path) -> None:
    """However long ago that was; pools that nobody needs go too, and the newest always stays."""
    folder = tmp_path / "archive"
    writer = ArchiveWriter(str(folder))
    for time in TIMES:
        writer.add(content(tmp_path, time), LATER)
    assert writer.prune(3600.0, None) == 2
    assert [time for time, _, _ in listed(folder)] == [START + 1200 * number for number in range(2, 6)]
    assert writer.prune(1300.0, None) == 2
    assert len(list(folder.glob("*.pool"))) == 1
    assert writer.prune(None, 1) == 1
    assert [time for time, _, _ in listed(folder)] == [START + 6000]


def test_a_full_disk_leaves_whole_files_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be written is refused with the reason, and what was there can be read."""
    folder = tmp_path / "archive"
    writer = ArchiveWriter(str(folder))
    writer.add(content(tmp_path, TIMES[0]), LATER)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(SnapshotError, match="No space left"):
            writer.add(content(tmp_path, TIMES[3]), LATER)
    assert not list(folder.glob(".*"))
    assert listed(folder) == [(START, 2, 1)]
    assert writer.add(content(tmp_path, TIMES[3]), LATER) is Added.NEW


_KILLED = """
import os, sys
from rescheduler.adapters.files.archive.archive_writing import ArchiveWriter
from rescheduler.adapters.files.archive.recorded_content import read_content
calls, real = [], os.fsync
def dying(descriptor):
    calls.append(descriptor)
    if len(calls) == int(sys.argv[3]):
        os.kill(os.getpid(), 9)
    real(descriptor)
os.fsync = dying
ArchiveWriter(sys.argv[1]).add(read_content(sys.argv[2]), 2e9)
"""


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_kill_9_leaves_at_most_one_unfinished_file_which_the_next_call_removes(tmp_path: Path, at: int) -> None:
    """At each of the four places where a file or the folder is brought to the disk."""
    folder = tmp_path / "archive"
    file = recording(tmp_path, TIMES[0])
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(folder), file, str(at)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(folder.glob(".*"))) <= 1
    assert list_archive(FolderSource(folder), LATER).problems == ()
    assert ArchiveWriter(str(folder)).add(read_content(file), LATER) in (Added.NEW, Added.KNOWN)
    assert not list(folder.glob(".*"))
    assert listed(folder) == [(START, 2, 1)]


def test_names_of_two_kinds_do_not_come_together(tmp_path: Path) -> None:
    """Plain beside replaced ones, or replaced by two salts."""
    writer = ArchiveWriter(str(tmp_path / "archive"), "anonymised a")
    writer.add(content(tmp_path, TIMES[0]), LATER)
    for names in ("plain", "anonymised b"):
        with pytest.raises(MixedNamesError):
            ArchiveWriter(str(tmp_path / "archive"), names).add(content(tmp_path, TIMES[1]), LATER)


def test_a_form_of_another_version_is_told(tmp_path: Path) -> None:
    """And not taken for damage."""
    folder = tmp_path / "archive"
    ArchiveWriter(str(folder)).add(content(tmp_path, TIMES[0]), LATER)
    file = next(folder.glob("*.snapshot"))
    file.write_bytes(file.read_bytes().replace(b'"kind":"Snapshot"', b'"kind":"Snapshot","form":2', 1))
    assert "this version reads form 1" in list_archive(FolderSource(folder), LATER).problems[0].reason


def test_an_archives_snapshot_is_named_by_its_time(tmp_path: Path) -> None:
    """In any zone and to the second; a file of that name is a file."""
    named = archived_name("x@2026-03-01T01:00:00.75+01:00")
    assert named == ArchivedName("x", START)
    assert archived_name("x@noon") is None
    file = tmp_path / "x@2026-03-01T00:00:00Z"
    file.write_text("")
    assert archived_name(str(file)) is None


def test_load_is_kept_with_its_snapshot(tmp_path: Path) -> None:
    """As GET /watcher would tell it."""
    load = tmp_path / "load.json"
    load.write_text(
        '{"window":{"start":1,"end":2},"data":{"NodeMetricsMap":{"a":{"metrics":[{"type":"CPU","value":7}]}}}}'
    )
    ArchiveWriter(str(tmp_path / "archive")).add(read_content(recording(tmp_path, TIMES[0]), str(load)), LATER)
    kept = archived_load(ArchivedName(str(tmp_path / "archive"), START))
    assert kept is not None
    assert b'"value":7.0' in kept
