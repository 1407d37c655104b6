"""Terms by which pods attract or repel each other, resolved to the pods they select and the pods that hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rescheduler.model.columns.selection import Namespaces, Positions
from rescheduler.model.objects.constraints import LabelSelector, PodAffinityTerm
from rescheduler.model.objects.pod import PodSpec

if TYPE_CHECKING:
    from rescheduler.model.columns.columns import Columns


# A selector that picks more label sets than this is looked up one by one instead of being noted under each of them.
_MOST_NOTED = 256


class Group(NamedTuple):
    """Pods (indices, wherever they are) that a term selects, or that hold it, and the topology key of its domains.

    A pod that holds a term twice is there twice, as kube-scheduler counts each.
    """

    topology_key: str
    weight: int
    pods: Positions


class HeldTerms:
    """All pods' terms of one sort, found by the label set that they select."""

    def __init__(self, columns: Columns, terms_of: Callable[[PodSpec], Iterable[tuple[int, PodAffinityTerm]]]) -> None:
        """``terms_of`` names a spec's terms with their weights."""
        self._selection = columns.pod_selection
        self._entries = _merged(columns, terms_of)
        self._noted: dict[int, list[int]] = {}
        self._broad: list[int] = []
        for number, (namespaces, selector, _) in enumerate(self._entries):
            label_sets = self._selection.label_sets(namespaces, selector)
            if len(label_sets) > _MOST_NOTED:
                self._broad.append(number)
                continue
            for label_set in label_sets:
                self._noted.setdefault(int(label_set), []).append(number)
        self._known: dict[int, tuple[Group, ...]] = {}

    def about(self, label_set: int) -> tuple[Group, ...]:
        """Terms that select the pods of one label set."""
        found = self._known.get(label_set)
        if found is None:
            broad = [number for number in self._broad if self._selection.selects(*self._entries[number][:2], label_set)]
            numbers = sorted((*self._noted.get(label_set, ()), *broad))
            found = self._known[label_set] = tuple(self._entries[number][2] for number in numbers)
        return found

    def selects(self, label_set: int, pod: int) -> bool:
        """Whether a term of any pod but this one selects the label set."""
        return any(bool((term.pods != pod).any()) for term in self.about(label_set))


def _merged(
    columns: Columns, terms_of: Callable[[PodSpec], Iterable[tuple[int, PodAffinityTerm]]]
) -> list[tuple[Namespaces, LabelSelector, Group]]:
    """One entry for each distinct term, with all pods that hold it."""
    holders: dict[tuple[Namespaces, LabelSelector, str, int], list[Positions]] = {}
    for shape, spec in enumerate(columns.shapes):
        terms = list(terms_of(spec))
        if not terms:
            continue
        for namespace, pods in _by_namespace(columns, columns.pods_of_shape.members(shape)):
            for weight, term in terms:
                if term.selector is not None:
                    looked_at = columns.pod_selection.namespaces(term, namespace)
                    holders.setdefault((looked_at, term.selector, term.topology_key, weight), []).append(pods)
    return [
        (namespaces, selector, Group(key, weight, groups[0] if len(groups) == 1 else np.sort(np.concatenate(groups))))
        for (namespaces, selector, key, weight), groups in holders.items()
    ]


def _by_namespace(columns: Columns, pods: Positions) -> Iterable[tuple[str, Positions]]:
    found: dict[str, list[Positions]] = {}
    label_sets = columns.label_set_of[pods]
    if label_sets.min() == label_sets.max():  # replicas of one workload, as a rule
        return [(columns.label_sets[label_sets[0]][0], pods)]
    for label_set in np.unique(label_sets):
        found.setdefault(columns.label_sets[label_set][0], []).append(pods[label_sets == label_set])
    return [(namespace, np.concatenate(groups)) for namespace, groups in found.items()]


class OwnTerms(NamedTuple):
    """The terms of one pod.

    ``attractors``: pods that satisfy all required affinity terms together; ``affinity_keys``: those terms' topology
    keys; ``is_its_own_attractor``: the pod satisfies them itself.
    """

    affinity_keys: tuple[str, ...]
    attractors: Positions
    is_its_own_attractor: bool
    repelled_by: tuple[Group, ...]
    preferred: tuple[Group, ...]


class AffinityTerms:
    """Affinity between pods, resolved once for each shape and label set of one cluster."""

    def __init__(self, columns: Columns) -> None:
        """Gather the terms of all pods."""
        self._columns = columns
        self.anti_affinity = HeldTerms(columns, lambda spec: ((1, term) for term in spec.anti_affinity))
        self.affinity = HeldTerms(columns, lambda spec: ((1, term) for term in spec.affinity))
        self.preferred = HeldTerms(columns, _wishes)
        self._own: dict[tuple[int, int], OwnTerms] = {}

    def own(self, pod: int) -> OwnTerms:
        """The pod's own terms with the pods that they select."""
        key = (int(self._columns.shape_of[pod]), int(self._columns.label_set_of[pod]))
        found = self._own.get(key)
        if found is None:
            found = self._own[key] = self._resolve(*key)
        return found

    def _resolve(self, shape: int, label_set: int) -> OwnTerms:
        spec, namespace = self._columns.shapes[shape], self._columns.label_sets[label_set][0]
        selection = self._columns.pod_selection

        def selected(term: PodAffinityTerm) -> Positions:
            return selection.pods(selection.namespaces(term, namespace), term.selector)

        attractors = [selected(term) for term in spec.affinity]
        while len(attractors) > 1:
            attractors.append(np.intersect1d(attractors.pop(), attractors.pop(), assume_unique=True))
        return OwnTerms(
            affinity_keys=tuple(term.topology_key for term in spec.affinity),
            attractors=attractors[0] if attractors else np.zeros(0, dtype=np.int64),
            is_its_own_attractor=all(
                selection.selects(selection.namespaces(term, namespace), term.selector, label_set)
                for term in spec.affinity
            ),
            repelled_by=tuple(Group(term.topology_key, 1, selected(term)) for term in spec.anti_affinity),
            preferred=tuple(Group(term.topology_key, weight, selected(term)) for weight, term in _wishes(spec)),
        )


def _wishes(spec: PodSpec) -> Iterable[tuple[int, PodAffinityTerm]]:
    """Preferred terms, those against other pods with a negative weight."""
    for wish in spec.preferred_affinity:
        yield wish.weight, wish.term
    for wish in spec.preferred_anti_affinity:
        yield -wish.weight, wish.term
