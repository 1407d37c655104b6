"""What triggers are made from, beside their own arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Final, NamedTuple

from rescheduler.model.printable import first_few, printable
from rescheduler.policy.fields.policy import Policy

# Lists of names in the reasons that triggers give: a few of them, and how many there are.

MOST_NAMED: Final = 3


def listed(names: Sequence[str]) -> str:
    """``a, b, c and 4 more``."""
    shown = [printable(name, 120) for name in names]
    if len(shown) > MOST_NAMED or len(shown) == 1:
        return first_few(shown, MOST_NAMED)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


class Setting(NamedTuple):
    """``started_at``: when the process began, seconds since the epoch; ``schedulers``: names of those that can be
    predicted; ``random``: a trigger's own.
    """

    policy: Policy
    started_at: float
    schedulers: frozenset[str]
    random: Random


def without_objective(wanted: str, name: str, policy: Policy) -> Iterator[str]:
    """The warning that nothing comes of a trigger's rounds, where the policy lacks the objective that it serves."""
    if all(objective.name != wanted for objective in policy.objectives):
        yield f"rounds that {name} asks for do nothing about it without the objective {wanted}"
