"""Where the replacements of victims come to stand: one after the other, each as kube-scheduler would place it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from msgspec import structs

from rescheduler.descheduler.cycle import Chosen
from rescheduler.extension_points import Rejection
from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Landing
from rescheduler.scheduling.schedulers import Schedulers

_SUFFIX = "-replacement"
_LEAVING = "-leaving"


class Landed(NamedTuple):
    """``node``: where the replacement stands; ``text``: why there, in words."""

    landing: Landing
    node: str | None
    text: str


def foretell(cluster: Cluster, victims: Sequence[Chosen], schedulers: Schedulers) -> list[Landed]:
    """What becomes of each victim that the API server lets go, in order.

    The leaving pod still holds its room, but a StatefulSet's is gone first; earlier replacements have landed. Spread
    constraints do not count pods that are terminating (kube-scheduler's PodTopologySpread).
    """
    twins = {victim.pod.key: _twin(victim.pod) for victim in victims if _is_replaced(victim.pod)}
    leaving = {victim.pod.key: _leaving(victim.pod, cluster) for victim in victims if not _leaves_first(victim.pod)}
    pods = sorted((*cluster.pods, *twins.values(), *leaving.values()), key=lambda pod: (pod.namespace, pod.name))
    model = schedulers.model(replace(cluster, pods=tuple(pods)))
    columns, placement = model.columns, Placement(model.columns)
    found = []
    for victim in victims:
        node, twin = placement.node_of[old := columns.pod_index[victim.pod.key]], twins.get(victim.pod.key)
        if node != NOWHERE:
            placement.forget(old)
            if ghost := leaving.get(victim.pod.key):
                placement.assume(columns.pod_index[ghost.key], int(node))
        if twin is None:
            found.append(Landed(Landing.NO_REPLACEMENT, None, "nobody makes it again"))
            continue
        index = columns.pod_index[twin.key]
        best = model.best_nodes(index, placement)
        if not len(best):
            reasons = ", ".join(_reasons(model.refusals(index, placement)))
            found.append(Landed(Landing.PENDING, None, f"its replacement waits: {reasons or 'no node takes it'}"))
            continue
        # On a tie the scheduler draws lots; the first by name stands for them.
        placement.assume(index, int(best[0]))
        found.append(_landed(victim.pod, [cluster.nodes[int(node)].name for node in best]))
    return found


def _landed(pod: Pod, names: Sequence[str]) -> Landed:
    tie = f", one of {len(names)} nodes that tie for the highest score" if len(names) > 1 else ""
    if names[0] == pod.node_name:
        return Landed(Landing.SAME_NODE, names[0], f"comes back to its own node, which scores best{tie}")
    return Landed(Landing.OTHER_NODE, names[0], f"goes to {names[0]}{tie}")


def _reasons(rejections: Sequence[Rejection]) -> list[str]:
    counts = [(int(rejection.nodes.sum()), rejection.reason) for rejection in rejections]
    return [f"{count} {reason}" for count, reason in counts if count]


def _is_replaced(pod: Pod) -> bool:
    controller = pod.controller
    return controller is not None and controller.kind != "Job" and not pod.is_finished


def _leaves_first(pod: Pod) -> bool:
    """A StatefulSet makes no pod of a name while the old one is there."""
    return pod.controller is not None and pod.controller.kind == "StatefulSet"


def _leaving(pod: Pod, cluster: Cluster) -> Pod:
    """The pod once it is evicted: terminating, which a cluster's columns know of whole pods only."""
    return structs.replace(
        pod, name=f"{pod.name}{_LEAVING}", uid=f"{pod.uid}{_LEAVING}", node_name=None, deletion_at=cluster.taken_at
    )


def _twin(pod: Pod) -> Pod:
    """The pod that its controller makes in its place."""
    return structs.replace(
        pod,
        name=f"{pod.name}{_SUFFIX}",
        uid=f"{pod.uid}{_SUFFIX}",
        node_name=None,
        nominated_node=None,
        phase="Pending",
        is_ready=False,
        held=None,
        trouble="",
        started_at=None,
        scheduled_at=None,
        ready_at=None,
        deletion_at=None,
    )
