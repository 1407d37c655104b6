"""The risk that pods on a node use more than it has: from their limits, and from the load seen so far."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from rescheduler.model.arrays import BoolArray, IntArray
from rescheduler.model.usage import FloatArray
from rescheduler.plugins.scores.beta_distribution import fitted, largest_variance, probability_below
from rescheduler.plugins.scores.node_load import fraction

# The fit needs a variance strictly below the largest possible one.
_VARIANCE_CEILING = 0.99


class Commitment(NamedTuple):
    """One resource of all nodes, int64[N] each: requests and limits with the pod, the same without it, and what the
    node offers. Requests are at most what it offers.
    """

    request: IntArray
    limit: IntArray
    request_without: IntArray
    limit_without: IntArray
    capacity: IntArray


def commitment(node: tuple[IntArray, IntArray], pod: tuple[int, int], capacity: IntArray) -> Commitment:
    """Totals from (requests, limits) of the node's pods and of the pod to come."""
    requests, limits = node
    return Commitment(
        request=np.minimum(capacity, requests + pod[0]),
        limit=limits + pod[1],
        request_without=np.minimum(capacity, requests),
        limit_without=limits,
        capacity=capacity,
    )


def limit_risk(total: Commitment) -> FloatArray:
    """Share of the room between requests and limits that the node does not have, 0 to 1, float64[N]."""
    excess = (total.limit - total.request).astype(np.float64)
    beyond = total.limit - total.capacity
    risk: FloatArray = np.divide(beyond, excess, out=np.zeros(len(excess)), where=(beyond > 0) & (excess > 0))
    return risk


def load_risk(total: Commitment, mean: FloatArray, deviation: FloatArray, is_known: BoolArray) -> FloatArray:
    """Probability that load exceeds the requests without the pod, 0 to 1, float64[N]; 0 where no load is known.

    ``mean`` and ``deviation`` are shares of the node, the latter corrected for smoothing. Where limits keep pods
    below what the node has, load is known to stay below them.
    """
    deviation = np.minimum(deviation, np.sqrt(_VARIANCE_CEILING * largest_variance(mean)))
    threshold = fraction(total.request_without, total.capacity)
    probability = probability_below(mean, deviation, threshold)
    is_bound = (total.limit_without < total.capacity) & (total.request_without <= total.limit_without)
    bound = fraction(total.limit_without, total.capacity)
    at = np.flatnonzero(is_bound & (bound > 0) & (mean > 0) & (deviation > 0))
    below_bound = fitted(mean[at], deviation[at] ** 2).below(bound[at])
    conditional = np.divide(probability[at], below_bound, out=probability[at], where=below_bound > 0)
    probability[at] = np.clip(conditional, 0.0, 1.0)
    probability = np.where(is_bound & (bound == 0), 1.0, probability)
    return np.where(is_known, 1 - probability, 0.0)


def total_risk(limit: FloatArray, load: FloatArray, weight: float) -> FloatArray:
    """Limit risk with ``weight`` and load risk with the rest of 1, 0 to 1, float64[N]."""
    return np.clip(weight * limit + (1 - weight) * load, 0.0, 1.0)


def smoothed_deviation(deviation: FloatArray, window: int) -> FloatArray:
    """The deviation of load whose readings are means of ``window`` samples each, float64[N]."""
    return np.clip(deviation, 0.0, 1.0) * sqrt(window)
