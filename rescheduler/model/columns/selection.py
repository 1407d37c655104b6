"""Which pods a selector picks: namespaces and label selectors resolved to label sets and pods, once for each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rescheduler.model.columns.arrays import IndexArray, IntArray
from rescheduler.model.columns.selectors import LabelColumn, LabelTable, holds
from rescheduler.model.objects.constraints import LabelSelector, PodAffinityTerm, Requirement

if TYPE_CHECKING:
    from rescheduler.model.columns.columns import Columns


Namespaces: TypeAlias = frozenset[str] | None
"""Names of namespaces; None: all."""
Positions: TypeAlias = IntArray

NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name"
_NOTHING: Positions = np.zeros(0, dtype=np.int64)
_MANY_LABEL_SETS = 64


class Grouping:
    """Numbers 0..n-1 in groups, so that the members of a group are one slice."""

    def __init__(self, group_of: IndexArray, count: int) -> None:
        """``group_of``: int32[n], each from 0 to ``count`` - 1."""
        self._order = np.argsort(group_of, kind="stable")
        self._starts = np.searchsorted(group_of[self._order], np.arange(count + 1))

    def members(self, group: int) -> Positions:
        """Members of one group, ascending."""
        return self._order[self._starts[group] : self._starts[group + 1]]


class PodSelection:
    """Label selectors resolved against the pods of one cluster; answers are kept and must not be written to."""

    def __init__(self, columns: Columns) -> None:
        """Nothing is matched before it is asked for."""
        self._columns = columns
        self._labels = LabelTable([labels for _, labels in columns.label_sets])
        self._namespace = LabelColumn([namespace for namespace, _ in columns.label_sets])
        self._pods_of = Grouping(columns.label_set_of, len(columns.label_sets))
        self._namespace_labels = _labels_of_namespaces(columns)
        self._label_sets: dict[tuple[Namespaces, LabelSelector], Positions] = {}
        self._pods: dict[tuple[Namespaces, LabelSelector], Positions] = {}
        self._selected_namespaces: dict[LabelSelector, frozenset[str]] = {}

    def namespaces(self, term: PodAffinityTerm, own: str) -> Namespaces:
        """Namespaces that a term of a pod in namespace ``own`` looks at."""
        if term.namespace_selector is None:
            return frozenset(term.namespaces or (own,))
        if not term.namespace_selector.requirements:
            return None
        return self._namespaces_selected(term.namespace_selector) | frozenset(term.namespaces)

    def label_sets(self, namespaces: Namespaces, selector: LabelSelector | None) -> Positions:
        """Label sets that a selector picks in these namespaces, ascending; none for an absent selector."""
        if selector is None:
            return _NOTHING
        key = (namespaces, selector)
        found = self._label_sets.get(key)
        if found is None:
            among = None if namespaces is None else self._namespace.positions(namespaces)
            found = self._label_sets[key] = self._labels.positions(selector.requirements, among)
        return found

    def pods(self, namespaces: Namespaces, selector: LabelSelector | None) -> Positions:
        """Pods that a selector picks in these namespaces, wherever they are, ascending."""
        if selector is None:
            return _NOTHING
        key = (namespaces, selector)
        found = self._pods.get(key)
        if found is None:
            found = self._pods[key] = self._pods_with(self.label_sets(namespaces, selector))
        return found

    def selects(self, namespaces: Namespaces, selector: LabelSelector | None, label_set: int) -> bool:
        """Whether a selector picks the pods of one label set."""
        if selector is None:
            return False
        namespace, labels = self._columns.label_sets[label_set]
        if namespaces is not None and namespace not in namespaces:
            return False
        return all(holds(requirement, labels.get(requirement.key)) for requirement in selector.requirements)

    def _pods_with(self, label_sets: Positions) -> Positions:
        if len(label_sets) > _MANY_LABEL_SETS:
            mask = np.zeros(len(self._labels), dtype=np.bool_)
            mask[label_sets] = True
            return np.flatnonzero(mask[self._columns.label_set_of])
        slices = [self._pods_of.members(int(number)) for number in label_sets]
        return np.sort(np.concatenate(slices)) if slices else _NOTHING

    def _namespaces_selected(self, selector: LabelSelector) -> frozenset[str]:
        found = self._selected_namespaces.get(selector)
        if found is None:
            found = self._selected_namespaces[selector] = frozenset(
                name for name, labels in self._namespace_labels.items() if _all_hold(selector.requirements, labels)
            )
        return found


def _all_hold(requirements: Sequence[Requirement], labels: Mapping[str, str]) -> bool:
    return all(holds(requirement, labels.get(requirement.key)) for requirement in requirements)


def _labels_of_namespaces(columns: Columns) -> dict[str, Mapping[str, str]]:
    """Labels of every namespace; one that the snapshot does not hold still has the label of its own name."""
    known = columns.cluster.namespace_labels
    names = {namespace for namespace, _ in columns.label_sets} | set(known)
    return {name: {NAMESPACE_NAME_LABEL: name, **known.get(name, {})} for name in sorted(names)}
