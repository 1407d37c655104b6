"""Waves whose pods leave before they arrive: judged after all departures, in any order of the arrivals."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from msgspec.structs import replace as with_changes

from rescheduler.checker.checker import check_plan
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm, TopologySpreadConstraint
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility
from rescheduler.model.plan.plan import Move, Plan, PlannedPlacement, WaveMark, marked_waves
from rescheduler.policy.fields.policy import Guidance, Permission, Policy
from tests.builders import cluster, node, pod, selector
from tests.clocks import FakeClock
from tests.unit.checker.cases import anything_goes, broken, move, place, plan
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.test_exchanges_brute_force import full_clusters
from tests.unit.planning.tiny import as_cluster

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


def swap(name: str, from_node: str, to_node: str, wave: int = 1, **fields: Any) -> Move:
    """A move of a wave whose pods leave before they arrive."""
    return move(name, from_node, to_node, wave, **{"evict_first": True, "needs_guidance": True, **fields})


def marked(*steps: Move | PlannedPlacement, **result: Any) -> Plan:
    """A plan that lists its marked waves."""
    made = plan(*steps, **result)
    return with_changes(made, waves=marked_waves(made.moves))


def allowed(found: Cluster, groups: tuple[DisruptionGroup, ...] = ()) -> Eligibility:
    """Everything may move, and leave before it arrives."""
    return with_changes(anything_goes(found, groups), may_evict_first=True)


def full(**fields: Any) -> Cluster:
    """Two full nodes with a pod each."""
    return cluster(
        node("n1", "4", zone="a"), node("n2", "4", zone="b"), pod("a-0", "4", node="n1", **fields),
        pod("b-0", "4", node="n2"),
    )  # fmt: skip


SWAP = (swap("a-0", "n1", "n2"), swap("b-0", "n2", "n1"))


def test_pods_of_full_nodes_may_change_places() -> None:
    """All have left before the first arrives."""
    assert broken(full(), marked(*SWAP), allowed(full())) == set()


def test_not_without_the_guidance_for_it() -> None:
    """Where replacements cannot be held back such a wave is refused, whatever it does."""
    assert broken(full(), marked(*SWAP)) == {"EvictFirst"}


def test_an_ordinary_wave_is_judged_as_ever() -> None:
    """The same moves without the mark: each pod still stands where the other is to arrive."""
    moves = [with_changes(item, evict_first=False) for item in SWAP]
    assert broken(full(), plan(*moves), allowed(full())) == {"NodeResourcesFit"}


@pytest.mark.parametrize(
    "wrong",
    [
        with_changes(marked(*SWAP), waves=()),
        with_changes(marked(*SWAP), waves=(WaveMark(1, evict_first=False),)),
        with_changes(marked(*SWAP), waves=(WaveMark(1, evict_first=True), WaveMark(2, evict_first=True))),
        marked(SWAP[0], with_changes(SWAP[1], evict_first=False)),
        marked(SWAP[0], with_changes(SWAP[1], needs_guidance=False)),
    ],
    ids=["not listed", "listed as ordinary", "listed without moves", "one move unmarked", "no guidance needed"],
)
def test_marks_must_agree(wrong: Plan) -> None:
    """Of moves among each other, with the list of waves, and with the need for guidance."""
    assert "EvictFirst" in broken(full(), wrong, allowed(full()))


def test_all_arrivals_of_the_wave_share_the_room() -> None:
    """Either newcomer fits on the node that was left, both do not."""
    found = cluster(
        node("n1", "4"), node("n2", "4"), node("n3", "4"),
        pod("a-0", "4", node="n1"), pod("b-0", "3", node="n2"), pod("c-0", "3", node="n3"),
    )  # fmt: skip
    wrong = marked(swap("a-0", "n1", "n2"), swap("b-0", "n2", "n1"), swap("c-0", "n3", "n1"))
    assert broken(found, wrong, allowed(found)) == {"NodeResourcesFit"}


def test_a_foe_that_has_left_is_in_nobodys_way() -> None:
    """Anti-affinity binds against those that stand or arrive, not against those of the wave that have gone."""
    apart = {"labels": {"app": "x"}, "anti_affinity": (PodAffinityTerm(HOST, selector(app="x")),)}
    found = cluster(
        node("n1", "4"), node("n2", "4"), pod("a-0", "4", node="n1", **apart), pod("b-0", "4", node="n2", **apart)
    )
    assert broken(found, marked(*SWAP), allowed(found)) == set()
    crowded = cluster(*found.nodes, *found.pods, node("n3", "16"), pod("c-0", "1", node="n3", **apart))
    to_foe = marked(swap("a-0", "n1", "n3"), swap("b-0", "n2", "n1"))
    assert broken(crowded, to_foe, allowed(crowded)) == {"InterPodAffinity"}


@pytest.mark.parametrize("company_arrives", [True, False])
def test_company_must_stand_there_already(company_arrives: bool) -> None:
    """Neither a pod that leaves in this wave nor one that may arrive later is company."""
    near = (PodAffinityTerm(ZONE, selector(app="friend")),)
    zone = "a" if company_arrives else "b"
    found = cluster(
        node("n1", "4", zone="a"), node("n2", "4", zone="b"), node("n3", "4", zone="c"),
        pod("a-0", "4", node="n1", affinity=near), pod("b-0", "4", node="n2", labels={"app": "friend"}),
    )  # fmt: skip
    moves = (swap("a-0", "n1", "n2"), swap("b-0", "n2", "n1" if zone == "a" else "n3"))
    assert broken(found, marked(*moves), allowed(found)) == {"InterPodAffinity"}


def test_spread_holds_whoever_comes_first() -> None:
    """A domain may be ahead by one at most, whichever of the others of the wave have come."""
    even = (TopologySpreadConstraint(ZONE, 1, selector=selector(app="x")),)
    labels = {"app": "x"}
    found = cluster(
        node("n1", "4", zone="a"), node("n2", "8", zone="b"),
        pod("a-0", "4", node="n1", labels=labels), pod("b-0", "4", node="n2", labels=labels, topology_spread=even),
        pod("c-0", "4", node="n2", labels=labels, topology_spread=even),
    )  # fmt: skip
    all_change = marked(swap("a-0", "n1", "n2"), swap("b-0", "n2", "n1"))
    assert broken(found, all_change, allowed(found)) == set()
    outside = cluster(*found.nodes, *found.pods, node("n4", "8", zone="c"))
    both_there = marked(swap("b-0", "n2", "n4"), swap("c-0", "n2", "n4"), swap("a-0", "n1", "n2"))
    assert "PodTopologySpread" in broken(outside, both_there, allowed(outside))


def test_groups_bind_such_a_wave() -> None:
    """Both pods of a budget that allows one may not be down at once."""
    group = DisruptionGroup("PodDisruptionBudget", "default/both", 1, (0, 1))
    assert broken(full(), marked(*SWAP), allowed(full(), (group,))) == {"PodDisruptionBudget"}


def test_waves_and_places_that_follow_see_the_end_of_it() -> None:
    """A pod moves, and one is placed, into what the exchange left free."""
    found = cluster(
        node("n1", "6"), node("n2", "5"), node("n3", "4"), pod("a-0", "5", node="n1"), pod("b-0", "4", node="n2"),
        pod("c-0", "2", node="n3"), pod("x-0", "4"),
    )  # fmt: skip
    steps = (swap("a-0", "n1", "n2"), swap("b-0", "n2", "n1"), move("c-0", "n3", "n1", 2), place("x-0", "n3", 2))
    assert broken(found, marked(*steps), allowed(found)) == set()
    too_early = (move("c-0", "n3", "n1", 1), *(with_changes(step, wave=2) for step in SWAP), place("x-0", "n3", 2))
    assert "NodeResourcesFit" in broken(found, marked(*too_early), allowed(found))


@settings(max_examples=60, deadline=None)
@given(full_clusters())
def test_planner_and_checker_agree(tiny: TinyCluster) -> None:
    """No plan with exchanges is withdrawn; without its marks it would be refused."""
    found = as_cluster(tiny)
    policy = Policy.model_validate(
        {
            "guidance": Guidance.GUIDE,
            "disruption": {"single_replicas": Permission.ALLOW},
            "limits": {"max_evictions": tiny.max_evictions, "deadline": 5.0},
        }
    )
    made = make_plan(found, policy, CycleOptions(FakeClock()))
    assert not [text for text in made.warnings if "checker" in text]
    if any(item.evict_first for item in made.moves):
        unmarked = tuple(with_changes(item, evict_first=False) for item in made.moves)
        refused = check_plan(found, with_changes(made, moves=unmarked, waves=()), decide_eligibility(found, policy))
        assert refused
