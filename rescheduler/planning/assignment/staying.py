"""Why a pod stays where it is although it stands in somebody's way, in words."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from rescheduler.model.plan.disruption import DisruptionGroup
from rescheduler.model.plan.plan import Refusal, reference_to
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import remaining_limits
from rescheduler.planning.waves.arrivals import Arrivals

MOST_REASONS = 4
NO_NODE = "NoBetterNode"


class Staying:
    """Asked about pods once the moves of a plan are known."""

    def __init__(self, request: PlanRequest, problem: Problem, schedule: WaveSchedule) -> None:
        """Nothing is looked up before it is asked for."""
        self._question = request
        self._problem = problem
        self._moved = {pod for wave in schedule.waves for pod, _ in wave}
        self._limits = remaining_limits(request.eligibility.limits, request.placement)
        self._arrivals: Arrivals | None = None
        self._schedule = schedule

    def why(self, pod: int) -> Refusal:
        """What keeps a pod (index) from leaving its node."""
        return self._barred(pod) or self._limited(pod) or self._nowhere(pod)

    def _barred(self, pod: int) -> Refusal | None:
        eligibility = self._question.eligibility
        if pod in eligibility.refusals:
            return eligibility.refusals[pod]
        key = self._key(pod)
        if pod in self._moved:
            return self._refusal(pod, "MovedAlready", f"{key} comes there by this plan, and a pod moves once only")
        group = self._exhausted.get(pod)
        if group is not None:
            words = f"{key} belongs to {group.rule} {group.name}, which allows no disruption now"
            return self._refusal(pod, group.rule, words)
        initial = self._problem.columns.initial_node_of[pod]
        if self._question.placement.node_of[pod] != initial:
            words = f"{key} comes there by an earlier objective of this plan"
            return self._refusal(pod, "MovedAlready", words)
        if self._problem.columns.is_terminating[pod] or pod not in eligibility.movable:
            return self._refusal(pod, "Eligibility", f"{key} may not be moved")
        return None

    def _limited(self, pod: int) -> Refusal | None:
        limits, cluster = self._limits, self._problem.columns.cluster
        node = int(self._question.placement.node_of[pod])
        namespace = cluster.pods[pod].namespace
        moved = sorted(self._moved)
        in_all, of_node, of_namespace = limits.names
        left = (
            (in_all, limits.in_all - len(moved)),
            (
                of_node,
                int(limits.of_node[node]) - sum(self._question.placement.node_of[other] == node for other in moved),
            ),
            (
                of_namespace,
                limits.of(namespace) - sum(cluster.pods[other].namespace == namespace for other in moved),
            ),
        )
        for name, number in left:
            if number <= 0:
                return self._refusal(pod, "Limits", f"{name} allows no more evictions")
        return None

    def _nowhere(self, pod: int) -> Refusal:
        if self._arrivals is None:
            self._arrivals = Arrivals(self._problem)
            for wave in self._schedule.waves:
                for other, node in wave:
                    self._arrivals.placement.move(other, node)
                self._arrivals.placement.settle()
        nodes = self._arrivals.open_nodes(pod).copy()
        nodes[self._question.placement.node_of[pod]] = False
        number = int(nodes.sum())
        if not number:
            return self._refusal(pod, NO_NODE, f"no other node takes {self._key(pod)}")
        where = "the only other node that takes it" if number == 1 else f"any of the {number} other nodes that take it"
        return self._refusal(pod, NO_NODE, f"{self._key(pod)} would be no better placed on {where}")

    @cached_property
    def _exhausted(self) -> dict[int, DisruptionGroup]:
        groups = [group for group in self._question.eligibility.groups if group.allowed_per_wave <= 0]
        return {pod: group for group in groups for pod in group.pods}

    def _key(self, pod: int) -> str:
        return self._problem.columns.cluster.pods[pod].key

    def _refusal(self, pod: int, rule: str, message: str) -> Refusal:
        return Refusal(rule, message, pod=reference_to(self._problem.columns.cluster.pods[pod]))


def because(refusals: Iterable[Refusal]) -> str:
    """Some of the reasons, each once, for the end of a sentence."""
    reasons = list(dict.fromkeys(refusal.message for refusal in refusals))
    more = [f"and {len(reasons) - MOST_REASONS} more reasons"] if len(reasons) > MOST_REASONS + 1 else []
    shown = reasons[:MOST_REASONS] if more else reasons
    return "; because " + "; ".join([*shown, *more]) if reasons else ""
