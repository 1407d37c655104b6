"""What nodes and pods use, in amounts that add up: measured load where there is any, requests where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.printable import first_few
from rescheduler.model.usage.demand import MEASURED
from rescheduler.model.usage.load_statistic import LoadStatistic
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.model.usage.usage import FloatArray, Usage, UsageWindows
from rescheduler.usage.judged_load import Amounts, JudgedLoad, judge_load

# Shares a node's use out to its pods, and keeps as the rest what is none of theirs.


class NodeShares(NamedTuple):
    """``of_pods``: float64[P]; ``of_rest``: float64[N]; together they are what the nodes use."""

    of_pods: FloatArray
    of_rest: FloatArray


def share_out(columns: Columns, amounts: Amounts, resource: int) -> NodeShares:
    """Give measured pods what they use, scaled where they use more than their node; the others what is left.

    ``resource``: row of the resource in ``columns``. A node none of whose pods is measured is shared out whole, by
    requests as kube-scheduler scores them (a pod without any counts a little). Beside measured ones, a pod gets no
    more than it requests: the rest may well be the system's. Pods without a node count as they request.
    """
    nodes = columns.node_count
    placed: IntArray = np.flatnonzero(columns.initial_node_of != NOWHERE)
    at: IntArray = columns.initial_node_of[placed].astype(np.int64)
    weight = _weights(columns, resource)[placed]
    is_predicted = amounts.is_predicted[placed]
    own: FloatArray = amounts.of_pods[placed] * _margin(amounts, placed, at)
    is_measured = np.isfinite(own) & ~is_predicted
    use = np.where(np.isfinite(own), own, 0.0)
    total = np.nan_to_num(amounts.of_nodes)
    measured = np.bincount(at[is_measured], use[is_measured], minlength=nodes)
    shrink = np.divide(total, measured, out=np.ones(nodes), where=measured > total)
    use[is_measured] *= shrink[at[is_measured]]
    left = np.maximum(0.0, total - np.minimum(measured, total))
    others = ~np.isfinite(own)
    use[others] = _shares(at[others], weight[others], left, has_measured=_has_any(at[is_measured], nodes))
    of_pods: FloatArray = columns.requests[resource, columns.shape_of].astype(np.float64)
    of_pods[placed] = use
    shared = np.bincount(at[~is_predicted], use[~is_predicted], minlength=nodes)
    return NodeShares(of_pods, np.maximum(0.0, total - shared))


def _shares(at: IntArray, weight: FloatArray, left: FloatArray, has_measured: BoolArray) -> FloatArray:
    """Parts of ``left`` (float64[N]) for the pods at these nodes, by weight."""
    weights = np.bincount(at, weight, minlength=len(left))
    part = np.divide(left, weights, out=np.zeros(len(left)), where=weights > 0)
    part = np.where(has_measured, np.minimum(part, 1.0), part)
    shares: FloatArray = weight * part[at]
    return shares


def _margin(amounts: Amounts, placed: IntArray, at: IntArray) -> FloatArray:
    """By how much pods' measured means are raised to what their nodes are judged by; predictions stay as they are."""
    return np.where(amounts.is_predicted[placed], 1.0, np.nan_to_num(amounts.ratio[at], nan=1.0))


def _weights(columns: Columns, resource: int) -> FloatArray:
    """What each pod requests, with kube-scheduler's stand-in for cpu and memory that are not requested; float64[P]."""
    requests = columns.scored_requests if resource < len(MEASURED) else columns.requests
    weights: FloatArray = requests[resource, columns.shape_of].astype(np.float64)
    return weights


def _has_any(at: IntArray, nodes: int) -> BoolArray:
    return np.asarray(np.bincount(at, minlength=nodes) > 0)


NO_USAGE = "no usage provider tells of this cluster: requests stand in for usage"
FELL_BACK = "too few nodes have load that is believed: requests stand in for usage"
_MOST_NAMED = 3


def observed_use(
    columns: Columns, windows: UsageWindows | None, statistic: str, resources: Sequence[str]
) -> ObservedUse:
    """Use of these resources as judged by ``statistic``: mean, mean+K*std, p50, p90, p95 or p99 of the window.

    Of several windows the longest that may be trusted counts, node by node. Pods of which nothing is measured get
    their share of their node's use by requests. A resource that nobody measures counts as requested. Raises ValueError
    for another statistic.
    """
    how = LoadStatistic.of(statistic)
    known = tuple(name for name in resources if name in columns.resource_index)
    notes = [f"no node offers {name}: it is left out" for name in resources if name not in known]
    usages = [] if windows is None else [usage for _, usage in sorted(windows.by_seconds.items(), reverse=True)]
    if not usages or any(_falls_back(usage) for usage in usages):
        notes.append(FELL_BACK if usages else NO_USAGE)
        return _by_requests(columns, known, tuple(notes))
    load = judge_load(columns, usages, how, known)
    return _assembled(columns, load, known, [*notes, *load.notes])


def _assembled(columns: Columns, load: JudgedLoad, resources: tuple[str, ...], notes: list[str]) -> ObservedUse:
    of_pods, of_rest = _requested(columns, resources), np.zeros((len(resources), columns.node_count))
    for row, name in enumerate(resources):
        amounts = load.amounts.get(name)
        if amounts is None:
            notes.append(f"{name} is not measured: requests stand in for its use")
        else:
            shares: NodeShares = share_out(columns, amounts, columns.resource_index[name])
            of_pods[row], of_rest[row] = shares.of_pods, shares.of_rest
    is_known = load.is_known & _is_usable(columns)
    unknown = np.flatnonzero(~load.is_known & _is_usable(columns))
    if len(unknown):
        notes.append(_about_unknown(columns, load, unknown.tolist()))
    return ObservedUse(resources, _capacity(columns, resources), of_pods, of_rest, is_known, tuple(notes))


def _by_requests(columns: Columns, resources: tuple[str, ...], notes: tuple[str, ...]) -> ObservedUse:
    nothing = np.zeros((len(resources), columns.node_count))
    capacity, requested = _capacity(columns, resources), _requested(columns, resources)
    return ObservedUse(resources, capacity, requested, nothing, _is_usable(columns), notes)


def _capacity(columns: Columns, resources: tuple[str, ...]) -> FloatArray:
    rows = [columns.resource_index[name] for name in resources]
    return columns.allocatable[rows].astype(np.float64)


def _requested(columns: Columns, resources: tuple[str, ...]) -> FloatArray:
    """What each pod requests, or holds after a resize in place, float64[R, P]."""
    rows = [columns.resource_index[name] for name in resources]
    requested: FloatArray = columns.requests[rows][:, columns.shape_of].astype(np.float64)
    for number, pod in enumerate(columns.cluster.pods):
        if pod.held is not None and columns.initial_node_of[number] != NOWHERE:
            requested[:, number] = columns.held(number)[rows]
    return requested


def _is_usable(columns: Columns) -> BoolArray:
    """Nodes that can be a source or a target at all, bool[N]."""
    nodes = columns.cluster.nodes
    return np.array([node.problem is None and not node.is_virtual for node in nodes], dtype=np.bool_)


def _falls_back(usage: Usage) -> bool:
    return usage.assessment is not None and usage.assessment.falls_back


def _about_unknown(columns: Columns, load: JudgedLoad, nodes: list[int]) -> str:
    """How many nodes are left out, with some of them and the reason of the first."""
    names = first_few([columns.cluster.nodes[node].name for node in nodes], _MOST_NAMED)
    if load.freeze:
        return f"no load is believed now ({load.freeze}), so that nothing moves by it"
    count = f"{len(nodes)} node{'s' if len(nodes) != 1 else ''}"
    return f"the load of {count} ({names}) is not trusted ({load.reasons[nodes[0]]}): neither judged nor sent pods"
