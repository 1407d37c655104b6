"""What a node itself says: usable, ready, schedulable, its taints and labels."""

from __future__ import annotations

from rescheduler.checker.selectors import any_term_matches
from rescheduler.checker.wave_arrivals import Others
from rescheduler.checker.world import Arrival, World
from rescheduler.model.objects.constraints import Taint, Toleration
from rescheduler.model.objects.node import Node, node_mark
from rescheduler.model.objects.pod import PodSpec

_UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable")


def usable(arrival: Arrival, others: Others, world: World) -> str | None:  # noqa: ARG001
    """Virtual nodes, nodes that go or are still starting, and nodes that could be read only in part, are no targets."""
    if arrival.node.problem is not None:
        return f"the node cannot be used: {arrival.node.problem}"
    mark = node_mark(arrival.node)
    if mark is not None:
        return f"this is a node that {mark}"
    return "the node is virtual (type=virtual-kubelet)" if arrival.node.is_virtual else None


def ready(arrival: Arrival, others: Others, world: World) -> str | None:  # noqa: ARG001
    """Kubernetes taints nodes that are not ready; we do not wait for the taint."""
    return None if arrival.node.is_ready else "the node is not ready"


def schedulable(arrival: Arrival, others: Others, world: World) -> str | None:  # noqa: ARG001
    """A cordoned node takes only pods that tolerate it."""
    if arrival.node.is_unschedulable and not is_tolerated(_UNSCHEDULABLE, arrival.pod.spec):
        return "the node is unschedulable"
    return None


def taints(arrival: Arrival, others: Others, world: World) -> str | None:  # noqa: ARG001
    """Every taint that keeps pods off must be tolerated."""
    taint = hostile_taint(arrival.node, arrival.pod.spec)
    return f"the taint {taint.key}={taint.value}:{taint.effect} is not tolerated" if taint else None


def affinity(arrival: Arrival, others: Others, world: World) -> str | None:  # noqa: ARG001
    """Node selector and required node affinity."""
    if matches_node(arrival.pod.spec, arrival.node):
        return None
    return "the node does not match the pod's node affinity or selector"


def matches_node(spec: PodSpec, node: Node) -> bool:
    """True if the labels and the name of the node suit the pod."""
    if any(node.labels.get(key) != value for key, value in spec.node_selector):
        return False
    required = None if spec.node_affinity is None else spec.node_affinity.required
    return required is None or any_term_matches(required, node)


def hostile_taint(node: Node, spec: PodSpec) -> Taint | None:
    """The first NoSchedule or NoExecute taint that the pod does not tolerate."""
    for taint in node.taints:
        if taint.effect in ("NoSchedule", "NoExecute") and not is_tolerated(taint, spec):
            return taint
    return None


def is_tolerated(taint: Taint, spec: PodSpec) -> bool:
    """True if one of the pod's tolerations covers the taint."""
    return any(_covers(toleration, taint) for toleration in spec.tolerations)


def _covers(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in ("", "Equal") and toleration.value == taint.value
