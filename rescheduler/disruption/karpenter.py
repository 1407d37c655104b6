"""Beside Karpenter: which nodes it consolidates itself, and where our taints would make it buy machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import EMPTY_NODES
from rescheduler.policy.fields.daemon.autoscaler import BuyingTaints, Consolidation, ScaleDown
from rescheduler.policy.fields.policy import Guidance, Policy


def left_to_karpenter(cluster: Cluster, policy: Policy) -> Mapping[str, str]:
    """Nodes that ``run`` neither empties nor fills to empty others, with the reason as a sentence's end."""
    if policy.autoscaler.consolidation is Consolidation.OURS:
        return {}
    found = {}
    for node in cluster.nodes:
        pool = cluster.pool_of(node)
        if pool is not None and pool.consolidates:
            found[node.name] = (
                f"Karpenter consolidates NodePool {pool.name} itself ({pool.policy}; policy: autoscaler.consolidation)"
            )
    return found


def karpenter_warnings(cluster: Cluster, policy: Policy, *, is_daemon: bool) -> Iterator[str]:
    """What both would do at once, and what would buy machines; ``run`` is told by refusals and reasons instead."""
    if is_daemon or not cluster.node_pools:
        return
    if policy.has_objective(EMPTY_NODES):
        left = left_to_karpenter(cluster, policy)
        if left:
            example, reason = next(iter(left.items()))
            yield f"run would leave {len(left)} nodes out of {EMPTY_NODES}: {example}: {reason}"
    objection = taints_objection(cluster, policy)
    if objection is not None:
        yield f"apply and run refuse this: {objection}"


def taints_objection(cluster: Cluster, policy: Policy) -> str | None:
    """Why nodes must not be closed by taints here; None: they may, or the policy does not want it."""
    if not cluster.node_pools or policy.autoscaler.taints is BuyingTaints.ALLOW:
        return None
    wanted = [
        name
        for name, is_wanted in (
            ("guidance: Taint", policy.guidance is Guidance.TAINT),
            ("autoscaler.scaleDown: Taint", policy.autoscaler.scale_down is ScaleDown.TAINT),
        )
        if is_wanted
    ]
    if not wanted:
        return None
    return (
        f"{' and '.join(wanted)}: Karpenter has NodePools here, and buys a node for each pod that our taint turns "
        "away; Hold in their place closes nodes without, and autoscaler.taints: Allow goes on all the same"
    )
