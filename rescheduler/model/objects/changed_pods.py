"""Which pods two snapshots do not have in common, without a look at each of those that they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rescheduler.model.objects.pod import Pod

_BLOCK: Final = 1024
"""Pods that are compared at once: snapshots share what did not change, and tuples compare the very same at once."""


def changed_pods(before: Sequence[Pod], after: Sequence[Pod]) -> tuple[list[Pod], list[Pod]]:
    """Pods of the first that are not as they are in the second, and the other way round; both by namespace and name.

    A pod that changed is in both. In sequences of another order some that did not change are, too.
    """
    old: list[Pod] = []
    new: list[Pod] = []
    here = there = 0
    while here < len(before) and there < len(after):
        if before[here : here + _BLOCK] == after[there : there + _BLOCK]:
            here, there = here + _BLOCK, there + _BLOCK
            continue
        for _ in range(_BLOCK):
            if here >= len(before) or there >= len(after):
                break
            mine, theirs = before[here], after[there]
            names = (mine.namespace, mine.name), (theirs.namespace, theirs.name)
            if names[0] <= names[1]:
                here += 1
            if names[1] <= names[0]:
                there += 1
            if mine is not theirs and mine != theirs:
                old += [mine] if names[0] <= names[1] else []
                new += [theirs] if names[1] <= names[0] else []
    return [*old, *before[here:]], [*new, *after[there:]]
