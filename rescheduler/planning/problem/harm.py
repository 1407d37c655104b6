"""Pods whose departure could leave the spread or affinity of pods that stay worse: others are moved first."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.planning.problem.problem import Problem


def harmful_departures(problem: Problem) -> BoolArray:
    """Movable pods that some pod's binding spread or required affinity counts on, bool[P].

    An over-estimate: a departure from the fullest domain harms nobody. It only decides between nodes equal otherwise.
    """
    columns = problem.columns
    harms = np.zeros(columns.pod_count, dtype=np.bool_)
    looks = columns.shape_of.astype(np.int64) * len(columns.label_sets) + columns.label_set_of
    for pod in np.unique(looks, return_index=True)[1].tolist():
        spec = columns.shapes[columns.shape_of[pod]]
        if spec.affinity:
            harms[problem.entanglement.attractors(pod)[1]] = True
        if spec.topology_spread:
            for rule in problem.entanglement.spread_rules(pod):
                harms[rule.pods] = True
    is_movable = np.zeros(columns.pod_count, dtype=np.bool_)
    is_movable[problem.movable] = True
    found: BoolArray = harms & is_movable
    return found
