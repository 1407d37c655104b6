"""``record`` on the command line: what is added, refused, kept and told, and by which exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.adapters.api_objects import node_object, pod_object
from tests.unit.adapters.files.archive.snapshots import recording

Shell = Callable[..., Any]
NOON, LATER = "2026-03-01T12:00:00Z", "2026-03-01T12:30:00Z"


@pytest.fixture
def made(tmp_path: Path, shell: Shell) -> tuple[Path, str, str]:
    """A folder, and an archive in it with two snapshots from files."""
    files = [recording(tmp_path, time, name=f"{at}.json") for at, time in enumerate((NOON, LATER))]
    answer = shell("record", "--archive", str(tmp_path / "archive"), "-f", files[0], "-f", files[1])
    assert (answer.code, answer.out) == (0, ""), answer.err
    return tmp_path, str(tmp_path / "archive"), files[0]


def test_each_file_is_one_snapshot(made: tuple[Path, str, str], shell: Shell) -> None:
    """``--list`` tells them by time, with files whose paths are relative and exist."""
    folder, archive, _ = made
    answer = shell("record", "--archive", archive, "--list", "-o", "json")
    assert answer.code == 0
    document = json.loads(answer.out)
    assert document["kind"] == "Archive"
    assert [one["time"] for one in document["snapshots"]] == [NOON, LATER]
    assert [(one["nodes"], one["pods"]) for one in document["snapshots"]] == [(2, 1), (2, 1)]
    assert all((folder / "archive" / name).is_file() for one in document["snapshots"] for name in one["files"])
    assert sum(one["bytes"] for one in document["snapshots"]) == sum(
        path.stat().st_size for path in (folder / "archive").iterdir()
    )


def test_what_cannot_be_added_keeps_nothing_else_out(made: tuple[Path, str, str], shell: Shell) -> None:
    """A broken file, another snapshot of a time that is taken and one to come: named, exit 1, and the last is there."""
    folder, archive, _ = made
    broken = folder / "broken.json"
    broken.write_text("{")
    other = recording(folder, NOON, node_object("z"), name="other.json")
    early = recording(folder, "2999-01-01T00:00:00Z", name="early.json")
    good = recording(folder, "2026-03-01T13:00:00Z", name="good.json")
    answer = shell("record", "--archive", archive, "-f", str(broken), "-f", other, "-f", early, "-f", good)
    assert answer.code == 1
    assert "broken.json" in answer.err
    assert f"other.json ({NOON})" in answer.err
    assert "early.json (2999-01-01T00:00:00Z)" in answer.err
    assert "ahead of the clock" in answer.err
    held = json.loads(shell("record", "--archive", archive, "--list", "-o", "json").out)
    assert len(held["snapshots"]) == 3


def test_the_same_again_is_no_failure(made: tuple[Path, str, str], shell: Shell) -> None:
    """So that an interrupted call can be given again."""
    _, archive, file = made
    assert shell("record", "--archive", archive, "-f", file).code == 0


def test_a_snapshot_of_an_archive_is_a_recording(made: tuple[Path, str, str], shell: Shell) -> None:
    """A plan of it says what a plan of the file says."""
    _, archive, file = made
    plans = [json.loads(shell("plan", "-f", name, "-o", "json").out) for name in (file, f"{archive}@{NOON}")]
    for plan in plans:
        plan["snapshot"].pop("source")
        for objective in plan["objectives"]:
            objective.pop("seconds")
    assert plans[0] == plans[1]
    missing = shell("plan", "-f", f"{archive}@2026-03-01T12:01:00Z")
    assert missing.code == 1
    assert "holds no snapshot of 2026-03-01T12:01:00Z" in missing.err


def test_load_comes_back_with_its_snapshot(tmp_path: Path, shell: Shell) -> None:
    """SpreadLoad of ``DIR@TIME`` goes by what was recorded, without ``--usage``."""
    pods = [pod_object(f"web-{at}", "a") for at in range(3)]
    file = recording(tmp_path, NOON, node_object("a"), node_object("b"), *pods)
    load = tmp_path / "load.json"
    metrics = {name: {"metrics": [{"type": "CPU", "operator": "Latest", "value": value}]} for name, value in
               (("a", 90), ("b", 5))}  # fmt: skip
    end = 1_772_366_400
    load.write_text(json.dumps({"window": {"start": end - 60, "end": end}, "data": {"NodeMetricsMap": metrics}}))
    archive = str(tmp_path / "archive")
    assert shell("record", "--archive", archive, "-f", file, "--usage", str(load)).code == 0
    asked = ("plan", "--objective", "SpreadLoad", "-o", "json")
    given = json.loads(shell(*asked, "-f", file, "--usage", str(load)).out)
    kept = json.loads(shell(*asked, "-f", f"{archive}@{NOON}").out)
    assert kept["objectives"][0]["value"] == given["objectives"][0]["value"]
    assert kept["objectives"][0]["unit"] == given["objectives"][0]["unit"]


def test_names_are_the_same_all_through_an_anonymised_archive(tmp_path: Path, shell: Shell) -> None:
    """By a salt that lies outside; plain ones do not come among them (exit 2)."""
    files = [recording(tmp_path, time, name=f"{at}.json") for at, time in enumerate((NOON, LATER))]
    archive, salt = str(tmp_path / "archive"), str(tmp_path / "salt")
    for file in files:
        assert shell("record", "--archive", archive, "-f", file, "--anonymize", "--salt", salt).code == 0
    pods = [json.loads(shell("schedule", "-f", f"{archive}@{time}", "-o", "json").out) for time in (NOON, LATER)]
    assert pods[0]["pods"] == pods[1]["pods"]
    text = b"".join(path.read_bytes() for path in (tmp_path / "archive").iterdir())
    assert b"web-1" not in text
    plain = shell("record", "--archive", archive, "-f", files[0])
    assert (plain.code, "do not mix" in plain.err) == (2, True)
    other = shell("record", "--archive", archive, "-f", files[0], "--anonymize", "--salt", str(tmp_path / "salt2"))
    assert (other.code, "another salt" in other.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "--archive"),
        (["--archive", "A", "--usage", "x", "-f", "a", "-f", "b"], "found 1 for 2"),
        (["--archive", "A", "--every", "5m", "-f", "a"], "leave -f out"),
        (["--archive", "A", "--anonymize", "-f", "a"], "--salt"),
        (["--archive", "A", "--anonymize", "--salt", "A/salt", "-f", "a"], "keep it elsewhere"),
        (["--archive", "s3://bucket/x", "-f", "a"], "record into a folder"),
        (["--archive", "A", "--keep", "0d", "-f", "a"], "0d"),
        (["--archive", "A", "--max-size", "big", "-f", "a"], "big"),
    ],
)
def test_wrong_use_is_told_before_anything_is_read(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
) -> None:
    """Exit 2, with what was found."""
    monkeypatch.chdir(tmp_path)
    answer = shell("record", *arguments)
    assert answer.code == 2
    assert told in answer.err
    assert not list(tmp_path.iterdir())


def test_old_snapshots_go(made: tuple[Path, str, str], shell: Shell) -> None:
    """``--keep`` counts back from the newest snapshot."""
    folder, archive, _ = made
    newer = recording(folder, "2026-03-02T12:15:00Z", name="newer.json")
    assert shell("record", "--archive", archive, "-f", newer, "--keep", "1d").code == 0
    held = json.loads(shell("record", "--archive", archive, "--list", "-o", "json").out)
    assert [one["time"] for one in held["snapshots"]] == [LATER, "2026-03-02T12:15:00Z"]


def test_no_archive_is_a_failure(tmp_path: Path, shell: Shell) -> None:
    """And names where none was found."""
    answer = shell("record", "--archive", str(tmp_path / "nowhere"), "--list")
    assert (answer.code, "nowhere" in answer.err) == (1, True)
