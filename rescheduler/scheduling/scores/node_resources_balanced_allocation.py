"""Nodes whose resources would be used in more equal shares score higher."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.scheduling.plugin import (
    SCORE_POINTS,
    NodeOrder,
    PluginSettings,
    Priority,
    SchedulerScore,
    Surroundings,
)
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import quoted
from rescheduler.scheduling.scoring.normalization import MAX_SCORE
from rescheduler.scheduling.scoring.resource_use import ResourceUse, uses, weighed_resources

FloatArray: TypeAlias = npt.NDArray[np.float64]
# The first minor version of Kubernetes 1 whose balance score looks at the change that the pod makes.
_SCORES_CHANGE_OF_BALANCE = 36


@dataclass(frozen=True)
class NodeResourcesBalancedAllocation(SchedulerScore):
    """Balance is 100 less the standard deviation of the used shares, in percent.

    ``scores_change``: kube-scheduler 1.36 and newer score how much the pod changes the balance (75: not at all,
    50 to 100 in all); older ones the balance with the pod. A pod that asks for none of the resources scores 0.
    """

    resources: tuple[tuple[str, int], ...] = ((CPU, 1), (MEMORY, 1))
    scores_change: bool = True
    name = "NodeResourcesBalancedAllocation"
    stands_at = SCORE_POINTS
    priorities = (Priority("BalancedResourceAllocation"),)
    node_order = (NodeOrder("balancedresource.weight", "NodeResourcesBalancedAllocation", 1),)

    @classmethod
    def read(cls, fields: Fields, version: str) -> PluginSettings:  # noqa: ARG003 - the same in all
        """NodeResourcesBalancedAllocationArgs: each resource once, with weight 1."""
        resources = weighed_resources(fields)
        for number, (name, weight) in enumerate(resources):
            path = (*fields.path, "resources", number)
            if weight != 1:
                fields.findings.refuse((*path, "weight"), f"found {weight}; wanted 1, all resources count alike here")
            if name in [known for known, _ in resources[:number]]:
                fields.findings.refuse((*path, "name"), f"{quoted(name)} is given twice")
        fields.refuse_unread()
        return PluginSettings(cls(tuple((name, 1) for name, _ in resources)))

    def fitted(self, surroundings: Surroundings) -> NodeResourcesBalancedAllocation:
        """As this version of kube-scheduler scores."""
        return replace(self, scores_change=scores_change_of_balance(surroundings.server_version))

    @property
    def setting(self) -> str:
        """The resources."""
        return ", ".join(self.weighed)

    @property
    def weighed(self) -> tuple[str, ...]:
        """Names of the resources."""
        return tuple(name for name, _ in self.resources)

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:  # noqa: ARG002 - one node at a time
        """Score of each node; no normalisation."""
        found = self._uses(pod, placement)
        if not found:
            return np.zeros(placement.columns.node_count, dtype=np.int64)
        after = balance([_share(use, use.request) for use in found])
        if not self.scores_change:
            return after
        # A deviation is at most a half, so balances lie between 50 and 100 and the difference is never negative.
        gain = 50 + after - balance([_share(use, 0) for use in found])
        score: IntArray = 50 + gain // 2
        return score

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Shares in use with the pod and without, the balance of each, and what they make."""
        scores = self.score(pod, placement, feasible)
        found = self._uses(pod, placement)
        if not found:
            weighed = ", ".join(name for name, _ in self.resources)
            return [f"the pod asks for none of {weighed}: {scores[node]}" for node in nodes]
        shares = [[_share(use, use.request) for use in found], [_share(use, 0) for use in found]]
        balances = [balance(rows) for rows in shares]
        names = [use.resource for use in found]
        texts = []
        for node in nodes:
            after, before = (int(values[node]) for values in balances)
            text = f"with the pod {_told(names, shares[0], node)}: balance {after} (100 less their standard deviation)"
            change = (
                f"; without it {_told(names, shares[1], node)}: balance {before}; 50 + (50 + {after} - {before}) / 2"
            )
            texts.append(f"{text}{change if self.scores_change else ''} = {scores[node]}")
        return texts

    def _uses(self, pod: int, placement: Placement) -> list[ResourceUse]:
        """Use of each resource; nothing for a pod that asks for none of them."""
        found = [use for _, use in uses(pod, placement, self.resources, has_defaults=False)]
        return found if any(use.request for use in found) else []


def balance(shares: list[FloatArray]) -> IntArray:
    """100 less the standard deviation of the shares (NaN: the node does not offer it) in percent, truncated."""
    if len(shares) == 2:
        deviation = np.abs((shares[0] - shares[1]) / 2)
        return _percent(np.where(np.isnan(deviation), 0.0, deviation))
    stacked = np.array(shares)
    is_offered = ~np.isnan(stacked)
    count = np.maximum(is_offered.sum(axis=0), 1)
    known = np.where(is_offered, stacked, 0.0)
    mean = _in_order(known) / count
    deviation = np.sqrt(_in_order(np.where(is_offered, (known - mean) * (known - mean), 0.0)) / count)
    # Two shares have a formula of their own, which rounds differently.
    spread = known.max(axis=0) - np.where(is_offered, stacked, np.inf).min(axis=0)
    return _percent(np.where(count == 2, spread / 2, deviation))


def _percent(deviation: FloatArray) -> IntArray:
    percent: IntArray = ((1 - deviation) * MAX_SCORE).astype(np.int64)
    return percent


def _in_order(rows: FloatArray) -> FloatArray:
    """Sum over rows, added one by one: another order would round differently than the scheduler does."""
    total = np.zeros(rows.shape[1])
    for row in rows:
        total = total + row
    return total


def _told(names: list[str], shares: list[FloatArray], node: int) -> str:
    values = [float(share[node]) for share in shares]
    told = ("not offered" if isnan(value) else f"{value:.1%}" for value in values)
    return ", ".join(f"{name} {text}" for name, text in zip(names, told, strict=True))


def _share(use: ResourceUse, request: int) -> FloatArray:
    """Used share of each node, at most 1; NaN where nothing is offered."""
    is_offered = use.allocatable > 0
    if is_offered.all():
        return np.minimum((use.before + request) / use.allocatable, 1.0)
    return np.where(is_offered, np.minimum((use.before + request) / np.maximum(use.allocatable, 1), 1.0), np.nan)


def scores_change_of_balance(server_version: str | None) -> bool:
    """Whether this version's balance score looks at the change that the pod makes; unknown counts as the newest."""
    minor = minor_version(server_version)
    return minor is None or minor >= _SCORES_CHANGE_OF_BALANCE


def minor_version(server_version: str | None) -> int | None:
    """The 36 of ``v1.36.3``; None where there is no such number."""
    match = re.match(r"v?1\.(\d+)", server_version or "")
    return int(match.group(1)) if match else None
