"""What to add where no rearrangement helps: enough is enough, and fewer than the least never help all."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, assume, given, settings

from rescheduler.model.objects.constraints import PodAffinityTerm
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.model.plan.plan import Status
from tests.builders import cluster, node, pod, selector, taint
from tests.unit.planning.asked import plan_make_room
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.planning_requests import request_of
from tests.unit.planning.tiny import request_for, tiny_clusters

HOST = "kubernetes.io/hostname"


def test_the_smallest_shape_that_works_is_named_with_a_number() -> None:
    """Two pods of 3 cores need two nodes of 4 cores; the larger shape is not asked for."""
    state = cluster(
        node("big", cpu="8"), node("small", cpu="4"), pod("a-1", cpu="8", node="big"),
        pod("b-1", cpu="4", node="small"), pod("x-1", cpu="3"), pod("x-2", cpu="3"),
    )  # fmt: skip
    answer = plan_make_room(request_of(state))
    assert answer.status is Status.INFEASIBLE
    assert answer.certificate is not None
    assert answer.certificate["addNodes"] == {
        "count": 2, "enough": 2, "helps": 2, "example": "small",
        "shape": {"cpu": "4", "memory": "16Gi", "pods": "110"},
    }  # fmt: skip
    assert "2 more nodes like small (4 cpu, 16Gi memory) would help 2 pods" in answer.message


def test_only_shapes_that_let_the_pods_in_are_named() -> None:
    """A tainted node is no example for a pod that does not tolerate it, though it is smaller."""
    state = cluster(
        node("large", cpu="8"), node("tainted", cpu="4", taints=[taint("gpu")]), pod("a-1", cpu="8", node="large"),
        pod("x-1", cpu="3"),
    )  # fmt: skip
    answer = plan_make_room(request_of(state, fixed=["a-1"]))
    assert answer.certificate is not None
    assert answer.certificate["addNodes"]["example"] == "large"


def test_pods_that_come_with_every_node_take_their_share_of_a_new_one() -> None:
    """A new node is not empty: the pods of DaemonSets are there first."""
    state = cluster(
        node("n1", cpu="4"), pod("ds-1", cpu="1", node="n1", kind="DaemonSet"), pod("a-1", cpu="3", node="n1"),
        pod("x-1", cpu="2"), pod("x-2", cpu="2"),
    )  # fmt: skip
    answer = plan_make_room(request_of(state, fixed=["ds-1"]))
    assert answer.certificate is not None
    assert answer.certificate["addNodes"]["count"] == 2


def test_a_pod_larger_than_every_node_says_what_a_node_needs() -> None:
    """No shape there is will do, so the size is told in place of an example."""
    answer = plan_make_room(request_of(cluster(node("n1"), pod("a-1", node="n1"), pod("x-1", cpu="9", memory="2Gi"))))
    assert answer.certificate is not None
    assert answer.certificate["largerThanEveryNode"] == {"cpu": "9", "memory": "2Gi"}
    assert "addNodes" not in answer.certificate
    assert "a node needs 9 cpu, 2Gi memory" in answer.message


def test_a_pod_that_names_its_node_is_not_helped_by_a_new_one() -> None:
    """A node of the same shape has another name."""
    state = cluster(
        node("n1", cpu="4"), pod("a-1", cpu="4", node="n1"), pod("x-1", cpu="2", node_selector=((HOST, "n1"),))
    )
    answer = plan_make_room(request_of(state))
    assert answer.status is Status.INFEASIBLE
    assert "addNodes" not in (answer.certificate or {})


def test_pods_that_keep_apart_need_a_node_each() -> None:
    """Room alone would let both pods on one new node."""
    apart = (PodAffinityTerm(HOST, selector(app="x")),)
    state = cluster(
        node("n1", cpu="8"),
        pod("a-1", cpu="8", node="n1"),
        *(pod(f"x-{n}", cpu="1", anti_affinity=apart) for n in range(2)),
    )
    answer = plan_make_room(request_of(state, fixed=["a-1"]))
    assert answer.certificate is not None
    assert (answer.certificate["addNodes"]["count"], answer.certificate["addNodes"]["enough"]) == (1, 2)


def test_a_limit_that_binds_asks_for_no_node() -> None:
    """More evictions would help, so nothing needs to be bought."""
    state = cluster(
        node("n1", cpu="4"), node("n2", cpu="4"), *(pod(f"a-{n}", cpu="1", node="n1") for n in range(2)),
        *(pod(f"b-{n}", cpu="1", node="n2") for n in range(2)), pod("x-1", cpu="4"),
    )  # fmt: skip
    answer = plan_make_room(request_of(state, limits=MoveLimits(max_evictions=1)))
    assert answer.binding_limits
    assert answer.certificate is None or "addNodes" not in answer.certificate


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters(most_running=4, most_pending=3, least_pending=2))
def test_enough_nodes_help_and_fewer_than_the_least_do_not(tiny: TinyCluster) -> None:
    """With that many nodes like the example all the named pods are helped; with one fewer than the least, not all."""
    tiny = replace(tiny, max_evictions=None)
    answer = plan_make_room(request_for(tiny))
    added = (answer.certificate or {}).get("addNodes", {})
    assume(added and added["helps"] == answer.wanted - answer.helped)
    like = tiny.nodes[int(added["example"][1:])]
    spreads = any(item.spreads for item in tiny.pods if item.node is None)

    def helped_with(number: int) -> int:
        return plan_make_room(request_for(replace(tiny, nodes=(*tiny.nodes, *[like] * number)))).helped

    assert spreads or helped_with(added["enough"]) == answer.wanted
    assert helped_with(added["count"] - 1) < answer.wanted
