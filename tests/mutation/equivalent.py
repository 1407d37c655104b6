"""Faults that are none: the module does the same with them, whatever is asked of it; each with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

EQUIVALENT: Final[Mapping[str, str]] = {
    "earlier/owed_room: to False: True": "what a table selects is as long as its nodes: strict or not is the same",
    "pod_kinds: to IsNot: pod.deletion_at is None": "a part of a key: both values change places for all pods alike",
}
"""By module and what is changed, without the line."""


def is_known(module: str, what: str) -> bool:
    """Whether a fault is listed."""
    return f"{module}: {what.partition(': ')[2]}" in EQUIVALENT
