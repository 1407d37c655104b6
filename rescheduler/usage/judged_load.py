"""Which nodes' load may be gone by, and how much it is, from windows of several lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.usage.demand import MEASURED
from rescheduler.model.usage.load_statistic import LoadStatistic
from rescheduler.model.usage.recent_use import NodeCorrections, RecentUse
from rescheduler.model.usage.usage import FloatArray, Usage
from rescheduler.usage.checks.evidence import capacities

SHOWN_SHARE = 0.5
"""A node that holds only new pods and uses this share of what they are predicted to use shows them already."""


@dataclass(frozen=True, eq=False)
class Amounts:
    """One resource: ``of_nodes``: float64[N], what each node uses, pods that no window shows yet left out.

    ``of_pods``: float64[P], what is measured or predicted of each pod, NaN where neither; ``is_predicted``: bool[P];
    ``ratio``: float64[N], the statistic over the mean.
    """

    of_nodes: FloatArray
    of_pods: FloatArray
    is_predicted: BoolArray
    ratio: FloatArray


@dataclass
class JudgedLoad:
    """``amounts`` by resource, only those that are measured; ``reasons``: why a node is not known, by node.

    ``freeze``: why no load at all may be gone by, "" if it may.
    """

    is_known: BoolArray
    amounts: dict[str, Amounts] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    freeze: str = ""


def judge_load(
    columns: Columns, usages: Sequence[Usage], statistic: LoadStatistic, resources: Sequence[str]
) -> JudgedLoad:
    """Take each node's load from the first of ``usages`` that may be trusted for it."""
    measured = [name for name in resources if name in MEASURED and any(_tells(usage, name) for usage in usages)]
    load = JudgedLoad(np.zeros(columns.node_count, dtype=np.bool_))
    load.freeze = next(
        (usage.assessment.freeze for usage in usages if usage.assessment and usage.assessment.freeze), ""
    )
    if not measured and all(usage.assessment is None for usage in usages):
        load.is_known[:] = True  # the source told nothing of any node, so that requests stand in for all of them
        return load
    parts = []
    for usage in usages:
        is_usable = _usable(columns, usage) & ~load.is_known
        amounts = {name: _amounts(columns, usage, statistic, name) for name in measured}
        for found in amounts.values():
            is_usable &= ~np.isnan(found.of_nodes)
        load.is_known |= is_usable
        parts.append((is_usable, amounts))
    load.amounts = {name: _merged(columns, [(mask, found[name]) for mask, found in parts]) for name in measured}
    _explain(columns, usages, load)
    if any(statistic.is_estimated(usage, name) for usage in usages[:1] for name in measured):
        load.notes.append("the statistic is estimated from mean and deviation where the source does not tell it")
    if load.freeze:
        load.is_known[:] = False
    return load


def _tells(usage: Usage, resource: str) -> bool:
    return not np.isnan(usage.percent(resource)).all() if usage.node_count else False


def _usable(columns: Columns, usage: Usage) -> BoolArray:
    """Nodes whose load may steer a move: by their assessment, else by the age of the window."""
    if usage.assessment is not None:
        return np.array([trust.is_usable for trust in usage.assessment.nodes], dtype=np.bool_)
    return usage.is_fresh(columns.cluster.taken_at) | _is_new_and_idle(columns, usage)


def _is_new_and_idle(columns: Columns, usage: Usage) -> BoolArray:
    """Nodes younger than the window that have no load yet, and no pod but such as came since; bool[N]."""
    is_measured = np.isfinite(usage.window_end)
    if not is_measured.any():
        return np.zeros(columns.node_count, dtype=np.bool_)
    started = float(usage.window_end[is_measured].max() - usage.window_seconds[is_measured].max())
    created = [-np.inf if node.created_at is None else node.created_at for node in columns.cluster.nodes]
    is_new = (np.array(created, dtype=np.float64) > started) & ~is_measured
    uncounted = columns.facts(RecentUse(usage)).is_uncounted
    others = np.flatnonzero((columns.initial_node_of != NOWHERE) & ~uncounted)
    is_new[columns.initial_node_of[others]] = False
    return is_new


def _amounts(columns: Columns, usage: Usage, statistic: LoadStatistic, resource: str) -> Amounts:
    row = MEASURED.index(resource)
    capacity = capacities(columns.cluster.nodes)[row]
    mean, judged = usage.percent(resource), statistic.percent(usage, resource)
    idle = _is_new_and_idle(columns, usage) & np.isnan(mean) if usage.assessment is None else _predicted(usage, mean)
    mean, judged = np.where(idle, 0.0, mean), np.where(idle, 0.0, judged)
    corrections = columns.facts(RecentUse(usage))
    late = np.flatnonzero(corrections.is_uncounted)
    predicted = columns.facts(RecentUse(usage).predictor)[row, columns.shape_of]
    coming = np.zeros(columns.node_count)
    np.add.at(coming, columns.initial_node_of[late], predicted[late])
    gone = corrections.of(Placement(columns))[row] - coming
    of_nodes = np.where(capacity > 0, np.maximum(0.0, judged / 100 * capacity + gone), np.nan)
    own = usage.pod_use.get(resource, np.full(columns.pod_count, np.nan))
    own = np.where(np.isfinite(own) & (own >= 0), own, np.nan)
    is_predicted = corrections.is_uncounted & np.isnan(own)
    is_predicted[late[_shows_new_pods(columns, corrections, of_nodes, coming)[columns.initial_node_of[late]]]] = False
    return Amounts(
        of_nodes=of_nodes,
        of_pods=np.where(is_predicted, predicted, own),
        is_predicted=is_predicted,
        ratio=np.divide(judged, mean, out=np.ones_like(mean), where=mean > 0),
    )


def _shows_new_pods(
    columns: Columns, corrections: NodeCorrections, of_nodes: FloatArray, coming: FloatArray
) -> BoolArray:
    """Nodes that hold none but new pods and use so much that their load must show these already, bool[N]."""
    older = np.flatnonzero((columns.initial_node_of != NOWHERE) & ~corrections.is_uncounted)
    has_older = np.bincount(columns.initial_node_of[older], minlength=columns.node_count) > 0
    return ~has_older & (coming > 0) & (np.nan_to_num(of_nodes) >= SHOWN_SHARE * coming)


def _predicted(usage: Usage, mean: FloatArray) -> BoolArray:
    """Nodes that are trusted without any load of their own, since all their pods' use is predicted."""
    assert usage.assessment is not None
    return np.array([trust.is_usable for trust in usage.assessment.nodes], dtype=np.bool_) & np.isnan(mean)


def _merged(columns: Columns, parts: Sequence[tuple[BoolArray, Amounts]]) -> Amounts:
    """Each node's amounts, and its pods', from the part that it is taken from; the first for nodes of none."""
    _, first = parts[0]
    found = Amounts(first.of_nodes.copy(), first.of_pods.copy(), first.is_predicted.copy(), first.ratio.copy())
    for mask, amounts in parts[1:]:
        pods = np.flatnonzero(columns.initial_node_of != NOWHERE)
        pods = pods[mask[columns.initial_node_of[pods]]]
        found.of_nodes[mask], found.ratio[mask] = amounts.of_nodes[mask], amounts.ratio[mask]
        found.of_pods[pods], found.is_predicted[pods] = amounts.of_pods[pods], amounts.is_predicted[pods]
    return found


def _explain(columns: Columns, usages: Sequence[Usage], load: JudgedLoad) -> None:
    shortest = usages[-1]
    for node in np.flatnonzero(~load.is_known).tolist():
        reason = ""
        if shortest.assessment is not None:
            trust = shortest.assessment.nodes[node]
            reason = f"{trust.state}: {trust.reason}" if trust.reason else str(trust.state)
        elif np.isfinite(shortest.window_end[node]) and not shortest.is_fresh(columns.cluster.taken_at)[node]:
            reason = "its window ended too long ago"
        load.reasons[node] = reason or "nothing usable was measured of it"
