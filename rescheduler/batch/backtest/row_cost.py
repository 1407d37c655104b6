"""What the nodes of one time cost, as a row tells it."""

from __future__ import annotations

from typing import Any, Final

from msgspec import UnsetType

from rescheduler.costs.node_prices import node_prices
from rescheduler.costs.plan_cost import plan_cost
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.cost import Cost
from rescheduler.model.plan.plan import Plan, SnapshotSummary
from rescheduler.policy.fields.policy import Policy

NO_PLAN: Final = Plan(snapshot=SnapshotSummary(taken_at=None, nodes=0, pods=0, pending_pods=0, source=""))


def standing_cost(cluster: Cluster, policy: Policy) -> Cost | None:
    """What a cluster costs as it stands, ``after`` without the nodes that are empty; None: no node has a price."""
    prices = node_prices(policy, cluster)
    return None if prices is None else plan_cost(NO_PLAN, cluster, prices)


def cost_row(before: Cost | UnsetType | None, after: Cost | UnsetType | None) -> dict[str, Any] | None:
    """What a row tells: all nodes as they were, and what is left of them; None where no price is known."""
    if isinstance(before, Cost) and isinstance(after, Cost):
        return {"currency": before.currency, "before": before.before, "after": after.after}
    return None
