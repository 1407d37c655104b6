"""Whether every disruption budget of one policy surely still holds under another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Budget = Mapping[str, Any]
_SAME = ("namespaces", "labelSelector", "per")
_WINDOWS = ("windows", "schedule", "duration", "timeZone")


def keeps_every_budget(old: Sequence[Budget], new: Sequence[Budget]) -> bool:
    """Each old budget has a new one that allows no more; further budgets only forbid. As a dumped policy has them."""
    return all(any(_is_tighter(kept, budget) for kept in new) for budget in old)


def share_or_count(old: Any, new: Any) -> bool:
    """Whether a number of pods, or a share of them, is no higher; one of each cannot be compared, but for 0."""
    if old == new or new == 0:
        return True
    if isinstance(old, str) and isinstance(new, str):
        return int(new.rstrip("%")) <= int(old.rstrip("%"))
    return isinstance(old, int) and isinstance(new, int) and new <= old


def _is_tighter(new: Budget, old: Budget) -> bool:
    """Of the same pods, counted in the same way, no limit is gone or higher."""
    if any(new[name] != old[name] for name in _SAME):
        return False
    has_windows = any(old[name] is not None for name in _WINDOWS)
    if has_windows and any(new[name] != old[name] for name in _WINDOWS):
        return False
    limits = ("maxUnavailable", "maxMoving")
    return all(_is_lower(new[name], old[name]) for name in limits) and _is_slower(new["rate"], old["rate"])


def _is_lower(new: Any, old: Any) -> bool:
    return old is None or (new is not None and share_or_count(old, new))


def _is_slower(new: Any, old: Any) -> bool:
    if old is None or new is None:
        return old is None
    return bool(new["maxEvictions"] <= old["maxEvictions"] and new["window"] >= old["window"])
