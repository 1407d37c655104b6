"""The loop of the side-by-side comparison: the same cluster for each contender, and once more where nodes were lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.side_by_side import comparing
from benchmarks.side_by_side.comparing import TRIES, Extent, outcomes
from benchmarks.side_by_side.contenders import OURS, PEER
from benchmarks.side_by_side.scenarios import SCENARIOS, Scenario
from benchmarks.side_by_side.scenes import Scene
from benchmarks.side_by_side.stage import Picture

PICTURE = {"app-00": ["node-00", "node-01"]}


class FakeStage:
    """Remembers what it was asked for."""

    cluster = type("FakeCluster", (), {"api": None})()

    def __init__(self) -> None:
        self.set: list[tuple[Scene, Picture, dict[str, Any]]] = []
        self.drawn = 0

    def first(self, scene: Scene) -> Picture:
        """Always the same places."""
        self.drawn += 1
        return PICTURE

    def again(self, scene: Scene, picture: Picture, scheduler: dict[str, Any]) -> None:
        """Nothing is set."""
        self.set.append((scene, picture, scheduler))


class FakeOutcome:
    """What a contender did, as far as the loop looks at it."""

    def __init__(self, name: str, lost_nodes: int) -> None:
        self.name, self.lost_nodes = name, lost_nodes


def compared(
    monkeypatch: pytest.MonkeyPatch, stage: FakeStage, lost: list[int], *,
    only: str | None = None, folder: Path | None = None,
) -> list[str]:  # fmt: skip
    """Names of the contenders whose outcomes came out; ``lost`` tells how many nodes each work loses, in turn."""
    losses = iter(lost)
    monkeypatch.setattr(comparing, "work", lambda _, contender, *__: FakeOutcome(contender.name, next(losses, 0)))
    monkeypatch.setattr(comparing, "record", lambda *_: None)
    monkeypatch.setattr(comparing, "keep", lambda *_: None)
    extent = Extent(range(1), 10, only, folder)
    return [one.name for one in outcomes(stage, spreading(), extent)]  # type: ignore[arg-type, attr-defined]


def spreading() -> Scenario:
    """Two contenders on one kind of cluster."""
    return SCENARIOS["spreading"]


def test_each_contender_gets_the_same_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn once, set once for each, in their order."""
    stage = FakeStage()
    names = compared(monkeypatch, stage, [])
    assert names == [contender.name for contender in spreading().contenders]
    assert stage.drawn == 1
    assert stage.set == [(spreading().scene(0), PICTURE, {})] * 2


@pytest.mark.parametrize("program", [OURS, PEER])
def test_one_program_can_work_alone(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """The other one's contenders are left out."""
    expected = [contender.name for contender in spreading().contenders if contender.program == program]
    assert compared(monkeypatch, FakeStage(), [], only=program) == expected


def test_a_cluster_that_lost_nodes_is_set_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until none is lost, and not for ever."""
    stage = FakeStage()
    assert len(compared(monkeypatch, stage, [3, 0, 0])) == 2
    assert len(stage.set) == 3
    stage = FakeStage()
    assert len(compared(monkeypatch, stage, [3] * 20)) == 2
    assert len(stage.set) == 2 * TRIES


def test_places_once_drawn_are_used_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A second run with the same folder does not draw lots anew, so both see the same cluster."""
    compared(monkeypatch, FakeStage(), [], folder=tmp_path)
    stage = FakeStage()
    compared(monkeypatch, stage, [], folder=tmp_path)
    assert stage.drawn == 0
    assert stage.set[0][1] == PICTURE
