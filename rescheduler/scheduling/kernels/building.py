"""Making a kind of pod: its requests and fixed scores, laid out for the kernels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY
from rescheduler.scheduling.filters.node_resources_fit import checked_rows
from rescheduler.scheduling.kernels.kind import LEAST, MOST, RATIO, REFUSED, Kind, table
from rescheduler.scheduling.kernels.offers import FloatArray, Offers
from rescheduler.scheduling.kernels.recipe import Recipe
from rescheduler.scheduling.scores.node_resources_fit import LEAST as LEAST_ALLOCATED
from rescheduler.scheduling.scores.node_resources_fit import MOST as MOST_ALLOCATED
from rescheduler.scheduling.scores.node_resources_fit import RATIO as CAPACITY_RATIO
from rescheduler.scheduling.scores.node_resources_fit import NodeResourcesFit, along_shape

_STRATEGIES = {LEAST_ALLOCATED: LEAST, MOST_ALLOCATED: MOST, CAPACITY_RATIO: RATIO}


def build_kind(number: int, pod: int, recipe: Recipe, static: BoolArray, base: IntArray, columns: Columns) -> Kind:
    """The kind that a pod, free of ties to others, stands for; ``base`` as ``base_of`` gives it."""
    fit_weight, fit = recipe.fit or (0, NodeResourcesFit(resources=()))
    fit_rows = _fit_rows(pod, fit, columns)
    balance_weight, changes, balance_rows = 0, False, []
    if recipe.balance is not None:
        balance_weight, balance = recipe.balance
        changes, balance_rows = balance.scores_change, _balance_rows(pod, balance.resources, columns)
    shape = columns.shape_of[pod]
    return Kind(
        number=number,
        static=static,
        base=base,
        checks=table(_checks(pod, columns) if recipe.checks_room else [], 2),
        fit=table(fit_rows, 3),
        balance=table(balance_rows, 2),
        points=_points(fit),
        shares=tuple(_shares_of_largest(pod, recipe, static, columns)),
        settings=np.array([_STRATEGIES[fit.strategy], fit_weight, balance_weight, changes], dtype=np.int64),
        is_plain=fit.strategy != CAPACITY_RATIO and _are_plain(fit_rows, balance_rows, columns),
        requests=np.concatenate((columns.requests[:, shape], columns.scored_requests[:, shape])),
    )


def _are_plain(fit_rows: list[tuple[int, ...]], balance_rows: list[tuple[int, ...]], columns: Columns) -> bool:
    rows = [row % len(columns.resources) for _, row, _ in fit_rows] + [row for row, _ in balance_rows]
    return len(fit_rows) == len(balance_rows) == 2 and columns.facts(Offers).are_plain(rows)


def _checks(pod: int, columns: Columns) -> list[tuple[int, ...]]:
    requests = columns.requests[:, columns.shape_of[pod]]
    return [(row, int(requests[row])) for row in columns.facts(checked_rows) if requests[row] > 0]


def _counting_rows(pod: int, resources: tuple[tuple[str, int], ...], columns: Columns) -> list[tuple[int, int, bool]]:
    """Row, weight, and whether it is cpu or memory, of the resources that count in a pod's scores."""
    found = []
    for name, weight in resources:
        row = columns.resource_index.get(name)
        is_basic = name in (CPU, MEMORY)
        always = is_basic or name == EPHEMERAL_STORAGE
        if row is not None and (always or columns.requests[row, columns.shape_of[pod]]):
            found.append((row, weight, is_basic))
    return found


def _fit_rows(pod: int, fit: NodeResourcesFit, columns: Columns) -> list[tuple[int, ...]]:
    shape, count = columns.shape_of[pod], len(columns.resources)
    return [
        (weight, row + count, int(columns.arriving_requests[row, shape]))
        if is_basic
        else (weight, row, int(columns.requests[row, shape]))
        for row, weight, is_basic in _counting_rows(pod, fit.resources, columns)
    ]


def _balance_rows(pod: int, resources: tuple[tuple[str, int], ...], columns: Columns) -> list[tuple[int, ...]]:
    """Rows and requests; none for a pod that asks for none of the resources, which scores 0 everywhere."""
    requests = columns.requests[:, columns.shape_of[pod]]
    rows: list[tuple[int, ...]] = [(row, int(requests[row])) for row, _, _ in _counting_rows(pod, resources, columns)]
    return rows if any(request for _, request in rows) else []


def _points(fit: NodeResourcesFit) -> FloatArray:
    percent = np.arange(101, dtype=np.int64)
    return (along_shape(fit.shape, percent) if fit.strategy == CAPACITY_RATIO else percent).astype(float)


def base_of(pod: int, recipe: Recipe, static: BoolArray, columns: Columns) -> IntArray:
    """Scores that depend neither on the feasible set nor on use, weighted, int64[N]; REFUSED outside ``static``."""
    total = np.where(static, 0, REFUSED)
    for weight, plugin in recipe.whole:
        total[static] += weight * plugin.score(pod, columns.facts(Placement), static)[static]
    return total


def _shares_of_largest(
    pod: int, recipe: Recipe, static: BoolArray, columns: Columns
) -> Iterator[tuple[IntArray, int, bool]]:
    """Raw scores that tell nodes apart: one equal on all of them adds the same to each total."""
    for weight, plugin in recipe.by_largest:
        raw = plugin.raw(pod, columns)
        assert raw is not None
        among = raw[static]
        if among.size and among.min() != among.max():
            yield raw, weight, plugin.inverts
