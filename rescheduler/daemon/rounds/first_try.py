"""The first try: whether a few evictions make room for pods that have just become unschedulable, before a purchase."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rescheduler.costs.cheapest_node import cheapest_for
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import EMPTY_NODES, MAKE_ROOM, Plan, Refusal, SnapshotSummary
from rescheduler.policy.fields.policy import Objective, Policy

WINDOW_SECONDS: Final = 1.0
"""Karpenter buys for a pod when no further one has come for so long (BATCH_IDLE_DURATION): until then a nomination has
to stand, or a node may come besides."""
PLANNING_SECONDS: Final = 0.4
"""Of them for planning."""

NO_PLAN: Final = Plan(snapshot=SnapshotSummary(taken_at=None, nodes=0, pods=0, pending_pods=0, source=""))
"""Of a try that came to nothing before it was planned, which is no failure."""

PlanFirstTry = Callable[[Cluster, Ledger, Mapping[str, Wanted], frozenset[str]], Plan]
"""Proposes how to help some pods, by uid, and nobody else."""


def policy_of_try(policy: Policy) -> Policy:
    """The policy as a first try plans by it: room for pods, by few evictions, in little time."""
    makes_room = next((objective for objective in policy.objectives if objective.name == MAKE_ROOM), Objective())
    limits = policy.limits
    fewer = {
        "max_evictions": min(limits.max_evictions, policy.autoscaler.first_try_evictions),
        "deadline": min(limits.deadline, PLANNING_SECONDS),
    }
    alone = makes_room.model_copy(update={"weight": None, "move_cost": 0.0})
    return policy.model_copy(update={"objectives": (alone,), "limits": limits.model_copy(update=fewer)})


def cost_objection(plan: Plan, cluster: Cluster, policy: Policy) -> str | None:
    """Why the moves are not worth a node, where prices are known; None: they are."""
    pods = [cluster.pod_by_key[item.pod.key] for item in plan.placements]
    cheapest = cheapest_for(pods, cluster, policy)
    if cheapest is None:
        return None
    each = next((one.move_cost for one in policy.objectives if one.name == EMPTY_NODES), 0.0)
    cost = each * len(plan.moves) * (1 + policy.limits.margin)
    if cost < cheapest:
        return None
    currency = policy.prices.currency
    return f"{len(plan.moves)} moves cost {cost:.2f} {currency} a month (moveCost), a node {cheapest:.2f}: left to buy"


def refused_whole(verdicts: Sequence[Permit | Refusal]) -> str | None:
    """What refuses one of all moves of a plan at once; None: they may all go now."""
    refusal = next((one for one in verdicts if isinstance(one, Refusal)), None)
    return None if refusal is None else f"not all moves may be made now: {refusal.rule}: {refusal.message}"


def lateness(waited: float) -> str | None:
    """Why nothing is tried for a pod that may have waited for so many seconds; None: it is early enough."""
    if waited <= WINDOW_SECONDS:
        return None
    return f"found {waited:.1f}s after the pods became unschedulable, too late to be before an autoscaler"
