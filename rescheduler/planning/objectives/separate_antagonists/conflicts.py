"""Who keeps apart from whom: pods in classes, and classes that are rivals."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IndexArray, IntArray
from rescheduler.model.columns.selection import Grouping
from rescheduler.model.usage.usage import FloatArray


@dataclass(frozen=True, eq=False)
class ConflictClasses:
    """Pods (P) in classes (C), all pods of a class having the same conflicts.

    ``class_of``: int64[P], NOWHERE for a pod without conflicts. ``rivals``: for each class the classes whose pods are
    in conflict with its own, ascending; the class itself is among them where its pods keep apart from each other.
    Rivalry is mutual.
    """

    class_of: IntArray
    rivals: tuple[IntArray, ...]

    def pods_of(self, number: int) -> IntArray:
        """Pods of one class, ascending."""
        return self._members[self._grouping.members(number)]

    def is_rival(self, number: int) -> BoolArray:
        """Rivals of a class, bool[C + 1]; the last entry stands for pods of no class."""
        mask = np.zeros(len(self.rivals) + 1, dtype=np.bool_)
        mask[self.rivals[number]] = True
        return mask

    def keeps_apart(self, number: int) -> bool:
        """Whether the pods of a class are in conflict with each other."""
        return bool((self.rivals[number] == number).any())

    @cached_property
    def is_apart_alone(self) -> BoolArray:
        """Classes whose pods are in conflict with each other and with nobody else, bool[C]."""
        own = ((len(rivals) == 1 and rivals[0] == number) for number, rivals in enumerate(self.rivals))
        return np.fromiter(own, dtype=np.bool_, count=len(self.rivals))

    @cached_property
    def _members(self) -> IntArray:
        return np.flatnonzero(self.class_of != NOWHERE)

    @cached_property
    def _grouping(self) -> Grouping:
        return Grouping(self.class_of[self._members].astype(np.int32), len(self.rivals))


# Counts pairs of pods in conflict that share a domain, and by how much a move changes their number.


class ConflictCounts:
    """Pairs of pods in conflict within one domain, as pods move. A domain may be a node.

    ``pairs``: their number; ``domains``: that of the domains; ``here``: int64[P], pods in conflict of each pod in its
    own domain.
    """

    def __init__(self, conflicts: ConflictClasses, node_of: IndexArray, codes: IndexArray) -> None:
        """``node_of``: int32[P], where pods are; ``codes``: int32[N], each node's domain, NOWHERE where it has none."""
        self.conflicts = conflicts
        self.codes = codes
        self._codes_or_nowhere = np.append(codes, NOWHERE)
        self.domains = int(codes.max(initial=NOWHERE)) + 1
        self._domain_of = self._codes_or_nowhere[node_of]
        self.here = self._count_here()
        self.pairs = int(self.here.sum()) // 2

    def copy(self) -> ConflictCounts:
        """An independent copy."""
        other = copy(self)
        other.here = self.here.copy()
        other._domain_of = self._domain_of.copy()
        return other

    def change(self, pod: int) -> FloatArray:
        """Change of ``pairs`` if a pod went to each node, float64[N]."""
        number = int(self.conflicts.class_of[pod])
        if number == NOWHERE:
            return np.zeros(len(self.codes))
        there = np.append(self._foes_by_domain(number), 0)
        domain = int(self._domain_of[pod])
        if domain != NOWHERE:
            there[domain] -= self.conflicts.keeps_apart(number)
        change: FloatArray = (there[self.codes] - self.here[pod]).astype(np.float64)
        return change

    def move(self, pod: int, node: int) -> None:
        """A pod goes to a node (NOWHERE: to none)."""
        number = int(self.conflicts.class_of[pod])
        before, after = int(self._domain_of[pod]), int(self._codes_or_nowhere[node])
        if number == NOWHERE or before == after:
            return
        is_rival = self.conflicts.is_rival(number)
        self._domain_of[pod] = NOWHERE
        self.pairs -= int(self.here[pod])
        if before != NOWHERE:
            self.here[self._in(before, is_rival)] -= 1
        arriving = self._in(after, is_rival) if after != NOWHERE else np.zeros(0, dtype=np.int64)
        self.here[arriving] += 1
        self.here[pod] = len(arriving)
        self.pairs += len(arriving)
        self._domain_of[pod] = after

    def standing(self, pods: IntArray) -> IntArray:
        """How many of these pods are in each domain, int64[D]."""
        domains = self._domain_of[pods]
        return np.bincount(domains[domains != NOWHERE], minlength=self.domains)

    def _in(self, domain: int, is_rival: BoolArray) -> IntArray:
        pods = np.flatnonzero(self._domain_of == domain)
        return pods[is_rival[self.conflicts.class_of[pods]]]

    def _foes_by_domain(self, number: int) -> IntArray:
        counts = np.zeros(self.domains, dtype=np.int64)
        for rival in self.conflicts.rivals[number].tolist():
            counts += self.standing(self.conflicts.pods_of(rival))
        return counts

    def _count_here(self) -> IntArray:
        """Classes that only keep apart among themselves are counted all at once: there may be very many of them."""
        conflicts = self.conflicts
        here = np.zeros(len(conflicts.class_of), dtype=np.int64)
        alone = np.flatnonzero((conflicts.class_of != NOWHERE) & (self._domain_of != NOWHERE))
        alone = alone[conflicts.is_apart_alone[conflicts.class_of[alone]]]
        places = conflicts.class_of[alone] * self.domains + self._domain_of[alone]
        _, place, number = np.unique(places, return_inverse=True, return_counts=True)
        here[alone] = number[place.reshape(-1)] - 1
        for mine in np.flatnonzero(~conflicts.is_apart_alone).tolist():
            pods = conflicts.pods_of(mine)
            pods = pods[self._domain_of[pods] != NOWHERE]
            if len(pods) and len(conflicts.rivals[mine]):
                here[pods] = self._foes_by_domain(mine)[self._domain_of[pods]] - conflicts.keeps_apart(mine)
        return here
