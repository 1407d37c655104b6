"""A right that a daemon needs, and what for."""

from __future__ import annotations

from typing import NamedTuple

from rescheduler.adapters.kubernetes.rights import Right


class Need(NamedTuple):
    """A right that is needed, where (empty: everywhere), and for what.

    ``is_vital``: a daemon that evicts should not begin without it; else it gets along, and knows or tells less.
    """

    right: Right
    namespace: str
    purpose: str
    is_vital: bool = True
