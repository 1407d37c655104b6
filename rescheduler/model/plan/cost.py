"""What the cluster's nodes cost before and after a plan, a month."""

from __future__ import annotations

from msgspec import Struct


class KeptNode(Struct, frozen=True, rename="camel"):
    """A node that nobody takes away, however empty it is."""

    node: str
    reason: str


class Cost(Struct, frozen=True, rename="camel"):
    """Amounts a month. ``before``: all priced nodes that are not leaving; ``after``: without those that are empty then.

    ``complete``: every node has a price; ``unpriced`` names the others, which count 0. ``kept``: nodes that cost on
    when they are empty. ``empty``: of ``saving``, what nodes cost that were empty before the plan and after it.
    """

    currency: str
    before: float
    after: float
    saving: float
    complete: bool
    unpriced: tuple[str, ...] = ()
    kept: tuple[KeptNode, ...] = ()
    empty: float = 0.0
