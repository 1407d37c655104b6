"""How many feasible nodes the scheduler scores in a large cluster, and where a pod may go because of that.

kube-scheduler looks at nodes round robin, from where it stopped for the pod before, until enough feasible ones are
found. Where it begins is not written anywhere, so which nodes it scores cannot be known, only how many.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray

LEAST_NODES: Final = 100
"""In clusters with fewer nodes all are looked at; in others at least so many feasible ones, if there are."""
_LEAST_PERCENT: Final = 5
_MOST_PERCENT: Final = 50
_NODES_PER_PERCENT: Final = 125


def nodes_scored(node_count: int, percentage: int = 0) -> int:
    """After so many feasible nodes the scheduler looks no further.

    ``percentage``: ``percentageOfNodesToScore``, 0 for the scheduler's own share, which falls as the cluster grows.
    """
    if node_count < LEAST_NODES:
        return node_count
    share = percentage or max(_MOST_PERCENT - node_count // _NODES_PER_PERCENT, _LEAST_PERCENT)
    return max(node_count * share // 100, LEAST_NODES)


def possible_choices(total: IntArray, feasible: BoolArray, scored: int) -> BoolArray:
    """Nodes, bool[N], that may be the best of those scored: the sample can leave out all that are better.

    Without a sample these are the nodes that tie for the highest total. An upper bound: nodes that follow one another
    are left out together, and scores that are normalised may differ a little within a sample.
    """
    among = np.sort(total[feasible])
    left_out = max(len(among) - scored, 0)
    if not len(among):
        return np.zeros_like(feasible)
    found: BoolArray = feasible & (total >= among[len(among) - 1 - left_out])
    return found
