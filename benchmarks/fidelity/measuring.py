"""Measures agreement over many worlds, and over sequences of evictions, on one control plane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from benchmarks.fidelity.cases import judgements
from benchmarks.fidelity.comparison import Judgement
from benchmarks.fidelity.oracle import Oracle
from benchmarks.fidelity.scheduler import CONTROLLERS, alone
from benchmarks.fidelity.sequences import Evictions, Sequence
from benchmarks.fidelity.stage import Stage
from benchmarks.fidelity.world import World, random_world
from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from tests.cluster.plane.control_plane import ControlPlane

CASES_PER_WORLD: Final = 25
ROUNDS_PER_WORLD: Final = 5
_SEEDS_APART: Final = 100_000


@dataclass
class Miss:
    """A case that does not agree: the world's seed and the pod say how to see it again."""

    world: int
    pod: str
    case: Judgement

    def __str__(self) -> str:
        """In words."""
        foretold, seen = self.case.foretold, self.case.seen
        ours = f"one of {', '.join(foretold.best)}" if foretold.best else foretold.message
        theirs = seen.node or seen.message
        return f"world {self.world}, pod {self.pod}, {self.case.profile}: foretold {ours}; seen {theirs}"


@dataclass
class Measured:
    """All cases, those that do not agree, and what the API server refused of our random objects."""

    cases: list[Judgement] = field(default_factory=list)
    misses: list[Miss] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


Witness = Callable[[Miss, Oracle], None]


def measure(plane: ControlPlane, cases: int, seed: int, *, witness: Witness | None = None) -> Measured:
    """At least so many cases over random worlds; ``witness`` is called for a miss while its world stands."""
    measured = Measured()
    with alone(plane, frozen=CONTROLLERS) as configuration:
        stage = Stage(plane.api)
        oracle = _oracle(plane, configuration)
        number = seed * _SEEDS_APART
        while len(measured.cases) < cases:
            _measure_world(stage, oracle, random_world(number, CASES_PER_WORLD), measured, witness)
            number += 1
        measured.refused = stage.refused
    return measured


def measure_sequences(plane: ControlPlane, sequences: int, evictions: int, seed: int) -> list[Sequence]:
    """So many sequences of evictions over random clusters, controllers and kubelets taking part."""
    found: list[Sequence] = []
    with alone(plane) as configuration:
        runs = Evictions(Stage(plane.api).api, _oracle(plane, configuration))
        number = seed * _SEEDS_APART
        while len(found) < sequences:
            rounds = min(ROUNDS_PER_WORLD, sequences - len(found))
            found.extend(runs.run(number, rounds, evictions))
            number += 1
    return found


def _oracle(plane: ControlPlane, configuration: str) -> Oracle:
    return Oracle(LiveReader(connect(str(plane.kubeconfig), read_only=True)), configuration)


def _measure_world(stage: Stage, oracle: Oracle, world: World, measured: Measured, witness: Witness | None) -> None:
    with stage.showing(world) as pods:
        for pod, case in judgements(stage.api, oracle, pods):
            measured.cases.append(case)
            if not case.is_expected:
                miss = Miss(world.seed, pod["metadata"]["name"], case)
                measured.misses.append(miss)
                if witness is not None:
                    witness(miss, oracle)
