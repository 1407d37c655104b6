"""One cycle with several objectives: their order, what each keeps of those before it, and what the plan says."""

from __future__ import annotations

from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan, Status
from rescheduler.policy.fields.policy import Objective, Policy
from tests.builders import cluster, node, pod, workload
from tests.clocks import FakeClock


def planned(world: Cluster, *objectives: Objective | str, **fields: object) -> Plan:
    """The plan for some objectives, in order, with a policy that lets everything move."""
    named = tuple(Objective(name=one) if isinstance(one, str) else one for one in objectives)  # type: ignore[arg-type]
    policy = Policy.model_validate({"objectives": named, "disruption": {"workloads": {"max_unavailable": 5}}, **fields})
    plan = make_plan(world, policy, CycleOptions(FakeClock()))
    assert not [text for text in plan.warnings if "checker" in text]
    return plan


def consolidated() -> Cluster:
    """Three nodes of which one can be emptied, and a pod that waits for a whole node."""
    return cluster(
        *(node(name, "4") for name in ("a", "b", "c")),
        *(pod(f"web-{number}", "1", node=where) for number, where in enumerate("aabbc")),
        workload("web", 5),
        pod("large-0", "4"),
    )


def moved(plan: Plan) -> list[tuple[str, str, int]]:
    """Pod, objective and wave of each move."""
    return [(move.pod.name, move.objective, move.wave) for move in plan.moves]


def test_an_emptied_node_is_not_filled_by_a_later_objective() -> None:
    """The pod that waits could use the emptied node, but to keep it empty comes first."""
    plan = planned(consolidated(), "EmptyNodes", "MakeRoom")
    first, second = plan.objectives
    assert (first.name, first.value, first.bound) == ("EmptyNodes", 1, 1)
    assert (second.name, second.helped, second.wanted) == ("MakeRoom", 0, 1)
    assert {objective for _, objective, _ in moved(plan)} == {"EmptyNodes"}


def test_the_order_decides() -> None:
    """To make room first takes the node that could have been emptied."""
    plan = planned(consolidated(), "MakeRoom", "EmptyNodes")
    first, second = plan.objectives
    assert (first.helped, first.value) == (1, 1)
    assert second.value == 0
    assert moved(plan) == [("web-4", "MakeRoom", 1)]
    assert [(place.pod.name, place.wave) for place in plan.placements] == [("large-0", 1)]


def test_later_moves_come_in_later_waves_and_share_the_limit() -> None:
    """What earlier objectives have spent is gone."""
    world = cluster(
        *(node(name, "4") for name in ("a", "b", "c", "d", "e")),
        pod("web-0", "2", node="a"),
        pod("web-1", "2", node="b"),
        pod("web-2", "1", node="c"),
        pod("web-3", "1", node="d"),
        pod("web-4", "1", node="e"),
        workload("web", 5),
        pod("large-0", "4"),
    )
    plan = planned(world, "MakeRoom", "EmptyNodes", limits={"max_evictions": 2})
    assert len(plan.moves) == 2
    assert [move.wave for move in plan.moves] == [1, 2]
    assert [move.objective for move in plan.moves] == ["MakeRoom", "EmptyNodes"]
    alone = planned(world, "MakeRoom", "EmptyNodes", limits={"max_evictions": 1})
    assert [move.objective for move in alone.moves] == ["MakeRoom"]


def test_pending_pods_that_fit_already_count_as_placed() -> None:
    """Without MakeRoom the scheduler lets them in all the same, so nodes are emptied around them."""
    world = cluster(
        node("a", "4"), node("b", "4"), pod("web-0", "3", node="a"), pod("web-1", "1", node="b"), workload("web", 2),
        pod("new-0", "1"), pod("new-1", "3"),
    )  # fmt: skip
    plan = planned(world, "EmptyNodes")
    assert {place.pod.name for place in plan.placements} == {"new-0", "new-1"}
    assert all(place.wave == 0 for place in plan.placements)
    assert plan.moves == ()


def test_a_gain_below_its_cost_moves_nobody_and_says_so() -> None:
    """With a move cost a node is emptied only if it is worth its evictions."""
    dear = planned(consolidated(), Objective(name="EmptyNodes", move_cost=5.0))
    assert dear.moves == ()
    assert "an eviction of ordinary price costs 5" in dear.objectives[0].message
    cheap = planned(consolidated(), Objective(name="EmptyNodes", move_cost=0.1))
    assert len(cheap.moves) == 1


def test_prices_decide_which_node_is_emptied() -> None:
    """The dear node is emptied though another one has fewer pods."""
    world = cluster(
        node("cheap", "4", labels={"node.kubernetes.io/instance-type": "small"}),
        node("dear", "4", labels={"node.kubernetes.io/instance-type": "large"}),
        node("c", "2", labels={"node.kubernetes.io/instance-type": "tiny"}),
        pod("web-0", "1", node="cheap"), pod("web-1", "1", node="dear"), pod("web-2", "1", node="dear"),
        pod("web-3", "1", node="c"), pod("web-4", "1", node="c"), workload("web", 5),
    )  # fmt: skip
    table = {"small": 1.0, "large": 3.5, "tiny": 0.1}
    plan = planned(world, Objective(name="EmptyNodes", args={"price": table}), limits={"max_evictions": 2})
    (result,) = plan.objectives
    assert (result.value, result.unit) == (3.5, "price")
    assert {move.from_node for move in plan.moves} == {"dear"}


def test_a_group_moves_whole_or_not_at_all() -> None:
    """Pods of one PodGroup stay where only some of them could leave."""
    for labels, moves in (({"app": "gang"}, 1), ({"app": "gang", "scheduling.x-k8s.io/pod-group": "one"}, 0)):
        world = cluster(
            node("a", "4"), node("b", "4"), node("c", "4"),
            pod("gang-0", "1", node="a", labels=labels), pod("gang-1", "3", node="b", labels=labels),
            pod("web-0", "2", node="c"), workload("gang", 2), workload("web", 1),
        )  # fmt: skip
        assert len(planned(world, "EmptyNodes", limits={"max_evictions": 1}).moves) == moves


def crowded() -> Cluster:
    """A hot node whose relief would fill one that could be emptied."""
    return cluster(
        node("hot", "10"), node("cool", "10"),
        *(pod(f"web-{number}", "2", node="hot") for number in range(4)), pod("db-0", "1", node="cool"),
        workload("web", 4), workload("db", 2), pod("db-1", "1", node="hot"),
    )  # fmt: skip


HALF = {"target": {"cpu": "50%"}}


def test_neighbours_with_weights_are_one_sum() -> None:
    """Of two goals that exclude each other the heavier one wins, and both say what became of them."""
    for weights, moves in (((100.0, 0.01), "SpreadLoad"), ((0.01, 100.0), "EmptyNodes")):
        load = Objective(name="SpreadLoad", args=HALF, weight=weights[0])
        nodes = Objective(name="EmptyNodes", weight=weights[1])
        plan = planned(crowded(), load, nodes)
        assert {move.objective for move in plan.moves} == {moves}
        assert {result.name for result in plan.objectives} == {"SpreadLoad", "EmptyNodes"}
        assert all("weight" in result.message for result in plan.objectives)


def test_a_weighted_goal_that_is_worth_nothing_costs_nothing() -> None:
    """Where no move helps either goal nobody moves."""
    world = cluster(node("a", "4"), node("b", "4"), pod("web-0", "1", node="a"), pod("web-1", "1", node="b"))
    plan = planned(
        world, Objective(name="SpreadLoad", args=HALF, weight=1.0), Objective(name="FaultDomains", weight=1.0)
    )
    assert plan.moves == ()


def test_what_was_separated_is_not_joined_again() -> None:
    """Emptying nodes comes second: it may not bring antagonists together."""
    foes = {"labels": {"app": "foe", "rescheduler.dev/antagonists": "x"}}
    world = cluster(
        node("a", "4"), node("b", "4"), node("c", "2"),
        pod("foe-0", "1", node="a", **foes), pod("foe-1", "1", node="b", **foes), workload("foe", 2),
        pod("web-0", "2", node="c"), workload("web", 1),
    )  # fmt: skip
    assert len(planned(world, "EmptyNodes").moves) == 1
    plan = planned(world, "SeparateAntagonists", "EmptyNodes")
    assert plan.moves == ()
    assert "would undo what comes before" in plan.objectives[1].message


def test_load_that_was_relieved_does_not_come_back() -> None:
    """A node may be emptied after the load was spread only if no other rises above the target for it."""
    plan = planned(crowded(), Objective(name="SpreadLoad", args=HALF), "EmptyNodes")
    spread, emptied = plan.objectives
    assert (spread.value, emptied.value) == (0, 0)
    assert {move.objective for move in plan.moves} == {"SpreadLoad"}


def test_what_pods_that_get_in_later_cost_an_earlier_objective_is_told() -> None:
    """Room for them was free for others before: the value is that of the whole plan, which the checker counts too."""
    world = cluster(
        node("n0", "4"), node("n1", "4"),
        *(pod(f"{app}-{number}", "1", node=f"n{number}") for app in "ab" for number in range(2)),
        workload("a", 2), workload("b", 2), pod("big", "3"),
    )  # fmt: skip
    plan = planned(world, Objective(name="Defragment", args={"shapes": [{"cpu": "1"}]}), "MakeRoom")
    free, room = plan.objectives
    assert (len(plan.moves), room.helped, room.status) == (1, 1, Status.OPTIMAL), plan.warnings
    assert (free.value, free.status) == (1, Status.FEASIBLE)
    assert free.message.endswith("1 once the pods that wait have the places that they get")
