"""What the planner of Defragment promises, case by case."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec.structs import replace as with_changes

from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.model.plan.plan import Refusal, Status
from rescheduler.planning.waves.scheduler_choice import close
from tests.builders import cluster, node, pod, taint
from tests.unit.planning.asked import plan_defragment
from tests.unit.planning.objectives.defragment.cases import answered, scattered
from tests.unit.planning.objectives.defragment.questions import moves_by_name, question, shape

GPU = "nvidia.com/gpu"


def test_one_move_joins_what_two_nodes_left_free() -> None:
    """A pod of 4 cores fits nowhere, and then once for one eviction each."""
    asked, answer = answered(scattered(), shape(cpu="4"))
    assert (answer.status, answer.value, answer.bound, answer.unit) == (Status.OPTIMAL, 2.0, 2.0, "pods")
    assert len(answer.moves) == 2
    assert "cpu 4: 0 -> 2" in answer.message
    assert "2 evictions" in answer.message
    assert "proven: no plan lets more fit" in answer.message
    assert len(set(moves_by_name(asked, answer).values())) == 1
    assert all(move.reason.endswith("for 1 more of cpu 4") for move in answer.moves)


def test_emptied_room_is_kept_closed() -> None:
    """Nodes that were left for a shape are named, so that later moves and replacements do not fill them."""
    asked, answer = answered(scattered(), shape(cpu="4"))
    left = {int(asked.placement.node_of[move.pod]) for move in answer.moves}
    assert set(answer.closes) == left


def test_fewest_evictions_come_second() -> None:
    """One large pod leaves rather than two small ones."""
    made = cluster(
        node("a", cpu="5"),
        node("b", cpu="8"),
        pod("small-0", cpu="1", node="a"),
        pod("small-1", cpu="1", node="a"),
        pod("large-0", cpu="2", node="a"),
        pod("other-0", cpu="6", node="b"),
    )
    asked, answer = answered(made, shape(cpu="3"))
    assert answer.value == 1
    assert moves_by_name(asked, answer) == {"large-0": "b"}


def test_eviction_limit_binds_and_is_named() -> None:
    """With one eviction one node is cleared, and more is not claimed to be impossible without the limit."""
    _, answer = answered(scattered(), shape(cpu="4"), limits=MoveLimits(max_evictions=1))
    assert (answer.value, answer.bound, len(answer.moves)) == (1.0, 1.0, 1)
    assert answer.status is Status.OPTIMAL


@pytest.mark.parametrize(
    "limits",
    [MoveLimits(max_evictions_per_node=0), MoveLimits(max_evictions_per_namespace=1), MoveLimits(max_evictions=0)],
)
def test_limits_on_nodes_and_namespaces_bind(limits: MoveLimits) -> None:
    """No limit is passed, whichever it is."""
    _, answer = answered(scattered(), shape(cpu="4"), limits=limits)
    most = 1 if limits.max_evictions_per_namespace else 0
    assert len(answer.moves) == most == answer.value


def test_extended_resources_count() -> None:
    """Single GPUs left on two nodes are joined so that a pod of two fits."""
    taints = [taint(GPU)]
    made = cluster(
        node("a", extended={GPU: "2"}),
        node("b", extended={GPU: "2"}),
        node("c", extended={GPU: "4"}, taints=taints),
        pod("train-0", node="a", extended={GPU: "1"}),
        pod("train-1", node="b", extended={GPU: "1"}),
    )
    asked, answer = answered(made, shape(gpu="2"))
    assert answer.value == 1 + 2
    assert len(moves_by_name(asked, answer)) == 1


def test_weights_decide_between_shapes() -> None:
    """The heavier shape wins where only one of two can have the room; the unit says that weights count."""
    made = cluster(
        node("a", cpu="4", memory="4Gi"),
        node("b", cpu="2", memory="8Gi"),
        pod("x-0", cpu="2", memory="2Gi", node="a"),
    )
    for weight in (1.0, 5.0):
        _, answer = answered(made, shape(cpu="4"), shape(weight=weight, cpu="2", memory="8Gi"))
        assert answer.value == max(1.0, weight)
        assert answer.unit == ("pods" if weight == 1 else "weighted pods")


def test_pods_that_must_stay_block_and_are_told() -> None:
    """Nodes where only pods that must stay are in the way are named, and refused by the rule that keeps the pods."""
    asked = question(scattered(), fixed=["web-0", "web-1", "web-2"])
    kept = {1: Refusal(rule="LocalStorage", message="default/web-1 has an emptyDir")}
    told = plan_defragment(replace(asked, eligibility=with_changes(asked.eligibility, refusals=kept)), [shape(cpu="4")])
    assert [(found.node, found.rule) for found in told.refusals] == [
        ("n0", "Eligibility"),
        ("n1", "LocalStorage"),
        ("n2", "Eligibility"),
    ]
    assert told.refusals[1].message == "no room for the shapes can be made on n1: default/web-1 has an emptyDir"
    _, answer = answered(scattered(), shape(cpu="4"), fixed=["web-0", "web-1", "web-2"])
    assert answer.moves == ()
    assert (answer.status, answer.value) == (Status.OPTIMAL, 0.0)
    assert "3 nodes hold too many pods that must stay (n0, n1, n2)" in answer.message


def test_nodes_left_out_for_their_taints_are_told() -> None:
    """A tainted node that could hold the shape is counted in the message, and never counted as room."""
    _, answer = answered(scattered(node("t", taints=[taint("special")])), shape(cpu="4"))
    assert "nodes left out for their taints: 1 for cpu 4" in answer.message


def test_shape_larger_than_every_node_and_unknown_resource() -> None:
    """Nothing can be done, and that is proven at once."""
    for wanted in (shape(cpu="400"), shape(gpu="1")):
        _, answer = answered(scattered(), wanted)
        assert (answer.status, answer.value, answer.bound, answer.moves) == (Status.OPTIMAL, 0.0, 0.0, ())


def test_odd_clusters_are_no_error() -> None:
    """No nodes, no pods, one node, no free room, and no shapes at all."""
    for made in (
        cluster(),
        cluster(node("a")),
        cluster(pod("p-0")),
        cluster(node("a", cpu="1"), pod("p-0", cpu="1", node="a")),
    ):
        _, answer = answered(made, shape(cpu="1"))
        assert answer.moves == ()
    assert plan_defragment(question(scattered()), ()).value == 0


def test_ten_shapes_at_once() -> None:
    """Each counted alone."""
    shapes = [shape(cpu=f"{cores}") for cores in range(1, 11)]
    _, answer = answered(scattered(node("big", cpu="16")), *shapes)
    assert answer.value >= sum(16 // cores for cores in range(1, 11))


def test_closed_nodes_neither_count_nor_receive() -> None:
    """A node without room, as earlier objectives leave it, is out of the question."""
    asked = question(scattered(node("spare", cpu="8")))
    number = asked.prediction.columns.node_index["spare"]
    placement = asked.placement.copy()
    close(placement, [number])
    asked, answer = answered(scattered(node("spare", cpu="8")), shape(cpu="4"), placement=placement)
    assert answer.value == 2
    assert number not in {move.to_node for move in answer.moves}


def test_price_of_moves_is_heeded() -> None:
    """Where one eviction costs more than one more pod is worth nothing moves."""
    _, cheap = answered(scattered(), shape(cpu="4"), move_cost=0.1)
    _, dear = answered(scattered(), shape(cpu="4"), move_cost=10.0)
    assert (cheap.value, len(cheap.moves)) == (2.0, 2)
    assert (dear.value, dear.moves) == (0.0, ())
    assert "more is not ruled out" in dear.message
