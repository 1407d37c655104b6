"""Proves what is left of a plan on a fresh snapshot, and mends it: by other destinations, or without some moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

from msgspec import structs

from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.guidance.hold_maker import free_room, take
from rescheduler.execution.landing.departures import EvictedPod
from rescheduler.execution.landing.emptied import without_spoiled
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.run.leaving_out import LeavingOut
from rescheduler.execution.run.resuming import needs_no_room, rest_of, still_needed, what_has_changed
from rescheduler.execution.stopping import PlanOvertakenError, Waiter
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.resources import Resources
from rescheduler.model.plan.plan import Move, Plan

RECOUNT_SECONDS: Final = 5.0
"""After a wave the disruption controller is given this long to count replacements that are Ready."""
MOST_TOLD: Final = 3
ELIGIBILITY: Final = "Eligibility"
"""Rule of objections to pods that may not be moved now."""


class Objection(Protocol):
    """What speaks against a plan. ``rule``: of whom; ``pod``: key of the one without whose move it would not; None: it
    is not one pod's alone."""

    @property
    def rule(self) -> str:
        """Which rule speaks."""

    @property
    def message(self) -> str:
        """In words."""

    @property
    def pod(self) -> str | None:
        """Whose move it speaks against."""


Proof: TypeAlias = Callable[[Cluster, Plan], Sequence[Objection]]
"""What speaks against the rest of a plan on a snapshot."""


_NOTHING: Final[Sequence[Objection]] = ()


class Stray(NamedTuple):
    """A pod that landed on another node than it was expected on."""

    wanted: str
    landed: str
    requests: Resources


class RestProver:
    """Asks ``proof`` what speaks against the rest of one plan; ``leaving_out``: what it goes on without."""

    def __init__(
        self,
        plan: Plan,
        fresh: FreshCluster,
        proof: Proof,
        waiter: Waiter,
        outcomes: Outcomes,
        leaving_out: LeavingOut,
    ) -> None:
        self._plan = plan
        self._fresh = fresh
        self._proof = proof
        self._waiter = waiter
        self._outcomes = outcomes
        self._leaving_out = leaving_out

    def look_again(self, rest: Plan, strays: Sequence[Stray] = ()) -> Plan:
        """Take a fresh snapshot and prove what is left of the plan on it; counts that lag behind may catch up.

        Where strays are in the way, the answer leads others to the places these left free; moves that do not hold any
        more are left out, and the others go on. Raises PlanOvertakenError where something else speaks against them.
        """
        left, found = rest, _NOTHING
        for _ in self._waiter.polls(RECOUNT_SECONDS):
            rest = self._without_changed(rest, self._fresh.read())
            left, found = self._with_fewest(self._still_needed(rest, self._fresh.now), strays)
            if not any(map(may_pass, found)):
                break
        while found:
            why = {one.pod: one.message for one in reversed(found)}
            out = [(move, why[move.pod.key]) for move in left.moves if move.pod.key in why]
            if len(out) in (0, len(left.moves)):
                raise overtaken(found)
            left = self._still_needed(self._leaving_out.without(left, out), self._fresh.now)
            found = self._proof(self._fresh.now, left)
        return left

    def _with_fewest(self, left: Plan, strays: Sequence[Stray]) -> tuple[Plan, Sequence[Objection]]:
        """The rest, or with places exchanged, and what speaks against it: the one that less does."""
        found = self._proof(self._fresh.now, left)
        if found and strays:
            other = exchanged(left, strays, self._fresh.now)
            against_other = self._proof(self._fresh.now, other)
            if len(against_other) < len(found):
                return other, against_other
        return left, found

    def prove(self, rest: Plan) -> None:
        """Raises PlanOvertakenError if anything speaks against the rest on the newest snapshot."""
        found = self._proof(self._fresh.now, rest)
        if found:
            raise overtaken(found)

    def _still_needed(self, rest: Plan, cluster: Cluster) -> Plan:
        moves, placements = still_needed(self._plan, rest.moves, rest.placements, cluster, self._outcomes)
        moves = without_spoiled(moves, self._leaving_out.promised_empty, cluster, self._outcomes)
        return rest_of(rest, moves, placements)

    def _without_changed(self, rest: Plan, cluster: Cluster) -> Plan:
        """Without moves and pending pods that are not as they were, unless that is all of the moves."""
        changed = [(move, why) for move in rest.moves if (why := what_has_changed(move, cluster)) is not None]
        gone = [item for item in rest.placements if needs_no_room(item, cluster)]
        if not (changed or gone) or (changed and len(changed) == len(rest.moves)):
            return rest
        return self._leaving_out.without(rest, changed, gone)


def may_pass(objection: Objection) -> bool:
    """Whether counts that lag behind may be the reason; that a node has no room, say, is none."""
    return objection.pod is None or objection.rule == ELIGIBILITY


def overtaken(found: Sequence[Objection]) -> PlanOvertakenError:
    """What stops a plan that does not hold any more."""
    more = f" (and {len(found) - MOST_TOLD} more)" if len(found) > MOST_TOLD else ""
    told = "; ".join(one.message for one in found[:MOST_TOLD])
    return PlanOvertakenError(f"the plan does not hold in the cluster as it is now: {told}{more}; plan again")


def strays_of(departures: Iterable[EvictedPod]) -> list[Stray]:
    """Those of the replacements that landed where they were not expected."""
    return [
        Stray(item.move.to_node, item.landed_on, item.pod.spec.requests)
        for item in departures
        if item.landed_on not in (None, item.move.to_node)
    ]


def is_harmless(
    departure: EvictedPod, wave: Iterable[Move], departures: Sequence[EvictedPod], cluster: Cluster
) -> bool:
    """Whether everybody of the wave who is expected on the node where this pod landed still finds room there.

    Only for pods that stand in nobody's way but by their requests. ``cluster``: read before the wave, or amid it.
    """
    node = departure.landed_on
    spec = departure.pod.spec
    if node is None or node not in cluster.node_by_name or node == departure.move.from_node:
        return False
    if spec.affinity or spec.anti_affinity or spec.topology_spread or spec.host_ports:
        return False
    room = free_room(cluster, node)
    for move in wave:
        if move.to_node == node and move.pod.key in cluster.pod_by_key:
            take(room, cluster.pod_by_key[move.pod.key].spec.requests)
    for other in departures:
        if other.landed_on == node != other.move.to_node:
            take(room, other.pod.spec.requests)
    return all(amount >= 0 for amount in room.values())


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
