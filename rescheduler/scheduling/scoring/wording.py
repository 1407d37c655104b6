"""Phrases that explanations of scores share.

Each explanation names the amounts that the score is made of, with the least or largest of other nodes where these
matter, in the formula that makes it, and ends with the score. Fractions are printed rounded, though not reckoned so.
"""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.model.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY

_BINARY = (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10))


def exactly(resource: str, amount: int) -> str:
    """An amount without rounding, so that a formula can be followed: ``4`` or ``1500m`` cores, ``1536Mi``, ``3``."""
    if resource == CPU:
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    if amount and (resource in (MEMORY, EPHEMERAL_STORAGE) or resource.startswith("hugepages-")):
        for suffix, size in _BINARY:
            if amount % size == 0:
                return f"{amount // size}{suffix}"
    return str(amount)


def mean_of(weights: Sequence[int]) -> str:
    """What stands before a mean with these weights."""
    if len(set(weights)) <= 1:
        return "mean"
    return f"mean weighed {' : '.join(map(str, weights))} ="


def less(amount: int) -> str:
    """What takes an amount off in a formula: ``- 3``, or ``+ 3`` for a negative one."""
    return f"- {amount}" if amount >= 0 else f"+ {-amount}"


def share_of_largest(amount: int, largest: int, score: int, *, is_reversed: bool = False) -> str:
    """How ``by_largest`` makes a score of an amount; ``largest`` is not 0."""
    lead = "100 - " if is_reversed else ""
    return f"{amount}, at most {largest} on a feasible node; {lead}100 x {amount} / {largest} = {score}"
