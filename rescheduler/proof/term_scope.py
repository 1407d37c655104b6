"""Which pods an affinity term selects."""

from __future__ import annotations

from rescheduler.model.constraints import PodAffinityTerm
from rescheduler.model.pod import Pod
from rescheduler.proof.selecting import label_selector_matches
from rescheduler.proof.world import World


def picks(term: PodAffinityTerm, own: str, pod: Pod, world: World) -> bool:
    """Whether a term of a pod in namespace ``own`` selects a pod."""
    return label_selector_matches(term.selector, pod.labels) and looks_into(term, own, pod.namespace, world)


def looks_into(term: PodAffinityTerm, own: str, namespace: str, world: World) -> bool:
    """Whether a term of a pod in namespace ``own`` looks into a namespace; without any named, into its own alone."""
    if not term.namespaces and term.namespace_selector is None:
        return namespace == own
    labels = world.namespace_labels(namespace)
    return namespace in term.namespaces or label_selector_matches(term.namespace_selector, labels)
