"""A process killed at every call of small scenes, before, in and after it; another starts, and everything must hold."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Final, NamedTuple

from tests.soak.invariants.catalogue import observers
from tests.soak.line.faults import DEADLY, Fault, Faults
from tests.soak.run import Outcome, Run
from tests.soak.run_settings import RunSettings
from tests.soak.surging import with_surges

POLICY = """\
apiVersion: rescheduler/v1alpha1
kind: ReschedulerPolicy
metadata: {{name: kill points}}
mode: Execute
scope: {{namespaces: {{exclude: [kube-system]}}}}
disruption:
  workloads: {{maxUnavailable: 1}}
  unsettled: Deny
  budgets:
  - {{name: at once, maxMoving: 5, rate: {{maxEvictions: 20, window: 1h}}}}
  - {{name: workload, per: Workload, rate: {{maxEvictions: 2, window: 1h}}}}
  rampUp: unlimited
  backOff: {{first: 1h, longest: 24h, rest: 1h}}
health: {{settle: 0s, pendingRising: 0s, calm: 0s, headRoom: 0%}}
guidance: {guidance}
hold: {{deadline: 60s}}
"""
SURGE: Final = " by surge"
"""Ending of the guidance of scenes whose pods move by surge."""
SCENES: tuple[tuple[str, int], ...] = (
    *((guidance, seed) for guidance in ("Predict", "Hold", "Guide", "Taint") for seed in (11, 12, 13)),
    *((f"{guidance}{SURGE}", seed) for guidance in ("Hold", "Guide") for seed in (12, 13)),
)
"""Guidance and seed of each scene."""
STEPS: Final = frozenset(
    {"detach", "give back", "evict", "gate", "ungate", "nominate", "hold", "release", "ledger write", "audit"}
)
"""Of scenes by surge only these calls are points: between two of them it looks several times a second."""
HOURS = 0.4


class KillPoint(NamedTuple):
    """Killed at this call of this scene. ``call`` counts from 1; 0: never killed."""

    guidance: str
    seed: int
    call: int
    phase: str


class KillAt(Faults):
    """Nothing goes wrong but that the process dies at one call. ``calls``: how many there were."""

    def __init__(self, now: Callable[[], float], call: int, phase: str) -> None:
        super().__init__(Random(0), now, 0.0, 0.0)
        self.calls = 0
        self.sites: list[str] = []
        self._at = call
        self._phase = phase

    def draw(self, site: str, where: str = "") -> Fault | None:
        """The kill, when its call has come."""
        self.calls += 1
        self.sites.append(site)
        if self.calls != self._at:
            return None
        self.struck[site, self._phase] += 1
        return Fault(self._phase)


def settings_of(guidance: str, seed: int) -> RunSettings:
    """A small calm world, whose planner proposes many small moves."""
    has_surges = guidance.endswith(SURGE)
    policy = POLICY.format(guidance=guidance.removesuffix(SURGE))
    return RunSettings(
        seed=seed, hours=HOURS, nodes=4, zones=1, malice=0.0, processes=1, world_pace=0.0, large_pods=0.0,
        share_ill=0.0,
        fault_rate=0.0, episodes=0.0, kills=0.0, policy=with_surges(policy, Random(seed)) if has_surges else policy,
        round_seconds=120.0, has_surges=has_surges,
    )  # fmt: skip


def run_point(point: KillPoint) -> tuple[KillPoint, Outcome, list[str]]:
    """One run, and the sites of the calls that it made."""
    made: list[KillAt] = []

    def faults(now: Callable[[], float]) -> KillAt:
        made.append(KillAt(now, point.call, point.phase))
        return made[0]

    outcome = Run(settings_of(point.guidance, point.seed), observers(), faults=faults).go()
    return point, outcome, made[0].sites


def points(scenes: Sequence[tuple[str, int]] = SCENES) -> Iterator[KillPoint]:
    """Every call of every scene, or every step of a surge, in every phase."""
    for guidance, seed in scenes:
        _, _, sites = run_point(KillPoint(guidance, seed, 0, ""))
        for call, site in enumerate(sites, 1):
            if guidance.endswith(SURGE) and site not in STEPS:
                continue
            for phase in DEADLY:
                yield KillPoint(guidance, seed, call, phase)


def some_of(number: int) -> list[KillPoint]:
    """So many of all points, spread evenly over scenes and calls; 0: all."""
    found = list(points())
    if not number or number >= len(found):
        return found
    return [found[index * len(found) // number] for index in range(number)]


def run_points(chosen: Sequence[KillPoint], processes: int) -> Iterator[tuple[KillPoint, Outcome, list[str]]]:
    """Runs of these points, in order."""
    if processes == 1:
        yield from map(run_point, chosen)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap(run_point, chosen, chunksize=8)
