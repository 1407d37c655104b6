"""YoungNode: the younger a node, the higher its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from pydantic import Field

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.scheduling.plugin import SchedulerScore

DAY_SECONDS = 86400


class YoungNodeArguments(PolicyModel):
    """Arguments of YoungNode."""

    days: Annotated[int, Field(ge=1, le=3650)] = 30
    """A node of this age, or older, scores 0."""


@dataclass(frozen=True)
class YoungNode(SchedulerScore):
    """100 for a node that was made just now, less by the same amount every day."""

    arguments: YoungNodeArguments = field(default_factory=YoungNodeArguments)
    name = "YoungNode"

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:  # noqa: ARG002 - alike for all
        """The same for every pod; whole numbers, as schedulers compute."""
        return np.maximum(0, 100 - 100 * placement.columns.facts(ages) // (self.arguments.days * DAY_SECONDS))

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """The age of each node, and its score."""
        old, scores = placement.columns.facts(ages), self.score(pod, placement, feasible)
        return [f"{old[node] // DAY_SECONDS} of {self.arguments.days} days old: {scores[node]}" for node in nodes]


def ages(columns: Columns) -> IntArray:
    """How old each node is, whole seconds; 0 where that is not known."""
    now = columns.cluster.taken_at
    return np.array([int(max(0.0, now - (node.created_at or now))) for node in columns.cluster.nodes], dtype=np.int64)
