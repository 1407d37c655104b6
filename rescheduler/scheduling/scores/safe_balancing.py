"""Nodes whose mean load plus its deviation leaves more room beside the pod score higher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from pydantic import Field

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.usage.demand import MEASURED
from rescheduler.model.usage.usage import FloatArray
from rescheduler.scheduling.plugin import SCORE_POINTS
from rescheduler.scheduling.scoring.load_score import LoadScore
from rescheduler.scheduling.scoring.node_load import fraction, nearest
from rescheduler.scheduling.scoring.usage_arguments import PredictionArguments


class SafeBalancingArguments(PredictionArguments):
    """Arguments of SafeBalancing."""

    confidence: Annotated[float, Field(ge=0, le=100)] = 1.0
    """How many standard deviations of load count beside its mean."""
    resources: Annotated[tuple[str, ...], Field(min_length=1, strict=False)] | None = None
    """Resources to look at; left out: cpu, memory and all others that the usage has."""


@dataclass(frozen=True)
class SafeBalancing(LoadScore):
    """Room of the scarcest resource: 100 less the shares of mean load, deviation and the pod's request, in percent."""

    arguments: SafeBalancingArguments = field(default_factory=SafeBalancingArguments)
    name = "SafeBalancing"
    stands_at = SCORE_POINTS
    is_upstream = False

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:  # noqa: ARG002 - one node at a time
        """Score of each node, 0 where no load is known; no normalisation."""
        least = np.full(placement.columns.node_count, np.inf)
        for _, room, is_known in self._rooms(pod, placement):
            least = np.where(is_known, np.minimum(least, room), least)
        # Shares such as 0.575 have no exact binary form: the last digits must not decide.
        exact: FloatArray = np.where(np.isinf(least), 0.0, least).round(9)
        return nearest(exact)

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Room of each resource, and the least of them."""
        scores, rooms = self.score(pod, placement, feasible), self._rooms(pod, placement)
        by = "requests (metrics are missing)" if self.loads(placement, self._resources).is_by_requests else "mean load"
        lead = f"room beside {by}, {self.arguments.confidence:g} x its deviation and the pod's request"
        texts = []
        for node in nodes:
            parts = [f"{name} {room[node]:.1f} %" for name, room, known in rooms if known[node]]
            told = f"{lead}: {', '.join(parts)}; the least" if parts else "no load is known of the node:"
            texts.append(f"{told} {scores[node]}")
        return texts

    def _rooms(self, pod: int, placement: Placement) -> list[tuple[str, FloatArray, BoolArray]]:
        columns = placement.columns
        loads = self.loads(placement, self._resources)
        found = []
        for name in self._resources:
            load = loads.of(name, pod, placement)
            row = columns.resource_index.get(name)
            request = 0.0 if row is None else float(columns.requests[row, columns.shape_of[pod]])
            offered = load.base if row is None else columns.allocatable[row]
            asked = fraction(np.full(columns.node_count, request), offered)
            taken = safe_share(load.share, asked, load.deviation_share, self.arguments.confidence)
            found.append((name, (1 - taken) * 100, load.is_known & (load.base > 0)))
        return found

    @property
    def _resources(self) -> tuple[str, ...]:
        return self.arguments.resources or (*MEASURED, *sorted(set(self.usage.statistics) - set(MEASURED)))


def safe_share(mean: FloatArray, request: FloatArray, deviation: FloatArray, confidence: float = 1.0) -> FloatArray:
    """``mean + request + confidence * deviation``, at most 1, float64[N]; all are shares of a node."""
    return np.minimum(mean + request + confidence * deviation, 1.0)
