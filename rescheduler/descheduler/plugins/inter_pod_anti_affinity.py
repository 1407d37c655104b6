"""Pods that stand beside pods which their own required anti-affinity keeps away."""

from __future__ import annotations

from rescheduler.descheduler.arguments import (
    PodArguments,
)
from rescheduler.descheduler.cycle import PluginTurn, Reply
from rescheduler.descheduler.fitting import term_selects
from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.pod import Pod


class InterPodAntiAffinityArguments(PodArguments):
    """Evict pods that stand beside pods that they must keep away from."""


def remove_repelled_pods(step: PluginTurn, arguments: InterPodAntiAffinityArguments) -> str:
    """Node by node the lowest pods first; a victim is in nobody's way any more, here alone."""
    selector = None if arguments.label_selector is None else arguments.label_selector.read()
    standing = {
        node.name: [
            pod
            for pod in step.pods_on(node)
            if arguments.namespaces.let_in(pod.namespace) and (selector is None or selects(selector, pod.labels))
        ]
        for node in step.nodes
    }
    for node in step.nodes:
        for pod in step.lowest_first(standing[node.name]):
            other = _neighbour(step, pod, standing)
            if other is None or not step.evictor.allows(pod):
                continue
            answer = step.evict(pod, f"its anti-affinity keeps it away from {other.key}")
            if answer is Reply.EVICTED:
                standing[node.name].remove(pod)
            elif answer is Reply.TOTAL_LIMIT:
                return ""
            elif answer is Reply.NODE_LIMIT:
                break
    return ""


def _neighbour(step: PluginTurn, pod: Pod, standing: dict[str, list[Pod]]) -> Pod | None:
    """A pod within the domain of a term that selects it."""
    labels = {node.name: node.labels for node in step.nodes}
    own = labels[pod.node_name or ""]
    for term in pod.spec.anti_affinity:
        for name, others in standing.items():
            value = own.get(term.topology_key)
            if name != pod.node_name and (value is None or labels[name].get(term.topology_key) != value):
                continue
            found = next((other for other in others if other is not pod and term_selects(term, pod, other)), None)
            if found is not None:
                return found
    return None
