"""Tests of topology spread."""

from __future__ import annotations

from typing import Any

from rescheduler.model.objects.constraints import LabelSelector, Toleration, TopologySpreadConstraint
from tests.builders import NOW, cluster, node, pod, selector, taint
from tests.unit.checker.cases import broken, move, place, plan

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
UNEVEN = {"PodTopologySpread"}
NODES = (node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b"), node("x1"))


def even(key: str = ZONE, skew: int = 1, **fields: Any) -> dict[str, Any]:
    """A hard constraint over the pods of ``web``."""
    return {"topology_spread": (TopologySpreadConstraint(key, skew, **{"selector": selector(app="web"), **fields}),)}


def on(*names: str, **fields: Any) -> list[Any]:
    """Running pods of ``web`` on these nodes."""
    return [pod(f"web-{number}", node=name, **fields) for number, name in enumerate(names)]


def placed(target: str, *objects: Any, **fields: Any) -> set[str]:
    """What placing one more pod of ``web`` breaks."""
    return broken(cluster(*NODES, *objects, pod("web-9", **fields)), plan(place("web-9", target)))


def test_the_skew_with_the_new_pod_must_not_exceed_the_limit() -> None:
    """One in zone a: a second there is one too many, unless the limit is 2."""
    assert placed("a2", *on("a1"), **even()) == UNEVEN
    assert placed("b1", *on("a1"), **even()) == set()
    assert placed("a2", *on("a1"), **even(skew=2)) == set()


def test_soft_constraints_bind_nobody() -> None:
    """ScheduleAnyway is a wish."""
    assert placed("a2", *on("a1"), **even(when_unsatisfiable="ScheduleAnyway")) == set()


def test_the_node_must_carry_the_key() -> None:
    """A node without a zone takes no pod that is spread over zones."""
    assert placed("x1", **even()) == UNEVEN


def test_nodes_without_all_keys_and_terminating_pods_do_not_count() -> None:
    """x1 has no zone: its host is no domain either; a terminating pod is not counted."""
    both = {"topology_spread": (*even()["topology_spread"], *even(HOST, 1)["topology_spread"])}
    assert placed("b1", *on("a1", "x1"), **both) == set()
    assert placed("a2", *on("a1", deletion_at=NOW), **even()) == set()


def test_too_few_domains_count_as_an_empty_one() -> None:
    """minDomains 3 of two zones: the least is 0."""
    assert placed("b1", *on("a1", "b1"), **even(min_domains=3)) == UNEVEN
    assert placed("b1", *on("a1", "b1"), **even(min_domains=3, skew=2)) == set()
    assert placed("b1", *on("a1", "b1"), **even(min_domains=2)) == set()


def test_only_pods_of_the_own_namespace_that_match_are_counted() -> None:
    """Others may crowd a zone as they like."""
    others = [pod("api-0", node="a1"), pod("web-1", node="a2", namespace="other")]
    assert placed("a1", *others, **even()) == set()


def test_match_label_keys_narrow_the_selector_to_the_own_value() -> None:
    """Pods of another revision do not count; a key that the pod lacks is left out."""
    old = on("a1", labels={"app": "web", "rev": "1"})
    keys = even(match_label_keys=("rev",))
    assert placed("a2", *old, labels={"app": "web", "rev": "2"}, **keys) == set()
    assert placed("a2", *old, labels={"app": "web", "rev": "1"}, **keys) == UNEVEN
    assert placed("a2", *old, labels={"app": "web"}, **keys) == UNEVEN


def test_absent_and_empty_selectors_count_nobody_but_the_empty_one_counts_the_pod_itself() -> None:
    """Null: 0 + 0. Empty: 0 + 1, which a skew of 0 would not allow."""
    assert placed("a1", *on("a1", "a2"), **even(selector=None, skew=1)) == set()
    assert placed("a1", *on("a1", "a2"), **even(selector=LabelSelector(), skew=1)) == set()
    assert placed("a1", **even(selector=LabelSelector(), skew=0)) == UNEVEN
    assert placed("a1", **even(selector=None, skew=0)) == set()


def test_node_affinity_of_the_pod_narrows_the_domains_unless_ignored() -> None:
    """With zone b out of reach, zone a is alone and even."""
    only_a = {"node_selector": ((ZONE, "a"),)}
    assert placed("a2", *on("a1"), **only_a, **even()) == set()
    assert placed("a2", *on("a1"), **only_a, **even(honors_node_affinity=False)) == UNEVEN


def test_tainted_nodes_count_unless_taints_are_honoured() -> None:
    """Zone c is tainted and empty: it lowers the least, except for pods that honour taints and do not tolerate it."""
    nodes = (*NODES, node("c1", zone="c", taints=[taint("t")]))

    def breaks(**fields: Any) -> set[str]:
        return broken(cluster(*nodes, *on("a1", "b1"), pod("web-9", **fields)), plan(place("web-9", "a2")))

    assert breaks(**even()) == UNEVEN
    assert breaks(**even(honors_node_taints=True)) == set()
    assert breaks(tolerations=(Toleration("t", "Exists"),), **even(honors_node_taints=True)) == UNEVEN


def test_the_old_copy_does_not_count_against_a_move() -> None:
    """From a1 to a2 within one zone nothing changes; from the crowded zone to the other it gets better."""
    world = cluster(*NODES, *on("a1", "b1", **even()))
    assert broken(world, plan(move("web-0", "a1", "a2"))) == set()
    assert broken(world, plan(move("web-0", "a1", "b1"))) == UNEVEN


def test_leavers_count_at_their_origin_until_the_wave_ends() -> None:
    """One more may come to zone a only once the other has left it for good."""
    world = cluster(*NODES, *on("a1", "b1", **even()), pod("web-9", **even()))
    assert broken(world, plan(place("web-9", "a2"))) == set()
    crowded = cluster(*NODES, *on("a1", "a2", "b1"), pod("web-9", **even()))
    assert broken(crowded, plan(place("web-9", "a1"))) == UNEVEN
    assert broken(crowded, plan(move("web-0", "a1", "b1"), place("web-9", "a1", 1))) == set()


def test_arrivals_of_one_wave_are_judged_in_the_worst_order() -> None:
    """Those in the same domain have come; those that would raise the least have not."""
    nodes = (node("a1", zone="a"), node("b1", zone="b"), node("x1"))
    world = cluster(*nodes, *on("x1", "x1", "x1", **even()))
    both = (move("web-0", "x1", "a1"), move("web-1", "x1", "b1"))
    assert broken(world, plan(*both)) == set()
    assert broken(world, plan(*both, move("web-2", "x1", "a1"))) == UNEVEN
    assert broken(world, plan(*both, move("web-2", "x1", "a1", 2))) == set()


def test_pending_pods_of_one_wave_come_one_after_the_other() -> None:
    """Three over two zones: two of them in one zone fit when the third comes in between, however they are listed."""
    world = cluster(*NODES, *(pod(f"web-{number}", **even()) for number in range(3)))
    assert broken(world, plan(place("web-0", "a1"), place("web-1", "a2"), place("web-2", "b1"))) == set()
    assert broken(world, plan(place("web-0", "a1"), place("web-1", "a2"), place("web-2", "a1"))) == UNEVEN


def test_an_arrival_that_does_not_match_its_own_selector_adds_nothing() -> None:
    """Self counts 0 then."""
    stranger = cluster(*NODES, *on("a1"), pod("new-0", **even()))
    assert broken(stranger, plan(place("new-0", "a2"))) == set()


def test_a_pod_from_a_node_outside_of_all_domains_is_one_more() -> None:
    """Its old copy was counted nowhere."""
    world = cluster(*NODES, *on("x1", "a1", **even()))
    assert broken(world, plan(move("web-0", "x1", "b1"))) == set()
    assert broken(world, plan(move("web-0", "x1", "a2"))) == UNEVEN
