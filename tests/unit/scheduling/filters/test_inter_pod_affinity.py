"""Affinity between pods, both ways, with its namespaces and the exception for the first of a group."""

from __future__ import annotations

import pytest

from rescheduler.model.objects.constraints import LabelSelector, PodAffinityTerm, Requirement
from rescheduler.model.objects.workload import Namespace
from rescheduler.scheduling.filters.inter_pod_affinity import InterPodAffinity
from tests.builders import NOW, cluster, node, pod, selector
from tests.unit.scheduling.asking import refused, rejections

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
NODES = (node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b"), node("n4"))
NOT_NEAR = ("node(s) didn't match pod affinity rules",)
NOT_FAR = ("node(s) didn't match pod anti-affinity rules",)
NOT_WELCOME = ("node(s) didn't satisfy existing pods anti-affinity rules",)
RULE = InterPodAffinity()


def to(app: str, key: str = ZONE) -> tuple[PodAffinityTerm, ...]:
    """One term about the pods of an app."""
    return (PodAffinityTerm(key, selector(app=app)),)


def test_affinity_needs_a_matching_pod_in_the_domain() -> None:
    """A node without the key shares no domain with anyone, and evictions cannot bring a pod closer."""
    world = cluster(*NODES, pod("db-1", node="n1"), pod("x", affinity=to("db")))
    assert refused(RULE, world) == {"n3": NOT_NEAR, "n4": NOT_NEAR}
    assert not any(rejection.is_resolvable for rejection in rejections(RULE, world, "x"))


def test_one_pod_must_match_all_affinity_terms_together() -> None:
    """Two pods that match one term each do not count; with one that matches both, each key is looked at by itself."""
    terms = (PodAffinityTerm(ZONE, selector(app="db")), PodAffinityTerm(HOST, selector(tier="hot")))
    apart = [pod("db-1", node="n1", labels={"app": "db"}), pod("db-2", node="n2", labels={"tier": "hot"})]
    assert sorted(refused(RULE, cluster(*NODES, *apart, pod("x", affinity=terms)))) == ["n1", "n2", "n3", "n4"]
    both = pod("db-3", node="n2", labels={"app": "db", "tier": "hot"})
    assert sorted(refused(RULE, cluster(*NODES, *apart, both, pod("x", affinity=terms)))) == ["n1", "n3", "n4"]


def test_the_first_of_a_group_that_attracts_itself_may_go_wherever_the_keys_exist() -> None:
    """Only if nothing matches anywhere, and only if it matches its own terms."""
    alone = cluster(*NODES, pod("x", labels={"app": "x"}, affinity=to("x")))
    assert refused(RULE, alone) == {"n4": NOT_NEAR}
    follower = cluster(*NODES, pod("x", labels={"app": "y"}, affinity=to("x")))
    assert sorted(refused(RULE, follower)) == ["n1", "n2", "n3", "n4"]
    second = cluster(
        *NODES, pod("x-1", node="n3", labels={"app": "x"}), pod("x", labels={"app": "x"}, affinity=to("x"))
    )
    assert sorted(refused(RULE, second)) == ["n1", "n2", "n4"]


def test_a_match_on_a_node_without_the_key_does_not_end_the_exception() -> None:
    """The scheduler counts matches by domain, and such a node has none."""
    world = cluster(*NODES, pod("x-1", node="n4", labels={"app": "x"}), pod("x", labels={"app": "x"}, affinity=to("x")))
    assert refused(RULE, world) == {"n4": NOT_NEAR}


def test_a_moved_pod_is_the_first_of_its_group_again() -> None:
    """Its own copies neither attract it nor repel it."""
    lonely = pod("x", node="n1", labels={"app": "x"}, affinity=to("x"), anti_affinity=to("x"))
    assert refused(RULE, cluster(*NODES, lonely)) == {"n4": NOT_NEAR}
    assert refused(RULE, cluster(*NODES, lonely), moves={"x": "n3"}) == {"n4": NOT_NEAR}


def test_anti_affinity_forbids_the_domains_of_matching_pods() -> None:
    """A node without the key passes, and evicting the others could help."""
    world = cluster(*NODES, pod("db-1", node="n1"), pod("x", anti_affinity=to("db")))
    assert refused(RULE, world) == {"n1": NOT_FAR, "n2": NOT_FAR}
    assert all(rejection.is_resolvable for rejection in rejections(RULE, world, "x"))


def test_anti_affinity_of_existing_pods_binds_the_incoming_one() -> None:
    """A pod without any terms is kept out by those who do not want it."""
    world = cluster(*NODES, pod("db-1", node="n1", anti_affinity=to("x")), pod("x"))
    assert refused(RULE, world) == {"n1": NOT_WELCOME, "n2": NOT_WELCOME}


def test_a_node_is_refused_for_the_first_reason_only() -> None:
    """Affinity, then the pod's anti-affinity, then that of others."""
    both_ways = pod("db-1", node="n1", anti_affinity=to("x"))
    world = cluster(*NODES, both_ways, pod("x", affinity=to("none"), anti_affinity=to("db")))
    assert set(refused(RULE, world).values()) == {NOT_NEAR}
    world = cluster(*NODES, both_ways, pod("x", anti_affinity=to("db", HOST)))
    assert refused(RULE, world) == {"n1": NOT_FAR, "n2": NOT_WELCOME}


@pytest.mark.parametrize(
    ("fields", "seen"),
    [
        ({}, {"default"}),
        ({"namespaces": ("other",)}, {"other"}),
        ({"namespace_selector": LabelSelector()}, {"default", "other", "third"}),
        ({"namespace_selector": selector(team="t")}, {"other"}),
        ({"namespace_selector": selector(team="t"), "namespaces": ("third",)}, {"other", "third"}),
        ({"namespace_selector": selector(**{"kubernetes.io/metadata.name": "third"})}, {"third"}),
        ({"namespace_selector": LabelSelector((Requirement("team", "DoesNotExist"),))}, {"default", "third"}),
    ],
)
@pytest.mark.parametrize("is_mine", [True, False])
def test_terms_look_at_their_namespaces(fields: dict[str, object], seen: set[str], is_mine: bool) -> None:
    """By name, by selector, or both; absent fields mean the holder's own; a namespace always has its name as label."""
    for namespace in ("default", "other", "third"):
        terms = (PodAffinityTerm(HOST, selector(app="a"), **fields),)  # type: ignore[arg-type]
        holder = pod("x", anti_affinity=terms, labels={}, node=None if is_mine else "n1")
        other = pod("a-1", namespace=namespace, node="n1" if is_mine else None)
        world = cluster(*NODES, holder, other, namespaces=(Namespace("other", {"team": "t"}), Namespace("default")))
        if is_mine:
            found = refused(RULE, world)
        elif namespace == "default":
            found = refused(RULE, world, pod="a-1")
        else:
            continue
        assert sorted(found) == (["n1"] if namespace in seen else []), namespace


def test_an_absent_selector_selects_nothing_and_an_empty_one_everything() -> None:
    """As in every label selector of the API."""
    for chosen, names in ((None, []), (LabelSelector(), ["n1"])):
        world = cluster(*NODES, pod("db-1", node="n1"), pod("x", anti_affinity=(PodAffinityTerm(HOST, chosen),)))
        assert sorted(refused(RULE, world)) == names


def test_terminating_pods_count_and_pending_or_finished_ones_do_not() -> None:
    """A pod counts as long as it is on a node."""
    for other, names in (
        (pod("db-1", node="n1", deletion_at=NOW), ["n1"]),
        (pod("db-1"), []),
        (pod("db-1", node="n1", phase="Failed"), []),
        (pod("db-1", node="gone"), []),
    ):
        world = cluster(*NODES, other, pod("x", anti_affinity=to("db", HOST)))
        assert sorted(refused(RULE, world)) == names


def test_a_moving_pod_repels_at_both_ends() -> None:
    """Its old copy is there until the wave ends."""
    world = cluster(*NODES, pod("db-1", node="n1", anti_affinity=to("x", HOST)), pod("x"))
    assert sorted(refused(RULE, world, moves={"db-1": "n3"})) == ["n1", "n3"]


def test_a_term_that_selects_very_many_label_sets_is_found_too() -> None:
    """Broad selectors are looked up another way than narrow ones, with the same answer."""
    crowd = [pod(f"p{number}", labels={"name": str(number)}) for number in range(300)]
    everyone = (PodAffinityTerm(HOST, LabelSelector((Requirement("name", "Exists"),))),)
    world = cluster(*NODES, *crowd, pod("x", node="n1", anti_affinity=everyone, labels={}))
    assert refused(RULE, world, pod="p7") == {"n1": NOT_WELCOME}
    assert refused(RULE, world) == {}
