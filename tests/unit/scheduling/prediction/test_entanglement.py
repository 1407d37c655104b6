"""Which pods planners may treat by resources alone."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.objects.constraints import PodAffinityTerm, TopologySpreadConstraint, Volume
from rescheduler.model.objects.storage import CsiNode
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import cluster, node, pod, selector
from tests.unit.scheduling.volumes import LATER, claim, user, volume

HOST = "kubernetes.io/hostname"
TO_X = (PodAffinityTerm(HOST, selector(app="x")),)
TO_A = (PodAffinityTerm(HOST, selector(app="a")),)
HARD = (TopologySpreadConstraint(HOST, 1, selector=selector(app="x")),)
SOFT = (TopologySpreadConstraint(HOST, 1, "ScheduleAnyway", selector(app="x")),)


@pytest.mark.parametrize(
    ("x", "a", "depends"),
    [
        ({}, {}, False),
        ({"anti_affinity": TO_A}, {}, True),
        ({"anti_affinity": TO_X}, {}, False),
        ({"affinity": TO_A}, {}, True),
        ({}, {"anti_affinity": TO_X}, True),
        ({}, {"affinity": TO_X}, False),
        ({"topology_spread": HARD}, {}, True),
        ({"topology_spread": SOFT}, {}, False),
        ({}, {"topology_spread": HARD}, False),
        ({"ports": [80]}, {}, False),
        ({"ports": [80]}, {"ports": [80]}, True),
        ({"ports": [80]}, {"ports": [81]}, False),
        ({"volumes": (Volume("RBD", identity="d"),)}, {}, True),
        ({"volumes": (Volume("EmptyDir"),)}, {}, False),
    ],
)
def test_a_pod_is_tied_where_others_decide_about_it(x: dict[str, Any], a: dict[str, Any], depends: bool) -> None:
    """Beyond resources, by whatever rule; itself it does not bind."""
    columns = columns_of(cluster(node("n1"), pod("x", **x), pod("a", node="n1", **a)))
    model = SchedulerModel(columns)
    number = columns.pod_index["default/x"]
    assert model.is_entangled(number) == depends


@pytest.mark.parametrize(
    ("fields", "is_limited", "expected"),
    [({}, False, False), ({}, True, True), ({"access_modes": ("ReadWriteOncePod",)}, False, True)],
)
def test_claims_tie_by_limits_and_one_pod_access(fields: dict[str, Any], is_limited: bool, expected: bool) -> None:
    """An ordinary claim binds to nodes only."""
    limits = (CsiNode("n1", (("csi.example.com", 5),)),) if is_limited else ()
    world = cluster(
        node("n1"), user("x", "c"), claims=(claim("c", "v", **fields),), volumes=(volume("v"),),
        storage_classes=(LATER,), csi_nodes=limits,
    )  # fmt: skip
    model = SchedulerModel(columns_of(world))
    assert model.is_entangled(0) == expected
