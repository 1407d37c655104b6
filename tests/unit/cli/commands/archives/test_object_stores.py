"""Archives that lie in an object store: everything that reads one takes its URL."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rescheduler.cli.commands.archives import backtest as command
from rescheduler.cli.commands.archives import fleet as fleet_command
from tests.unit.batch.backtest.archives import START, archive, rfc, sparse
from tests.unit.batch.engine.working import Here

Shell = Callable[..., Any]
fsspec = pytest.importorskip("fsspec")
URL = "memory://bucket/clusters/west"


@pytest.fixture
def store() -> Iterator[Any]:
    """An empty object store of this process."""
    files = fsspec.filesystem("memory")
    files.store.clear()
    yield files
    files.store.clear()


@pytest.fixture
def kept(store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An archive in a folder, and the same under URL in the store; plans are made in this process."""
    for one in (command, fleet_command):
        monkeypatch.setattr(one, "engine_of", lambda _: Here())
    folder = archive(tmp_path, [sparse()] * 3)
    for path in Path(folder).iterdir():
        store.pipe(f"/bucket/clusters/west/{path.name}", path.read_bytes())
    return folder


@pytest.mark.parametrize("arguments", [(), ("--replay",)])
def test_a_back_test_says_the_same_as_of_a_folder(kept: str, shell: Shell, arguments: tuple[str, ...]) -> None:
    """Byte for byte."""
    given = ("--policy", "consolidate", "-o", "json", *arguments)
    here, there = (shell("backtest", "--archive", place, *given) for place in (kept, URL))
    assert (there.code, there.err) == (0, "")
    assert there.out == here.out


def test_processes_read_it_themselves(kept: str, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task carries the URL, and nothing of the archive."""
    monkeypatch.undo()
    monkeypatch.setenv("COLUMNS", "160")
    given = ("--policy", "consolidate", "-o", "json", "--processes", "1")
    there = shell("backtest", "--archive", Path(kept).as_uri(), *given)
    assert there.code == 0, there.err
    assert there.out == shell("backtest", "--archive", kept, *given).out


def test_a_snapshot_is_a_recording(kept: str, shell: Shell) -> None:
    """``URL@TIME`` as ``DIR@TIME``."""
    plans = []
    for place in (kept, URL):
        answer = shell("plan", "-f", f"{place}@{rfc(START + 1200)}", "--policy", "consolidate", "-o", "json")
        assert answer.code == 0, answer.err
        plans.append(json.loads(answer.out))
    assert plans[0]["moves"] == plans[1]["moves"] != []


def test_it_is_listed_but_not_written_to(kept: str, shell: Shell, tmp_path: Path) -> None:
    """Recording is into folders."""
    here, there = (shell("record", "--list", "--archive", place, "-o", "json") for place in (kept, URL))
    assert (there.code, there.out) == (0, here.out)
    answer = shell("record", "--archive", URL, "-f", str(tmp_path / "one.json"))
    assert (answer.code, "record into a folder" in answer.err) == (2, True)


def test_damage_and_absence_are_told(kept: str, store: Any, shell: Shell) -> None:
    """As of a folder: the rest is planned, and where nothing is the URL is named."""
    victim = sorted(name for name in store.find("/bucket") if name.endswith(".snapshot"))[1]
    store.pipe(victim, store.cat(victim)[:-9])
    answer = shell("backtest", "--archive", URL, "--policy", "consolidate", "-o", "json")
    assert answer.code == 1
    assert rfc(START + 1200) in answer.err
    assert len(json.loads(answer.out)["rows"]) == 2
    for nowhere, why in (("memory://bucket/none", "no archive there"), ("nosuch://bucket/a", "nosuch")):
        answer = shell("backtest", "--archive", nowhere)
        assert (answer.code, answer.out) == (1, "")
        assert nowhere in answer.err
        assert why in answer.err


def test_what_a_store_needs_is_named_by_its_extra(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where s3fs is not installed."""
    monkeypatch.setitem(sys.modules, "s3fs", None)
    answer = shell("backtest", "--archive", "s3://bucket/west")
    assert (answer.code, answer.out) == (1, "")
    assert "pip install 'kube-rescheduler[s3]' brings s3fs" in answer.err


def test_a_fleet_of_urls(kept: str, store: Any, shell: Shell) -> None:
    """Each folder that the pattern names is a cluster, called as the folder; one without snapshots has an error."""
    for name, text in {name: store.cat(name) for name in store.find("/bucket/clusters/west")}.items():
        store.pipe(name.replace("/west/", "/east/"), text)
    store.pipe("/bucket/clusters/void/readme", b"nothing")
    answer = shell("fleet", "plan", "--archives", "memory://bucket/clusters/*", "--policy", "consolidate", "-o", "json")
    found = {one["name"]: one for one in json.loads(answer.out)["clusters"]}
    assert answer.code == 1
    assert list(found) == ["east", "void", "west"]
    assert found["east"]["evictions"] == found["west"]["evictions"] > 0
    assert "holds no snapshot" in found["void"]["error"]
