"""Lists of names in the reasons that triggers give: a few of them, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rescheduler.model.printable import printable

MOST_NAMED: Final = 3


def listed(names: Sequence[str]) -> str:
    """``a, b, c and 4 more``."""
    shown = [printable(name, 120) for name in names[:MOST_NAMED]]
    more = len(names) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
