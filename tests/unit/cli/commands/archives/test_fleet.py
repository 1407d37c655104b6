"""``fleet plan``: one row a cluster, whatever happens to the others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rescheduler.adapters.files.archive.archive_writing import ArchiveWriter
from rescheduler.adapters.files.archive.recorded_content import read_content
from rescheduler.cli.commands.archives import fleet as command
from tests.unit.adapters.files.archive.snapshots import recording
from tests.unit.batch.backtest.archives import START, archive, rfc, sparse
from tests.unit.batch.engine.working import Here

Shell = Callable[..., Any]


@pytest.fixture
def clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three recorded clusters, of which two have a newest snapshot that is damaged or to come, and one without any."""
    monkeypatch.setattr(command, "engine_of", lambda _: Here())
    for name in ("west", "east", "early"):
        (tmp_path / name).mkdir()
        Path(archive(tmp_path / name, [sparse()] * 2)).rename(tmp_path / f"of-{name}")
    newest = sorted((tmp_path / "of-west").glob("*.snapshot"))[-1]
    newest.write_bytes(newest.read_bytes()[:-5])
    future = read_content(recording(tmp_path, "2999-01-01T00:00:00Z"))
    ArchiveWriter(str(tmp_path / "of-early")).add(future, future.taken_at)
    (tmp_path / "of-nobody").mkdir()
    return tmp_path


def test_one_that_cannot_be_read_spoils_nothing(clusters: Path, shell: Shell) -> None:
    """Its error is told, no older snapshot takes its place, and the others are there."""
    answer = shell("fleet", "plan", "--archives", f"{clusters}/of-*", "--policy", "consolidate", "-o", "json")
    assert answer.code == 1
    found = json.loads(answer.out)
    assert found["kind"] == "FleetPlan"
    by_name = {one["name"]: one for one in found["clusters"]}
    assert list(by_name) == ["of-early", "of-east", "of-nobody", "of-west"]
    east, west = by_name["of-east"], by_name["of-west"]
    assert (east["time"], east["error"]) == (rfc(START + 1200), None)
    assert east["evictions"] >= east["nodesEmptied"] > 0
    assert {one["name"] for one in east["objectives"]} == {"MakeRoom", "EmptyNodes"}
    assert "damaged" in west["error"]
    assert {key: west[key] for key in ("time", "objectives", "evictions", "nodesEmptied", "whatStandsInTheWay")} == {
        "time": None, "objectives": [], "evictions": None, "nodesEmptied": None, "whatStandsInTheWay": [],
    }  # fmt: skip
    assert "of-west" in answer.err
    assert "is of a time to come, 2999-01-01T00:00:00Z" in by_name["of-early"]["error"]
    assert "holds no snapshot" in by_name["of-nobody"]["error"]


def test_a_table_tells_the_same(clusters: Path, shell: Shell) -> None:
    """With what failed in it."""
    answer = shell("fleet", "plan", "--archives", f"{clusters}/of-*")
    assert "4 clusters, 3 failed" in answer.out


def test_live_clusters_that_do_not_answer(clusters: Path, shell: Shell) -> None:
    """Each context by itself."""
    config = clusters / "config"
    names = ("prod-a", "prod-b", "test")
    config.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "test", "users": [{"name": "u", "user": {}}],
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
        "contexts": [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in names],
    }))  # fmt: skip
    answer = shell("fleet", "plan", "--contexts", "prod-*", "--kubeconfig", str(config), "-o", "json")
    found = json.loads(answer.out)
    assert answer.code == 1
    assert [one["name"] for one in found["clusters"]] == ["prod-a", "prod-b"]
    assert all("127.0.0.1:9" in one["error"] for one in found["clusters"])
    nothing = shell("fleet", "plan", "--contexts", "x*", "--kubeconfig", str(config))
    assert (nothing.code, "prod-a, prod-b, test" in nothing.err) == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [(), ("--contexts", "a", "--archives", "b"), ("--contexts", "a", "--engine", "dask")],
)
def test_wrong_use(shell: Shell, arguments: tuple[str, ...]) -> None:
    """Exit 2."""
    assert shell("fleet", "plan", *arguments).code == 2
