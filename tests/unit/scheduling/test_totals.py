"""Totals of one pod on all nodes, by the short way and by the long one."""

from __future__ import annotations

import numpy as np
import pytest

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm, PreferredPodAffinityTerm
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import cluster, node, pod, selector, taint

HOST = "kubernetes.io/hostname"


def world() -> Cluster:
    """Three nodes of different load, one of them tainted, and pods with and without relations."""
    near = PreferredPodAffinityTerm(10, PodAffinityTerm(HOST, selector(app="web")))
    return cluster(
        node("a", cpu="8"),
        node("b", cpu="4"),
        node("c", cpu="8", taints=[taint("special")]),
        pod("web-0", cpu="2", node="a"),
        pod("web-1", cpu="1", node="a"),
        pod("db-0", cpu="3", node="b", preferred_affinity=(near,)),
    )


@pytest.mark.parametrize("name", ["web-0", "web-1", "db-0"])
def test_totals_are_the_weighted_sums_and_minus_one_where_refused(name: str) -> None:
    """The numbers that best_nodes chooses by, own copy left out; -1 on the tainted node."""
    columns = columns_of(world())
    number = columns.pod_index[f"default/{name}"]
    for model in (SchedulerModel(columns), SchedulerModel(columns, arithmetic=None)):
        placement = Placement(columns)
        used = placement.used.copy()
        found = model.totals(number, placement)
        feasible = model.feasible(number, placement)
        assert found[columns.node_index["c"]] == -1
        assert (found[feasible] == model.total(number, placement, feasible)[feasible]).all()
        assert np.flatnonzero(found == found.max()).tolist() == model.best_nodes(number, placement).tolist()
        assert (placement.used == used).all()


def test_totals_of_a_pod_that_fits_nowhere() -> None:
    """All -1."""
    columns = columns_of(cluster(node("a", cpu="1"), pod("big-0", cpu="2")))
    assert SchedulerModel(columns).totals(0, Placement(columns)).tolist() == [-1]
    assert SchedulerModel(columns, arithmetic=None).totals(0, Placement(columns)).tolist() == [-1]
