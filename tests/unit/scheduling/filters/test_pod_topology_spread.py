"""DoNotSchedule spread constraints: skew, least domain, policies and selectors."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.objects.constraints import LabelSelector, TopologySpreadConstraint
from rescheduler.scheduling.filters.pod_topology_spread import PodTopologySpread
from tests.builders import NOW, cluster, node, pod, selector, taint
from tests.unit.scheduling.asking import refused, rejections

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
RULE = PodTopologySpread()
UNEVEN = ("node(s) didn't match pod topology spread constraints",)
UNLABELLED = ("node(s) didn't match pod topology spread constraints (missing required label)",)
NODES = (node("n1", zone="a"), node("n2", zone="b"), node("n3", zone="c"))
WEB = {"app": "web"}


def spread(skew: int = 1, key: str = ZONE, **fields: Any) -> tuple[TopologySpreadConstraint, ...]:
    """One hard constraint over the app's pods."""
    return (TopologySpreadConstraint(key, skew, **{"selector": selector(app="web"), **fields}),)


def webs(*nodes: str) -> list[Any]:
    """Pods of the app on these nodes."""
    return [pod(f"web-{number}", node=name) for number, name in enumerate(nodes)]


def new(*constraints: TopologySpreadConstraint, **fields: Any) -> Any:
    """The incoming pod."""
    return pod("x", **{"labels": WEB, "topology_spread": constraints, **fields})


def test_a_domain_may_exceed_the_least_one_by_the_skew() -> None:
    """Counted with the pod there: two more than nobody is too many for a skew of 1."""
    world = cluster(*NODES, *webs("n1", "n2"), new(*spread()))
    assert refused(RULE, world) == {"n1": UNEVEN, "n2": UNEVEN}
    assert all(rejection.is_resolvable for rejection in rejections(RULE, world, "x"))
    assert refused(RULE, cluster(*NODES, *webs("n1", "n2"), new(*spread(2)))) == {}


def test_a_pod_that_does_not_match_its_own_selector_adds_nothing() -> None:
    """Then only the pods that are there count."""
    world = cluster(*NODES, *webs("n1", "n2"), new(*spread(), labels={}))
    assert refused(RULE, world) == {}


def test_a_node_without_the_key_is_refused_for_good() -> None:
    """No eviction gives it the label; its pods count nowhere."""
    bare = node("n4")
    world = cluster(*NODES, bare, *webs("n4", "n4"), new(*spread()))
    assert refused(RULE, world) == {"n4": UNLABELLED}
    assert not any(rejection.is_resolvable for rejection in rejections(RULE, world, "x"))


def test_only_nodes_with_all_keys_count() -> None:
    """A zone whose nodes lack another constraint's key is no domain, and its pods do not count."""
    rack = (node("n1", zone="a", labels={"rack": "1"}), node("n2", zone="b"))
    constraints = (*spread(), *spread(5, "rack"))
    world = cluster(*rack, *webs("n1", "n2"), new(*constraints))
    assert refused(RULE, world) == {"n2": UNLABELLED}


def test_the_first_constraint_that_fails_gives_the_reason() -> None:
    """A node that is too full for one and lacks the key of the next is refused for the first alone."""
    nodes = (
        node("n1", zone="a"),
        node("n2", zone="b", labels={"rack": "1"}),
        node("n3", zone="a", labels={"rack": "1"}),
    )
    constraints = (*spread(), *spread(5, "rack"))
    assert refused(RULE, cluster(*nodes, *webs("n3"), new(*constraints))) == {"n1": UNEVEN, "n3": UNEVEN}


@pytest.mark.parametrize(("min_domains", "names"), [(1, []), (3, []), (4, ["n1", "n2", "n3"])])
def test_with_fewer_domains_than_wanted_the_least_counts_as_zero(min_domains: int, names: list[str]) -> None:
    """So that new domains are waited for."""
    world = cluster(*NODES, *webs("n1", "n2", "n3"), new(*spread(min_domains=min_domains)))
    assert sorted(refused(RULE, world)) == names


def test_the_node_affinity_policy_decides_whose_domains_count() -> None:
    """Honoured by default: nodes that the pod may not use neither hold the least domain nor count."""
    nodes = (*NODES[:2], node("n3", zone="c", labels={"disk": "hdd"}))
    asked = {"node_selector": (("disk", "ssd"),)}
    honoured = cluster(
        *(node(n.name, labels={**n.labels, "disk": "ssd"}) for n in nodes[:2]),
        nodes[2],
        *webs("n1", "n2"),
        new(*spread(), **asked),
    )
    assert refused(RULE, honoured) == {}
    ignored = cluster(*honoured.nodes, *webs("n1", "n2"), new(*spread(honors_node_affinity=False), **asked))
    assert sorted(refused(RULE, ignored)) == ["n1", "n2"]


def test_the_node_taints_policy_decides_whether_tainted_nodes_count() -> None:
    """Ignored by default: an empty tainted zone is the least domain."""
    nodes = (*NODES[:2], node("n3", zone="c", taints=[taint("k")]))
    assert sorted(refused(RULE, cluster(*nodes, *webs("n1", "n2"), new(*spread())))) == ["n1", "n2"]
    assert refused(RULE, cluster(*nodes, *webs("n1", "n2"), new(*spread(honors_node_taints=True)))) == {}


def test_nodes_that_take_no_pods_count_all_the_same() -> None:
    """Cordoned or not ready, a node is in its domain."""
    nodes = (*NODES[:2], node("n3", zone="c", is_unschedulable=True, is_ready=False))
    assert sorted(refused(RULE, cluster(*nodes, *webs("n1", "n2"), new(*spread())))) == ["n1", "n2"]


def test_a_domain_on_no_counted_node_is_empty_but_is_not_the_least() -> None:
    """A node outside the policies may be refused or not by its own domain's count of none."""
    nodes = (NODES[0], node("n2", zone="b", taints=[taint("k")]))
    world = cluster(*nodes, *webs("n1", "n1", "n2"), new(*spread(honors_node_taints=True)))
    assert refused(RULE, world) == {}


def test_match_label_keys_narrow_the_selector_to_the_pods_own_values() -> None:
    """A key that the pod lacks is passed over."""
    old = [pod("web-1", node="n1", labels={**WEB, "rev": "1"}), pod("web-2", node="n2", labels={**WEB, "rev": "1"})]
    keyed = spread(match_label_keys=("rev", "absent"))
    assert refused(RULE, cluster(*NODES, *old, new(*keyed, labels={**WEB, "rev": "2"}))) == {}
    assert sorted(refused(RULE, cluster(*NODES, *old, new(*keyed, labels={**WEB, "rev": "1"})))) == ["n1", "n2"]


def test_an_absent_selector_counts_nothing_and_an_empty_one_only_the_pod_itself() -> None:
    """Neither makes any node uneven with a skew of 1; matchLabelKeys do not revive an absent one."""
    for chosen in (None, LabelSelector()):
        constraints = spread(selector=chosen)
        assert refused(RULE, cluster(*NODES, *webs("n1", "n1"), new(*constraints))) == {}
    keyed = spread(selector=None, match_label_keys=("app",))
    assert refused(RULE, cluster(*NODES, *webs("n1", "n1"), new(*keyed))) == {}
    keyed = spread(selector=LabelSelector(), match_label_keys=("app",))
    assert sorted(refused(RULE, cluster(*NODES, *webs("n1"), new(*keyed)))) == ["n1"]


def test_terminating_pods_and_other_namespaces_do_not_count() -> None:
    """Spread alone passes over terminating pods."""
    leaving = pod("web-1", node="n1", deletion_at=NOW)
    elsewhere = pod("web-2", node="n1", namespace="other")
    assert refused(RULE, cluster(*NODES, leaving, elsewhere, new(*spread()))) == {}


def test_a_moving_pod_counts_at_both_ends_but_not_for_itself() -> None:
    """A replica that moves makes its new domain fuller at once, and its old one emptier only after the wave."""
    world = cluster(*NODES, *webs("n1", "n2"), new(*spread()))
    assert sorted(refused(RULE, world, moves={"web-0": "n3"})) == []
    mover = cluster(*NODES, *webs("n2", "n3"), new(*spread(), node="n1"))
    assert sorted(refused(RULE, mover)) == ["n2", "n3"]
    assert sorted(refused(RULE, mover, moves={"x": "n2"})) == ["n2", "n3"]


def test_preferences_refuse_nothing() -> None:
    """ScheduleAnyway is a matter of scores."""
    assert refused(RULE, cluster(*NODES, *webs("n1", "n1"), new(*spread(when_unsatisfiable="ScheduleAnyway")))) == {}
