"""Tests of affinity and anti-affinity between pods."""

from __future__ import annotations

import pytest

from rescheduler.model.objects.constraints import LabelSelector, PodAffinityTerm, Requirement
from rescheduler.model.objects.workload import Namespace
from tests.builders import NOW, cluster, node, pod, selector
from tests.unit.checker.cases import broken, move, place, plan, reference

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
AWAY = {"InterPodAffinity"}
NODES = (node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b"), node("c1"))


def near(app: str, key: str = ZONE, **fields: object) -> PodAffinityTerm:
    """A term on pods of one app."""
    return PodAffinityTerm(key, selector(app=app), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(("target", "rules"), [("a1", AWAY), ("a2", AWAY), ("b1", set()), ("c1", set())])
def test_anti_affinity_closes_the_domain_of_a_match(target: str, rules: set[str]) -> None:
    """A node without the key is in no domain."""
    world = cluster(*NODES, pod("web-0", node="a1"), pod("new-0", anti_affinity=(near("web"),)))
    assert broken(world, plan(place("new-0", target))) == rules


@pytest.mark.parametrize(("target", "rules"), [("a1", AWAY), ("a2", AWAY), ("b1", set()), ("c1", set())])
def test_anti_affinity_of_standing_pods_binds_arrivals(target: str, rules: set[str]) -> None:
    """The other direction."""
    world = cluster(*NODES, pod("shy-0", node="a1", anti_affinity=(near("new"),)), pod("new-0"))
    assert broken(world, plan(place("new-0", target))) == rules


@pytest.mark.parametrize(("target", "rules"), [("a1", set()), ("a2", set()), ("b1", AWAY), ("c1", AWAY)])
def test_affinity_needs_a_match_in_the_domain(target: str, rules: set[str]) -> None:
    """And the key on the node."""
    world = cluster(*NODES, pod("web-0", node="a1"), pod("new-0", affinity=(near("web"),)))
    assert broken(world, plan(place("new-0", target))) == rules


def test_terminating_pods_count_for_affinity() -> None:
    """They hold their place until they are gone, in both directions."""
    going = pod("web-0", node="a1", deletion_at=NOW)
    assert broken(cluster(*NODES, going, pod("new-0", affinity=(near("web"),))), plan(place("new-0", "a2"))) == set()
    shy = cluster(*NODES, going, pod("new-0", anti_affinity=(near("web"),)))
    assert broken(shy, plan(place("new-0", "a2"))) == AWAY


def test_all_terms_of_an_affinity_are_matched_by_one_pod() -> None:
    """Two pods that match one term each are not enough."""
    terms = (near("web"), PodAffinityTerm(HOST, selector(tier="front")))
    apart = [pod("web-0", node="a1"), pod("x-0", node="a1", labels={"tier": "front"})]
    both = pod("y-0", node="a1", labels={"app": "web", "tier": "front"})
    new = pod("new-0", affinity=terms)
    assert broken(cluster(*NODES, *apart, new), plan(place("new-0", "a1"))) == AWAY
    assert broken(cluster(*NODES, both, new), plan(place("new-0", "a1"))) == set()
    assert broken(cluster(*NODES, both, new), plan(place("new-0", "a2"))) == AWAY


def test_the_first_of_its_kind_may_go_anywhere_with_the_key() -> None:
    """Only while nothing matches in the whole cluster, and only if it matches itself."""
    new = pod("web-9", affinity=(near("web"),))
    assert broken(cluster(*NODES, new), plan(place("web-9", "b1"))) == set()
    assert broken(cluster(*NODES, new), plan(place("web-9", "c1"))) == AWAY
    assert broken(cluster(*NODES, pod("web-0", node="a1"), new), plan(place("web-9", "b1"))) == AWAY
    outside = cluster(*NODES, pod("web-0", node="c1"), new)
    assert broken(outside, plan(place("web-9", "b1"))) == set()
    stranger = pod("new-0", affinity=(near("web"),))
    assert broken(cluster(*NODES, stranger), plan(place("new-0", "b1"))) == AWAY


def test_two_firsts_of_one_wave_must_be_near_each_other() -> None:
    """Whichever comes second is bound by the other."""
    pods = [pod("web-8", affinity=(near("web"),)), pod("web-9", affinity=(near("web"),))]
    world = cluster(*NODES, *pods)
    assert broken(world, plan(place("web-8", "a1"), place("web-9", "b1"))) == AWAY
    assert broken(world, plan(place("web-8", "a1"), place("web-9", "a2"))) == set()


def test_affinity_may_not_lean_on_another_arrival_of_its_wave() -> None:
    """In another order the friend is not there yet; a wave later it is."""
    pods = [pod("web-0", node="a1"), pod("db-0", node="b1", affinity=(near("web"),))]
    world = cluster(*NODES, *pods)
    together = plan(move("web-0", "a1", "b1", 1), move("db-0", "b1", "a2", 1))
    assert broken(world, together) == set()  # the friend counts at its origin until the wave ends
    follow = plan(move("web-0", "a1", "b1", 1), move("db-0", "b1", "a2", 2))
    assert broken(world, follow) == AWAY
    lean = cluster(
        *NODES, node("b2", zone="b"), pod("web-0", node="a1"), pod("db-0", node="a2", affinity=(near("web"),))
    )
    assert broken(lean, plan(move("web-0", "a1", "b1", 1), move("db-0", "a2", "b2", 1))) == AWAY
    assert broken(lean, plan(move("web-0", "a1", "b1", 1), move("db-0", "a2", "b2", 2))) == set()


def test_the_own_old_copy_neither_helps_nor_hinders() -> None:
    """A pod may move within the domain that it keeps its like from; it is not the friend that it needs itself."""
    shy = cluster(*NODES, pod("web-0", node="a1", anti_affinity=(near("web"),)))
    assert broken(shy, plan(move("web-0", "a1", "a2"))) == set()
    alone = cluster(*NODES, pod("web-0", node="a1", affinity=(near("web"),)))
    assert broken(alone, plan(move("web-0", "a1", "b1"))) == set()  # the first of its kind again
    needs = cluster(
        *NODES, pod("web-0", node="a1", labels={"app": "web", "x": "1"}, affinity=(near("web"), near("db")))
    )
    assert broken(needs, plan(move("web-0", "a1", "a2"))) == AWAY


def test_two_that_keep_apart_may_not_arrive_together_in_one_domain() -> None:
    """Neither by their own terms nor by the other's."""
    pods = [pod("web-0", node="a1", anti_affinity=(near("web", HOST),)), pod("web-1", node="a2")]
    world = cluster(*NODES, *pods)
    assert broken(world, plan(move("web-0", "a1", "b1"), move("web-1", "a2", "b1"))) == AWAY
    assert broken(world, plan(move("web-0", "a1", "b1"), move("web-1", "a2", "c1"))) == set()
    assert broken(world, plan(move("web-0", "a1", "a2"), move("web-1", "a2", "c1"))) == AWAY
    assert broken(world, plan(move("web-1", "a2", "c1", 1), move("web-0", "a1", "a2", 2))) == set()
    assert broken(world, plan(move("web-0", "a1", "b1", 1), move("web-1", "a2", "b1", 2))) == AWAY


EVERYWHERE = LabelSelector()
BLUE = LabelSelector((Requirement("team", "In", ("blue",)),))
NAMED = LabelSelector((Requirement("kubernetes.io/metadata.name", "In", ("other",)),))


@pytest.mark.parametrize(
    ("term", "rules"),
    [
        (near("web"), set()),
        (near("web", namespaces=("other",)), AWAY),
        (near("web", namespaces=("third",)), set()),
        (near("web", namespace_selector=EVERYWHERE), AWAY),
        (near("web", namespace_selector=BLUE), AWAY),
        (near("web", namespace_selector=NAMED), AWAY),
        (near("web", namespaces=("third",), namespace_selector=BLUE), AWAY),
        (near("web", namespace_selector=LabelSelector((Requirement("team", "In", ("red",)),))), set()),
        (PodAffinityTerm(ZONE, None, namespace_selector=EVERYWHERE), set()),
        (PodAffinityTerm(ZONE, LabelSelector(), namespace_selector=EVERYWHERE), AWAY),
    ],
)
def test_terms_look_at_the_namespaces_that_they_name_or_select(term: PodAffinityTerm, rules: set[str]) -> None:
    """Nothing said: the own namespace; an absent label selector matches nobody. In both directions alike."""
    spaces = (Namespace("other", {"team": "blue"}), Namespace("default"))
    ours = cluster(
        *NODES, pod("web-0", node="a1", namespace="other"), pod("new-0", anti_affinity=(term,)), namespaces=spaces
    )
    assert broken(ours, plan(place("new-0", "a2"))) == rules
    if not term.namespaces or "third" in term.namespaces:
        theirs = cluster(
            *NODES,
            pod("x-0", node="a1", labels={}, anti_affinity=(term,)),
            pod("web-0", namespace="other", anti_affinity=()),
            namespaces=spaces,
        )
        arriving = place("web-0", "a2", pod=reference("web-0", "other"))
        assert broken(theirs, plan(arriving)) == rules


def test_a_match_counts_as_the_first_where_one_of_several_keys_is_there() -> None:
    """c1 has a host name but no zone: its pod makes the new one a second, which then needs company."""
    terms = (near("web"), near("web", HOST))
    world = cluster(*NODES, pod("web-0", node="c1"), pod("web-9", affinity=terms))
    assert broken(world, plan(place("web-9", "b1"))) == AWAY
    assert broken(cluster(*NODES, pod("web-9", affinity=terms)), plan(place("web-9", "b1"))) == set()


def test_two_firsts_must_share_the_domain_of_every_term() -> None:
    """The same zone is not enough where the host is asked for, too."""
    terms = (near("web"), near("web", HOST))
    world = cluster(*NODES, pod("web-8", affinity=terms), pod("web-9", affinity=terms))
    assert broken(world, plan(place("web-8", "a1"), place("web-9", "a2"))) == AWAY
    assert broken(world, plan(place("web-8", "a1"), place("web-9", "a1"))) == set()


def test_two_firsts_that_move_in_one_wave_must_meet() -> None:
    """From a node without zones: whichever arrives second needs the first in its zone; strangers do not matter."""
    lonely = {"affinity": (near("web"),)}
    world = cluster(*NODES, pod("web-0", node="c1", **lonely), pod("web-1", node="c1", **lonely), pod("x-0", node="c1"))
    assert broken(world, plan(move("web-0", "c1", "a1"), move("web-1", "c1", "b1"), move("x-0", "c1", "b1"))) == AWAY
    assert broken(world, plan(move("web-0", "c1", "a1"), move("web-1", "c1", "a2"), move("x-0", "c1", "b1"))) == set()
