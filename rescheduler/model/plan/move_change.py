"""How far a move has come while a plan is carried out: the words that terminal, API, Events and metrics share."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct

from rescheduler.model.plan.plan import PodReference


class MoveState(StrEnum):
    """In this order; each is reached at most once, and some may be passed over."""

    PLANNED = "planned"
    """Nothing was done."""
    PERMITTED = "permitted"
    """The gate has given leave for this very pod."""
    ANNOUNCED = "announced"
    """The intent stands in the ledger."""
    EVICTED = "evicted"
    """The eviction was accepted, or its effect was seen."""
    REPLACED = "replaced"
    """A new pod is there."""
    BOUND = "bound"
    """The new pod has a node."""
    READY = "ready"
    """The new pod works."""
    SETTLED = "settled"
    """And the old one is gone: nothing is owed."""
    FAILED = "failed"
    """The new pod does not work, or does not come."""
    UNKNOWN = "unknown"
    """The request was sent, and nobody knows with what effect."""
    DROPPED = "dropped"
    """Not done, and not to be done by this run."""


AT_REST: Final = frozenset({MoveState.SETTLED, MoveState.FAILED, MoveState.UNKNOWN, MoveState.DROPPED})
"""Nothing follows; but what was not known may be found out, and what had failed may work after all."""


class MoveChange(Struct, frozen=True, rename="camel"):
    """A move has come further. ``time``: RFC 3339; ``node``: where the new pod is, None while it is nowhere.

    ``to_node`` None: nobody makes it again.
    """

    time: str
    pod: PodReference
    state: MoveState
    from_node: str
    to_node: str | None
    node: str | None = None
    message: str = ""
