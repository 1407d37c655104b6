"""Required anti-affinity as classes of pods that keep apart within the domains of one topology key."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IndexArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.fault_domains.part import Blame, Part
from rescheduler.planning.objectives.separate_antagonists.conflicts import Apart, Foes


class Repulsion(Part):
    """Pairs of pods in one domain of a topology key, of which one's required anti-affinity repels the other."""

    def __init__(self, topology_key: str, apart: Apart) -> None:
        """``apart``: classes of these pods over the domains of the key."""
        self.topology_key = topology_key
        self.apart = apart

    @property
    def cost(self) -> int:  # type: ignore[override]
        """See Part."""
        return self.apart.pairs

    def change(self, pod: int) -> FloatArray:
        """See Part."""
        return self.apart.change(pod)

    def move(self, pod: int, node: int) -> None:
        """See Part."""
        self.apart.move(pod, node)

    def blame(self) -> Blame:
        """See Part."""
        pods = np.flatnonzero(self.apart.here)
        return Blame(pods, self.apart.here[pods])

    def hopes(self) -> Blame:
        """See Part."""
        return self.blame()

    def concerns(self) -> IntArray | None:
        """See Part."""
        return np.flatnonzero(self.apart.foes.class_of != NOWHERE)

    def copy(self) -> Repulsion:
        """See Part."""
        return Repulsion(self.topology_key, self.apart.copy())

    def describe(self) -> str:
        """See Part."""
        return f"anti-affinity within {self.topology_key}"


def repulsions_of(columns: Columns, node_of: IndexArray, is_standing: BoolArray) -> list[Repulsion]:
    """One part for each topology key of required anti-affinity."""
    relations = _relations(columns, np.flatnonzero(is_standing))
    found = []
    for topology_key in sorted(relations):
        foes = _foes(columns, relations[topology_key], is_standing)
        codes, _ = columns.domains.of(topology_key)
        found.append(Repulsion(topology_key, Apart(foes, node_of, codes)))
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


def _foes(columns: Columns, relations: set[tuple[Kind, int]], is_standing: BoolArray) -> Foes:
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
    return Foes(class_of, tuple(np.array(sorted(some), dtype=np.int64) for some in rivals))
