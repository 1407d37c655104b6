"""Shares a node's use out to its pods, and keeps as the rest what is none of theirs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescheduler.model.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.columns import Columns
from rescheduler.model.demand import MEASURED
from rescheduler.model.usage import FloatArray
from rescheduler.usage.judged_load import Amounts


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
