"""Finds which pods keep apart from which: from the sets of a policy, and from a label of the pods."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.selectors import read_selector
from rescheduler.model.objects.annotations import ANTAGONISTS_UNTIL
from rescheduler.model.objects.pod import Pod
from rescheduler.model.printable import printable
from rescheduler.model.times import read_time
from rescheduler.planning.objectives.separate_antagonists.conflicts import ConflictClasses
from rescheduler.policy.fields.objectives import AntagonistSet, SeparateAntagonistsArgs

_MOST_NAMED = 5

Membership = tuple[int, int]
"""A set of the policy, by its position, and the selector in it that picks the pod."""


@dataclass(frozen=True, eq=False)
class Antagonists:
    """Pods that must not share a node.

    ``sets``: names of the policy's sets that hold now; ``cliques``: those of one selector, by position. For each class
    of ``conflicts``: ``memberships`` in the sets, and ``marks``, the label's value (None: no mark). ``warnings`` name
    times that cannot be read.
    """

    conflicts: ConflictClasses
    sets: tuple[str, ...] = ()
    memberships: tuple[frozenset[Membership], ...] = ()
    marks: tuple[str | None, ...] = ()
    cliques: frozenset[int] = frozenset()
    label: str = ""
    warnings: tuple[str, ...] = ()

    def cause(self, one: int, other: int) -> str:
        """Why two pods of these classes keep apart, in words."""
        if self.marks[one] is not None and self.marks[one] == self.marks[other]:
            return f"label {self.label}={printable(str(self.marks[one]), 80)}"
        for number, member in sorted(self.memberships[one]):
            if any(
                number == same and (member != theirs or number in self.cliques)
                for same, theirs in self.memberships[other]
            ):
                return f"set {printable(self.sets[number], 80)}"
        return "a set of the policy"


def find_antagonists(columns: Columns, args: SeparateAntagonistsArgs, now: float) -> Antagonists:
    """Read sets, label and expiry; ``now`` in seconds since the epoch.

    Finished and terminating pods keep apart from nobody: they are gone or go by themselves. A mark whose end cannot be
    read goes on, with a warning.
    """
    current = [item for item in args.sets if item.expires is None or not _is_over(item.expires, now)]
    of_label_set = _memberships(columns, current)
    unmarked, warnings = _unmarked(columns, args.label, now)
    numbers: dict[tuple[frozenset[Membership], str | None], int] = {}
    of_plain = [
        _class_of(columns, number, of_label_set, args.label, numbers) for number in range(len(columns.label_sets))
    ]
    class_of = np.array(of_plain, dtype=np.int64)[columns.label_set_of] if of_plain else np.zeros(0, dtype=np.int64)
    for pod in unmarked:
        members = of_label_set.get(int(columns.label_set_of[pod]), frozenset())
        class_of[pod] = numbers.setdefault((members, None), len(numbers)) if members else NOWHERE
    gone = np.fromiter((not pod.is_active for pod in columns.cluster.pods), np.bool_, len(class_of))
    class_of[gone] = NOWHERE
    memberships = tuple(members for members, _ in numbers)
    marks = tuple(mark for _, mark in numbers)
    cliques = frozenset(number for number, item in enumerate(current) if len(item.members) == 1)
    conflicts = ConflictClasses(class_of, _rivals(memberships, marks, cliques))
    names = tuple(item.name for item in current)
    return Antagonists(conflicts, names, memberships, marks, cliques, args.label, warnings)


def _is_over(text: str, now: float) -> bool:
    end = read_time(text)
    return end is not None and now >= end


def _memberships(columns: Columns, sets: Iterable[AntagonistSet]) -> dict[int, frozenset[Membership]]:
    """Memberships of each label set that has any."""
    found: dict[int, set[Membership]] = {}
    for number, item in enumerate(sets):
        namespaces = frozenset(item.namespaces) or None
        for member, selector in enumerate(item.members):
            for label_set in columns.pod_selection.label_sets(namespaces, read_selector(selector)).tolist():
                found.setdefault(label_set, set()).add((number, member))
    return {label_set: frozenset(members) for label_set, members in found.items()}


def _class_of(
    columns: Columns,
    label_set: int,
    memberships: dict[int, frozenset[Membership]],
    label: str,
    numbers: dict[tuple[frozenset[Membership], str | None], int],
) -> int:
    key = (memberships.get(label_set, frozenset()), columns.label_sets[label_set][1].get(label))
    return numbers.setdefault(key, len(numbers)) if key[0] or key[1] is not None else NOWHERE


def _unmarked(columns: Columns, label: str, now: float) -> tuple[list[int], tuple[str, ...]]:
    """Pods whose mark has ended, and what to say about ends that cannot be read."""
    ended, unreadable = [], []
    for number, pod in enumerate(columns.cluster.pods):
        text = pod.annotations.get(ANTAGONISTS_UNTIL) if pod.annotations else None
        if text is None or label not in pod.labels:
            continue
        end = read_time(text)
        if end is None:
            unreadable.append(_unreadable(pod, text))
        elif now >= end:
            ended.append(number)
    if len(unreadable) > _MOST_NAMED:
        unreadable[_MOST_NAMED:] = [
            f"{len(unreadable) - _MOST_NAMED} more pods have such an annotation {ANTAGONISTS_UNTIL}"
        ]
    return ended, tuple(unreadable)


def _unreadable(pod: Pod, text: str) -> str:
    return (
        f"pod {pod.key}: annotation {ANTAGONISTS_UNTIL}: found {printable(text, 40)!r}; wanted a time such as "
        "2030-01-31T12:00:00Z; its mark goes on"
    )


def _rivals(
    memberships: tuple[frozenset[Membership], ...], marks: tuple[str | None, ...], cliques: frozenset[int]
) -> tuple[IntArray, ...]:
    of_mark: dict[str, list[int]] = {}
    of_set: dict[int, dict[int, list[int]]] = {}
    for number, (members, mark) in enumerate(zip(memberships, marks, strict=True)):
        if mark is not None:
            of_mark.setdefault(mark, []).append(number)
        for which, member in members:
            of_set.setdefault(which, {}).setdefault(member, []).append(number)
    found = []
    for members, mark in zip(memberships, marks, strict=True):
        rivals = set(of_mark[mark]) if mark is not None else set()
        for which, member in members:
            for other, classes in of_set[which].items():
                if other != member or which in cliques:
                    rivals.update(classes)
        found.append(np.array(sorted(rivals), dtype=np.int64))
    return tuple(found)
