"""Karpenter's NodePools, as far as they say who consolidates a node and whether an empty one is sold."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from rescheduler.model.objects.constraints import Requirement

POOL_LABEL: Final = "karpenter.sh/nodepool"
UNDERUTILIZED: Final = "Underutilized"
EMPTY: Final = "Empty"
WHEN_EMPTY: Final = "WhenEmpty"
WHEN_UNDERUTILIZED: Final = "WhenEmptyOrUnderutilized"
"""What a NodePool says that says nothing."""
CONSOLIDATING: Final = (WHEN_UNDERUTILIZED, "Balanced")


class PoolBudget(Struct, frozen=True, gc=False):
    """How many nodes may be disrupted at once.

    ``reasons``: for these alone (none: for all); ``is_always``: it has no schedule; ``forbids``: no node at all.
    """

    reasons: tuple[str, ...] = ()
    is_always: bool = True
    forbids: bool = False


class NodePool(Struct, frozen=True, gc=False):
    """A NodePool. ``consolidate_after``: as written (``Never`` or a duration); ``replicas``: of a static pool.

    ``requirements``: what the labels of its nodes fulfil.
    """

    name: str
    policy: str = WHEN_UNDERUTILIZED
    consolidate_after: str = "0s"
    budgets: tuple[PoolBudget, ...] = ()
    replicas: int | None = None
    requirements: tuple[Requirement, ...] = ()

    @property
    def consolidates(self) -> bool:
        """Whether Karpenter itself takes nodes of the pool that pods are on.

        A budget that binds only at times lets it do so at others. A static pool is never consolidated.
        """
        return (
            self.policy in CONSOLIDATING
            and not self.never_consolidates
            and self.replicas is None
            and not self._always_forbids(UNDERUTILIZED)
        )

    @property
    def never_consolidates(self) -> bool:
        """Whether ``consolidateAfter`` is Never."""
        return self.consolidate_after == "Never"

    @property
    def keeps_empty_nodes(self) -> str | None:
        """Why no node of the pool is sold when it is empty; None: such nodes are sold."""
        if self.never_consolidates:
            return f"NodePool {self.name}: consolidateAfter: Never"
        if self.replicas is not None:
            return f"NodePool {self.name}: replicas: {self.replicas}"
        if self._always_forbids(EMPTY):
            return f"NodePool {self.name}: a budget of 0 nodes for {EMPTY}"
        return None

    def _always_forbids(self, reason: str) -> bool:
        binding = (item for item in self.budgets if not item.reasons or reason in item.reasons)
        return any(item.forbids and item.is_always for item in binding)
