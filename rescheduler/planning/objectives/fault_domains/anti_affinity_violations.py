"""Required anti-affinity as classes of pods that keep apart within the domains of one topology key."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IndexArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.fault_domains.part import Blame, ViolationCounter
from rescheduler.planning.objectives.separate_antagonists.conflicts import ConflictClasses, ConflictCounts


class AntiAffinityViolations(ViolationCounter):
    """Pairs of pods in one domain of a topology key, of which one's required anti-affinity repels the other."""

    def __init__(self, topology_key: str, conflicts: ConflictCounts) -> None:
        """``conflicts``: classes of these pods over the domains of the key."""
        self.topology_key = topology_key
        self.conflicts = conflicts

    @property
    def cost(self) -> int:  # type: ignore[override]
        """See ViolationCounter."""
        return self.conflicts.pairs

    def change(self, pod: int) -> FloatArray:
        """See ViolationCounter."""
        return self.conflicts.change(pod)

    def move(self, pod: int, node: int) -> None:
        """See ViolationCounter."""
        self.conflicts.move(pod, node)

    def blame(self) -> Blame:
        """See ViolationCounter."""
        pods = np.flatnonzero(self.conflicts.here)
        return Blame(pods, self.conflicts.here[pods])

    def hopes(self) -> Blame:
        """See ViolationCounter."""
        return self.blame()

    def concerns(self) -> IntArray | None:
        """See ViolationCounter."""
        return np.flatnonzero(self.conflicts.conflicts.class_of != NOWHERE)

    def copy(self) -> AntiAffinityViolations:
        """See ViolationCounter."""
        return AntiAffinityViolations(self.topology_key, self.conflicts.copy())

    def describe(self) -> str:
        """See ViolationCounter."""
        return f"anti-affinity within {self.topology_key}"


def repulsions_of(columns: Columns, node_of: IndexArray, is_standing: BoolArray) -> list[AntiAffinityViolations]:
    """One part for each topology key of required anti-affinity."""
    relations = _relations(columns, np.flatnonzero(is_standing))
    found = []
    for topology_key in sorted(relations):
        conflicts = _classes_in_conflict(columns, relations[topology_key], is_standing)
        codes, _ = columns.domains.of(topology_key)
        found.append(AntiAffinityViolations(topology_key, ConflictCounts(conflicts, node_of, codes)))
    return found


Kind = tuple[int, int]
"""Shape and label set."""


def _relations(columns: Columns, pods: IntArray) -> dict[str, set[tuple[Kind, int]]]:
    """By topology key: kinds of placed pods that hold a term, each with a label set that the term selects."""
    kinds = np.unique(np.column_stack([columns.shape_of[pods], columns.label_set_of[pods]]), axis=0)
    found: dict[str, set[tuple[Kind, int]]] = defaultdict(set)
    for shape, label_set in kinds.tolist():
        namespace = columns.label_sets[label_set][0]
        for term in columns.shapes[shape].anti_affinity:
            selected = columns.pod_selection.label_sets(
                columns.pod_selection.namespaces(term, namespace), term.selector
            )
            found[term.topology_key].update(((shape, label_set), other) for other in selected.tolist())
    return found


def _classes_in_conflict(columns: Columns, relations: set[tuple[Kind, int]], is_standing: BoolArray) -> ConflictClasses:
    """Classes: kinds that hold a term of this key, and label sets of other pods that are selected."""
    holders = {kind for kind, _ in relations}
    selected = {label_set for _, label_set in relations}
    class_of = np.full(columns.pod_count, NOWHERE, dtype=np.int64)
    numbers: dict[tuple[int, int], int] = {}
    of_label_set: dict[int, set[int]] = defaultdict(set)
    labels = np.array(sorted(selected | {label_set for _, label_set in holders}), dtype=np.int64)
    for pod in np.flatnonzero(is_standing & np.isin(columns.label_set_of, labels)).tolist():
        kind = (int(columns.shape_of[pod]), int(columns.label_set_of[pod]))
        if kind not in holders:
            kind = (NOWHERE, kind[1])
        if kind in holders or kind[1] in selected:
            class_of[pod] = numbers.setdefault(kind, len(numbers))
            of_label_set[kind[1]].add(class_of[pod])
    rivals: list[set[int]] = [set() for _ in numbers]
    for kind, label_set in relations:
        mine = numbers[kind]
        for other in of_label_set.get(label_set, ()):
            rivals[mine].add(int(other))
            rivals[other].add(mine)
    return ConflictClasses(class_of, tuple(np.array(sorted(some), dtype=np.int64) for some in rivals))
