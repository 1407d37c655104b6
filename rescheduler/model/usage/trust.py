"""What may be believed of each node's measured use, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class TrustState(StrEnum):
    """How far a node's measured use may be relied on; only Trusted and Predicted may steer a move of ours."""

    TRUSTED = "Trusted"
    PREDICTED = "Predicted"  # a new node that holds only pods whose use is predicted
    NEW = "New"  # too young, or too few samples yet
    STALE = "Stale"
    MISSING = "Missing"
    IMPLAUSIBLE = "Implausible"  # values that cannot be
    FROZEN = "Frozen"  # the same value again and again
    DISPUTED = "Disputed"  # providers contradict each other
    SETTLING = "Settling"  # a move touched it within the window


class Trust(NamedTuple):
    """One node's state, with its reason in words ("" where all is well)."""

    state: TrustState
    reason: str = ""

    @property
    def is_usable(self) -> bool:
        """Whether planner and gate may go by the node's measured use."""
        return self.state in (TrustState.TRUSTED, TrustState.PREDICTED)

    @property
    def is_true(self) -> bool:
        """Whether the node's measured use may be told and predicted with.

        A settling node's may: it is measured well, only not yet what a move has made of it. Schedulers go by it, and
        take a node without any load for empty or full.
        """
        return self.is_usable or self.state is TrustState.SETTLING


@dataclass(frozen=True)
class Assessment:
    """Trust in each node, aligned with the nodes asked for, and in the whole.

    ``freeze``: why no usage-based move may be made at all for now (coverage, a sudden drop, a lying provider), "" if
    none. ``falls_back``: the provider has failed for most nodes, so that requests stand in for use.
    """

    nodes: tuple[Trust, ...]
    freeze: str = ""
    falls_back: bool = False


@dataclass(frozen=True)
class NodeTrust:
    """Trust as it stands now, by node name, for whoever does not know the order of nodes; ``freeze`` as above."""

    by_node: Mapping[str, Trust] = field(default_factory=dict)
    freeze: str = ""
