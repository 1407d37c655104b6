"""Tiny clusters whose pods use other amounts than they request, and the least overload found by trying everything."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.disruption import Eligibility, MoveLimits
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import PLENTY
from tests.clocks import FakeClock
from tests.unit.planning.brute_force import BruteForce, State, TinyCluster, TinyPod
from tests.unit.planning.tiny import as_cluster, tiny_clusters


@dataclass(frozen=True)
class TinyLoad:
    """A tiny cluster, what each of its pods uses in tenths of a core, and the target in tenths of allocatable."""

    cluster: TinyCluster
    uses: tuple[int, ...]
    target: int

    def over(self, state: State) -> tuple[int, ...]:
        """Hundredths of a core above the target on each node."""
        used = [0] * len(self.cluster.nodes)
        for use, node in zip(self.uses, state, strict=True):
            if node is not None:
                used[node] += 10 * use
        return tuple(
            max(0, amount - 10 * self.target * node.cores)
            for amount, node in zip(used, self.cluster.nodes, strict=True)
        )

    def cost(self, state: State) -> float:
        """Overload in average nodes."""
        mean = sum(node.cores for node in self.cluster.nodes) / len(self.cluster.nodes)
        return sum(self.over(state)) / 100 / mean


def least_overload(load: TinyLoad) -> float:
    """The least overload that any order of moves reaches, no node ending further above its target than it began."""
    search = BruteForce(load.cluster)
    start: State = tuple(pod.node for pod in load.cluster.pods)
    began = load.over(start)
    frontier: set[tuple[State, frozenset[int]]] = {(start, frozenset())}
    seen, best = set(frontier), load.cost(start)
    while frontier:
        following = set()
        for state, moved in frontier:
            if all(now <= before for now, before in zip(load.over(state), began, strict=True)):
                best = min(best, load.cost(state))
            following |= search._steps(state, moved) - seen
        seen |= following
        frontier = following
    return best


def question_and_use(
    load: TinyLoad, *, is_guided_by_holds: bool = True, seed: int = 0
) -> tuple[PlanRequest, ObservedUse]:
    """The planner's question, and what is observed."""
    cluster = as_cluster(load.cluster)
    columns = columns_of(cluster)
    number_of = {f"default/{item.workload}-{number:02d}": number for number, item in enumerate(load.cluster.pods)}
    order = [number_of[pod.key] for pod in cluster.pods]
    movable = [
        index
        for index, number in enumerate(order)
        if (pod := load.cluster.pods[number]).node is not None
        and pod.is_movable
        and pod.workload not in load.cluster.frozen
    ]
    use = np.array([[100.0 * load.uses[number] for number in order]])
    capacity = columns.allocatable[:1].astype(float)
    nodes = columns.node_count
    observed = ObservedUse(("cpu",), capacity, use, np.zeros((1, nodes)), np.ones(nodes, dtype=np.bool_))
    limits = MoveLimits(max_evictions=load.cluster.max_evictions)
    question = PlanRequest(
        prediction=SchedulerModel(columns),
        placement=Placement(columns),
        eligibility=Eligibility(tuple(movable), {}, (), {}, (), limits),
        is_guided_by_holds=is_guided_by_holds,
        deadline_seconds=PLENTY,
        seed=seed,
        clock=FakeClock(),
    )
    return question, observed


@st.composite
def tiny_loads(draw: st.DrawFn, *, most_running: int = 6) -> TinyLoad:
    """Running pods only; most use about what they request, some much more or less."""
    cluster = draw(tiny_clusters(most_running=most_running, most_pending=1))
    running: list[TinyPod] = [pod for pod in cluster.pods if pod.node is not None]
    uses = [max(0, 10 * pod.cores + draw(st.integers(-9, 9))) for pod in running]
    return TinyLoad(replace(cluster, pods=tuple(running)), tuple(uses), draw(st.integers(4, 9)))
