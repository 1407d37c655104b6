"""Targets of SpreadLoad that are told by the mean of all nodes, as numbers for the cluster as it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.policy.fields.objectives import OverMean, SpreadLoadArgs, Target
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.objective_arguments import arguments_of

LEAST: Final = 1e-6
"""A target is above 0."""


def with_targets_as_numbers(policy: Policy, columns: Columns, observed: ObservedUse | None) -> Policy:
    """The policy with a share of allocatable for each target that is told by the mean; it holds for the whole plan."""
    objectives = []
    for objective in policy.objectives:
        args = arguments_of(objective)
        if observed is not None and isinstance(args, SpreadLoadArgs) and args.is_told_by_mean:
            numbers = targets_as_numbers(args.target, columns, observed)
            objective = objective.model_copy(update={"args": {**objective.args, "target": numbers}})  # noqa: PLW2901
        objectives.append(objective)
    return policy.model_copy(update={"objectives": tuple(objectives)})


def targets_as_numbers(target: Mapping[str, Target], columns: Columns, observed: ObservedUse) -> dict[str, float]:
    """Shares of allocatable. The mean is that of the nodes that offer the resource and whose load is known."""
    means = _mean_shares(columns, observed)
    return {
        resource: min(1.0, max(LEAST, means.get(resource, 1.0) + told.over_mean))
        if isinstance(told, OverMean)
        else told
        for resource, told in target.items()
    }


def _mean_shares(columns: Columns, observed: ObservedUse) -> dict[str, float]:
    node_of = Placement(columns).node_of
    placed = np.flatnonzero(node_of != NOWHERE)
    found = {}
    for row, resource in enumerate(observed.resources):
        of_pods = observed.of_pods[row, placed]
        use = observed.of_rest[row] + np.bincount(node_of[placed], of_pods, minlength=columns.node_count)
        counted = observed.is_known & (observed.capacity[row] > 0)
        if counted.any():
            found[resource] = float((use[counted] / observed.capacity[row][counted]).mean())
    return found
