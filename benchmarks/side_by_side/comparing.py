"""The loop: each cluster, set anew for each contender, until the cluster itself has stood still meanwhile."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.side_by_side.contenders import Contender
from benchmarks.side_by_side.cycles import Outcome, work
from benchmarks.side_by_side.recording import keep, record
from benchmarks.side_by_side.scenarios import Scenario
from benchmarks.side_by_side.scenes import Scene
from benchmarks.side_by_side.stage import Picture, Stage

TRIES = 3
"""How often a contender works on a cluster whose nodes are taken for dead, as on a machine that is too busy."""


@dataclass(frozen=True)
class Extent:
    """How much is compared."""

    seeds: range
    most_cycles: int
    only: str | None
    """One program instead of both."""
    folder: Path | None
    """Where clusters, first places and all that was said are kept, and first places are looked for."""


def outcomes(stage: Stage, scenario: Scenario, extent: Extent) -> Iterator[Outcome]:
    """One for each cluster and contender."""
    contenders = [one for one in scenario.contenders if extent.only in (None, one.program)]
    for seed in extent.seeds:
        scene = scenario.scene(seed)
        place = extent.folder and extent.folder / f"{scenario.name}-{seed}"
        picture = _first_places(stage, scene, place)
        for contender in contenders:
            _say(f"{scenario.name}, seed {seed}: {contender.program} {contender.name}, {contender.scheduler_name}")
            yield _undisturbed(stage, scene, picture, contender, (seed, extent.most_cycles), place)


def _first_places(stage: Stage, scene: Scene, place: Path | None) -> Picture:
    """Where the stock scheduler puts the pods: by itself, or as it once did, since it draws lots among equals."""
    file = place and place / "places.json"
    if file and file.exists():
        known: Picture = json.loads(file.read_text())
        return known
    picture = stage.first(scene)
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(picture) + "\n")
    return picture


def _undisturbed(
    stage: Stage, scene: Scene, picture: Picture, contender: Contender, numbers: tuple[int, int], place: Path | None
) -> Outcome:
    """Set the scene and let the contender work; again where nodes were lost, and at last as it is."""
    seed, most_cycles = numbers
    for left in reversed(range(TRIES)):
        stage.again(scene, picture, contender.scheduler)
        if place:
            record(stage.cluster.api, place.with_suffix(".json"))
        outcome = work(stage.cluster, contender, scene, seed, most_cycles)
        if place:
            keep(outcome, place)
        if not outcome.lost_nodes:
            break
        _say(f"nodes were taken for dead {outcome.lost_nodes} times, which spoils the result; {left} more tries")
    return outcome


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
