"""Proves what is left of a plan on a fresh snapshot, and mends it where pods that landed elsewhere are in its way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from msgspec import structs

from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.landing.departures import EvictedPod
from rescheduler.execution.landing.emptied import without_spoiled
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.run.resuming import rest_of, still_needed
from rescheduler.execution.stopping import PlanOvertakenError, Waiter
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.resources import Resources
from rescheduler.model.plan.plan import Plan

RECOUNT_SECONDS: Final = 5.0
"""After a wave the disruption controller is given this long to count replacements that are Ready."""
MOST_TOLD: Final = 3


class Stray(NamedTuple):
    """A pod that landed on another node than it was expected on."""

    wanted: str
    landed: str
    requests: Resources


class RestProver:
    """Asks ``proof`` what speaks against the rest of one plan."""

    def __init__(
        self,
        plan: Plan,
        fresh: FreshCluster,
        proof: Callable[[Cluster, Plan], Sequence[str]],
        waiter: Waiter,
        outcomes: Outcomes,
    ) -> None:
        self.promised_empty: Sequence[str] = ()
        self._plan = plan
        self._fresh = fresh
        self._proof = proof
        self._waiter = waiter
        self._outcomes = outcomes

    def look_again(self, rest: Plan, strays: Sequence[Stray] = ()) -> Plan:
        """Take a fresh snapshot and prove what is left of the plan on it; counts that lag behind may catch up.

        Raises PlanOvertakenError. Where strays are in the way, the answer leads others to the places these left free.
        """
        left = rest
        for _ in self._waiter.polls(RECOUNT_SECONDS):
            left = self._still_needed(rest, self._fresh.read())
            for candidate in (left, exchanged(left, strays, self._fresh.now)) if strays else (left,):
                if not self._proof(self._fresh.now, candidate):
                    return candidate
        self.prove(left)
        return left

    def prove(self, rest: Plan) -> None:
        """Raises PlanOvertakenError if anything speaks against the rest on the newest snapshot."""
        objections = self._proof(self._fresh.now, rest)
        if objections:
            more = f" (and {len(objections) - MOST_TOLD} more)" if len(objections) > MOST_TOLD else ""
            told = "; ".join(objections[:MOST_TOLD])
            raise PlanOvertakenError(f"the plan does not hold in the cluster as it is now: {told}{more}; plan again")

    def _still_needed(self, rest: Plan, cluster: Cluster) -> Plan:
        moves, placements = still_needed(self._plan, rest.moves, rest.placements, cluster, self._outcomes)
        moves = without_spoiled(moves, self.promised_empty, cluster, self._outcomes)
        return rest_of(rest, moves, placements)


def strays_of(departures: Iterable[EvictedPod]) -> list[Stray]:
    """Those of the replacements that landed where they were not expected."""
    return [
        Stray(item.move.to_node, item.landed_on, item.pod.spec.requests)
        for item in departures
        if item.landed_on not in (None, item.move.to_node)
    ]


def exchanged(rest: Plan, strays: Iterable[Stray], cluster: Cluster) -> Plan:
    """The rest of a plan with each stray's place given to a pod whose own place the stray has taken.

    To one that asks for as much, if there is one; whether it may go there is for the proof to say.
    """
    moves = list(rest.moves)
    for stray in strays:
        displaced = [
            (cluster.pod_by_key[move.pod.key].spec.requests != stray.requests, number)
            for number, move in enumerate(moves)
            if move.to_node == stray.landed and move.from_node != stray.wanted
        ]
        if displaced:
            _, number = min(displaced)
            moves[number] = structs.replace(moves[number], to_node=stray.wanted)
    return structs.replace(rest, moves=tuple(moves))
