"""Taints of ours that other runs left on nodes: those that ran out are removed, the others are waited for."""

from __future__ import annotations

from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.means import PREDICT
from rescheduler.execution.outcomes import Outcomes
from rescheduler.extension_points import ExecutionTarget
from rescheduler.model.leaving_taint import LEAVING, is_expired, plan_of

MOST_TOLD = 5


def remove_expired(fresh: FreshCluster, target: ExecutionTarget, guidance: str, outcomes: Outcomes) -> None:
    """Take taints off that nobody renews any more; where that may not be done they are told. Raises ClusterError."""
    now = fresh.now.taken_at
    nodes = [node for node, taint in fresh.taints.items() if is_expired(taint, now)]
    if not nodes:
        return
    reason = "guidance: Predict writes nothing but evictions" if guidance == PREDICT else target.can_taint()
    if reason is None:
        target.untaint(nodes)
        fresh.taints = {node: taint for node, taint in fresh.taints.items() if node not in nodes}
        return
    told = ", ".join(nodes[:MOST_TOLD]) + (f" and {len(nodes) - MOST_TOLD} more" if len(nodes) > MOST_TOLD else "")
    outcomes.warnings.append(
        f"an earlier run left its taint {LEAVING} on {told}, which keeps pods off; remove it with `rescheduler clean` "
        f"(not done here: {reason})"
    )


def standing_of_others(fresh: FreshCluster, plan_id: str) -> list[str]:
    """Taints of other plans that still hold, for people."""
    now = fresh.now.taken_at
    return [
        f"taint on {node} of plan {plan_of(taint)}"
        for node, taint in fresh.taints.items()
        if plan_of(taint) != plan_id and not is_expired(taint, now)
    ]
