"""Who keeps apart from whom: pods in classes, and classes that are rivals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rescheduler.model.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.selection import Grouping


@dataclass(frozen=True, eq=False)
class Foes:
    """Pods (P) in classes (C), all pods of a class having the same foes.

    ``class_of``: int64[P], NOWHERE for a pod without foes. ``rivals``: for each class the classes whose pods are foes
    of its own, ascending; the class itself is among them where its pods keep apart from each other. Rivalry is mutual.
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
        """Whether the pods of a class are foes of each other."""
        return bool((self.rivals[number] == number).any())

    @cached_property
    def _members(self) -> IntArray:
        return np.flatnonzero(self.class_of != NOWHERE)

    @cached_property
    def _grouping(self) -> Grouping:
        return Grouping(self.class_of[self._members].astype(np.int32), len(self.rivals))
