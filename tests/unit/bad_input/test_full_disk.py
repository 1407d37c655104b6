"""A disk that is really full: a file system of a few kilobytes, made for one test and gone with it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.unit.adapters.files.archive.snapshots import recording
from tests.unit.batch.backtest.archives import archive, sparse

TIMES = ("2026-03-01T12:00:00Z", "2026-03-01T13:00:00Z", "2026-03-01T14:00:00Z")
RECORD = f"{sys.executable} -m rescheduler record --archive disk/archive"


def on_a_disk(folder: Path, kilobytes: int, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder whose ``disk`` has so much room."""
    (folder / "disk").mkdir()
    mount = ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c"]
    begin = f"mount -t tmpfs -o size={kilobytes}k full disk || exit 99\n"
    try:
        done = subprocess.run(
            [*mount, begin + script], cwd=folder, capture_output=True, text=True, timeout=120,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
        )  # fmt: skip
    except FileNotFoundError:
        pytest.skip("no unshare here")
    if done.returncode == 99 or "unshare failed" in done.stderr:
        pytest.skip("no file system may be mounted here")
    return done


def test_recording_stops_with_a_message_and_what_is_there_stays_whole(tmp_path: Path) -> None:
    """Exit 1, nothing half written is left, and the snapshot is added once there is room again."""
    files = [recording(tmp_path, time, name=f"{at}.json") for at, time in enumerate(TIMES)]
    script = f"""
{RECORD} -f {files[0]} || exit 98
cat /dev/zero > disk/filler 2> errors
{RECORD} -f {files[1]} 2> told; echo $?
ls -A disk/archive > left
rm disk/filler
{RECORD} -f {files[1]} -f {files[2]} 2> again; echo $?
{RECORD} --list -o json > list.json; echo $?
"""
    done = on_a_disk(tmp_path, 64, script)
    assert done.stdout.split() == ["1", "0", "0"], done
    told = (tmp_path / "told").read_text()
    assert f"({TIMES[1]}): disk/archive: cannot be written: No space left on device" in told
    assert len(told.splitlines()) == 2  # and how many were recorded
    assert len((tmp_path / "left").read_text().split()) == 2
    assert [one["time"] for one in json.loads((tmp_path / "list.json").read_text())["snapshots"]] == list(TIMES)


def test_a_pool_without_its_snapshot_gives_its_room_back(tmp_path: Path) -> None:
    """Room for one of the two files of a snapshot is no room for it."""
    files = [recording(tmp_path, time, name=f"{at}.json") for at, time in enumerate(TIMES[:2])]
    script = f"""
{RECORD} -f {files[0]} || exit 98
cat /dev/zero > disk/filler 2> errors
truncate -s -4096 disk/filler
{RECORD} -f {files[1]} 2> told; echo $?
ls -A disk/archive | wc -l
"""
    assert on_a_disk(tmp_path, 64, script).stdout.split() == ["1", "2"]


def test_a_salt_is_whole_or_not_there(tmp_path: Path) -> None:
    """An empty one would be in the way of the next call."""
    file = recording(tmp_path, TIMES[0])
    script = f"""
cat /dev/zero > disk/filler 2> errors
{RECORD} -f {file} --anonymize --salt disk/salt 2> told; echo $?
ls disk/salt 2> /dev/null; cat told
"""
    assert on_a_disk(tmp_path, 64, script).stdout == "1\nerror: --salt disk/salt: No space left on device\n"


def test_results_that_cannot_be_written_down_are_named_with_their_file(tmp_path: Path) -> None:
    """Exit 1 with nothing on standard output; with room again the same command line resumes."""
    archive(tmp_path, [sparse()] * 2)
    backtest = f"{sys.executable} -m rescheduler backtest --archive archive --resume disk/results --processes 1 -o json"
    script = f"""
cat /dev/zero > disk/filler 2> errors
{backtest} 2> told; echo $?
rm disk/filler
{backtest} > out; echo $?
"""
    done = on_a_disk(tmp_path, 64, script)
    assert done.stdout.split() == ["1", "0"], done
    assert (tmp_path / "told").read_text() == (
        "error: --resume disk/results: cannot be written: No space left on device\n"
    )
    assert len(json.loads((tmp_path / "out").read_text())["rows"]) == 2
