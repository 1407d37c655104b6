"""Pods that move by surge in whole plans: every objective, and what the independent checker says of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm, TopologySpreadConstraint
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Plan
from rescheduler.planning.objectives import OBJECTIVES
from rescheduler.policy.fields.policy import Guidance, Policy
from tests.builders import cluster, node, pod, selector
from tests.clocks import FakeClock
from tests.unit.cycle.test_cycle_properties import ARGUMENTS
from tests.unit.disruption.cases import policy
from tests.unit.disruption.surge_cases import deployment, taken_out, tight_budget

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


def planned(seen: Cluster, by: Policy) -> Plan:
    """The plan of one cycle."""
    return make_plan(seen, by, CycleOptions(FakeClock()))


def by_surge(*objectives: str, **disruption: Any) -> Policy:
    """A policy with these objectives by which all pods move by surge that can."""
    rule = {"method": "Surge", "otherwise": "Evict"}
    asked = [{"name": name, "args": ARGUMENTS.get(name, {})} for name in objectives]
    return policy(objectives=asked, disruption={"moveBy": [rule], **disruption})


def emptied(seen: Cluster, plan: Plan) -> float:
    """What EmptyNodes reaches, after the checker had its say."""
    assert [text for text in plan.warnings if "checker" in text] == []
    assert seen.pods
    return plan.objectives[0].value or 0


def test_nodes_are_emptied_that_single_replicas_kept() -> None:
    """Under budgets that allow nothing; each move says how."""
    objects = [item for name, on in (("a", "n1"), ("b", "n2"), ("c", "n3")) for item in deployment(name, [on])]
    seen = cluster(node("n1"), node("n2"), node("n3"), *objects, *(tight_budget(name, 1) for name in "abc"))
    assert emptied(seen, planned(seen, policy(objectives=[{"name": "EmptyNodes"}]))) == 0
    plan = planned(seen, by_surge("EmptyNodes"))
    assert emptied(seen, plan) == 2
    assert {move.method for move in plan.moves} == {MoveMethod.SURGE}


def test_a_surge_counts_as_an_eviction_of_the_limits() -> None:
    """It ends in one."""
    objects = [item for name, on in (("a", "n1"), ("b", "n2"), ("c", "n3")) for item in deployment(name, [on])]
    seen = cluster(node("n1"), node("n2"), node("n3"), *objects)
    one = by_surge("EmptyNodes").model_copy(update={"limits": Policy().limits.model_copy(update={"max_evictions": 1})})
    assert len(planned(seen, one).moves) == 1


def test_replicas_take_turns_as_their_workload_may_surge() -> None:
    """One in each wave where a rollout adds one at a time."""
    for max_surge, waves in ((1, 3), (3, 1)):
        objects = deployment("web", ["n1"] * 3, max_surge=max_surge)
        seen = cluster(node("n1"), node("n2"), *objects, pod("other-0", cpu="100m", node="n2"))
        plan = planned(seen, by_surge("EmptyNodes"))
        assert emptied(seen, plan) == 1
        assert len({move.wave for move in plan.moves}) == waves


def kept_apart(topology_key: str, *methods: str) -> list[float]:
    """What EmptyNodes reaches by each method where the one replica keeps away from its own kind."""
    apart = PodAffinityTerm(topology_key, selector(app="web"))
    big = pod("big-0", cpu="3", node="n2", labels={"x": "y"}, annotations={"rescheduler.dev/do-not-evict": "true"})
    nodes = (node("n1", zone="a"), node("n2", zone="a"))
    found = []
    for method in methods:
        seen = cluster(*nodes, *deployment("web", ["n1"], anti_affinity=(apart,)), big)
        by = policy(
            objectives=[{"name": "EmptyNodes"}],
            disruption={"singleReplicas": "Allow", "moveBy": [{"method": method}]},
        )
        found.append(emptied(seen, planned(seen, by)))
    return found


def test_its_own_old_pod_stands_in_the_way_of_a_surge() -> None:
    """Within one zone the new pod cannot come before the old one has gone; on another node it can."""
    assert kept_apart(ZONE, "Evict", "Surge") == [1, 0]
    assert kept_apart(HOSTNAME, "Evict", "Surge") == [1, 1]


def test_both_copies_count_for_spread() -> None:
    """Two in one zone and none in the other are one too many."""
    even = TopologySpreadConstraint(ZONE, 1, selector=selector(app="web"))
    fixed = {"rescheduler.dev/do-not-evict": "true"}
    other = pod("other-0", cpu="3", node="n2", labels={"x": "y"}, annotations=fixed)
    far = pod("far-0", cpu="4", node="n3", labels={"x": "y"}, annotations=fixed)
    nodes = (node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b"))
    found = {}
    for method in ("Evict", "Surge"):
        seen = cluster(*nodes, *deployment("web", ["n1"], topology_spread=(even,)), other, far)
        rules = {"singleReplicas": "Allow", "moveBy": [{"method": method}]}
        found[method] = emptied(seen, planned(seen, policy(objectives=[{"name": "EmptyNodes"}], disruption=rules)))
    assert found == {"Evict": 1, "Surge": 0}


def test_pods_that_change_places_are_never_moved_by_surge() -> None:
    """They leave before they arrive, which a surge is there to avoid."""
    a = deployment("a", ["n1"], cpu="3", node_selector=((ZONE, "z"),))
    waiting = pod("w-0", cpu="2")
    stuck = deployment("b", ["n2"], cpu="3")
    seen = cluster(node("n1", zone="z"), node("n2", zone="z"), *a, *stuck, waiting)
    by = by_surge("MakeRoom").model_copy(update={"guidance": Guidance.GUIDE})
    plan = planned(seen, by)
    assert not any(move.evict_first and move.method is not MoveMethod.EVICT for move in plan.moves)


def without_seconds(plan: Plan) -> bytes:
    """A plan's bytes but for how long it took."""
    objectives = tuple(msgspec.structs.replace(item, seconds=0.0) for item in plan.objectives)
    return msgspec.json.encode(msgspec.structs.replace(plan, objectives=objectives))


# Small clusters of Deployments with every rule between pods that an old copy could get in the way of.

APART = (
    (),
    (PodAffinityTerm(HOSTNAME, selector(app="a")),),
    (PodAffinityTerm(ZONE, selector(app="a")),),
    (PodAffinityTerm(ZONE, selector(tier="t")),),
)
EVEN = ((), (TopologySpreadConstraint(ZONE, 1, selector=selector(app="a")),),
        (TopologySpreadConstraint(HOSTNAME, 1, selector=selector(tier="t")),))  # fmt: skip
NEAR = ((), (), (PodAffinityTerm(ZONE, selector(app="a")),), (PodAffinityTerm(ZONE, selector(tier="t")),))


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Up to six nodes in up to three zones, up to three Deployments, some budgets, a pod on its way, one that waits."""
    count = draw(st.integers(2, 6))
    nodes = [node(f"n{number}", zone=draw(st.sampled_from("xyz")), cpu="4") for number in range(count)]
    objects: list[Any] = []
    for name in draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True)):
        places = draw(st.lists(st.sampled_from([one.name for one in nodes]), min_size=1, max_size=4))
        made = deployment(
            name,
            places,
            cpu=draw(st.sampled_from(["500m", "1"])),
            max_surge=draw(st.sampled_from([None, 0, 1, 2, "50%"])),
            labels=draw(st.sampled_from([{}, {"tier": "t"}])),
            anti_affinity=draw(st.sampled_from(APART)),
            affinity=draw(st.sampled_from(NEAR)),
            topology_spread=draw(st.sampled_from(EVEN)),
            ports=draw(st.sampled_from([(), (), (80,)])),
        )
        if draw(st.integers(0, 4)) == 0:
            made[2] = taken_out(made[2])
        objects += [*made, *([tight_budget(name, len(places))] if draw(st.booleans()) else [])]
    waiting = [pod("w-0", cpu="3")] if draw(st.booleans()) else []
    return cluster(*nodes, *objects, *waiting)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """One or two objectives, and rules of any method."""
    names = draw(st.lists(st.sampled_from(sorted(OBJECTIVES.own)), min_size=1, max_size=2, unique=True))
    some = {"labelSelector": {"matchLabels": {"app": draw(st.sampled_from("abc"))}}}
    rules = [{**some, "method": draw(st.sampled_from(["Surge", "Evict"]))}, {"method": "Surge", "otherwise": "Evict"}]
    asked = [{"name": name, "args": ARGUMENTS.get(name, {})} for name in names]
    guidance = draw(st.sampled_from(["Hold", "Guide", "Taint"]))
    rules = rules[draw(st.integers(0, 1)) :]
    allowed = draw(st.sampled_from(["Allow", "Deny"]))
    return policy(
        objectives=asked,
        guidance=guidance,
        limits={"deadline": "3s"},
        disruption={"moveBy": rules, "singleReplicas": allowed},
    )


@pytest.mark.timeout(900)  # its plans are searched to their end, which takes long for a few of them
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(clusters(), policies())
def test_no_plan_with_surges_is_refused_by_the_checker(seen: Cluster, by: Policy) -> None:
    """Every pod arrives beside its own old copy, and as many are on their way as their workload may add."""
    plan = planned(seen, by)
    assert [text for text in plan.warnings if "checker" in text] == []
    assert not {move.pod.key for move in plan.moves} & {one.key for one in seen.pods if _is_on_its_way(one)}


def _is_on_its_way(one: Pod) -> bool:
    return "rescheduler.dev/surge" in one.annotations


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(clusters(), st.sampled_from(sorted(OBJECTIVES.own)))
def test_rules_that_name_nobody_change_nothing(seen: Cluster, name: str) -> None:
    """Byte by byte, but for the warning about what surges would need to know."""
    asked: dict[str, Any] = {"objectives": [{"name": name, "args": ARGUMENTS.get(name, {})}]}
    plain = planned(seen, policy(**asked))
    rules = [{"namespaces": ["elsewhere"], "method": "Migrate"}, {"namespaces": ["elsewhere"], "method": "Evict"}]
    ruled = planned(seen, policy(**asked, disruption={"moveBy": rules}))
    assert without_seconds(ruled) == without_seconds(plain)


@pytest.mark.parametrize("name", sorted(OBJECTIVES.own))
def test_every_objective_may_use_surges(name: str) -> None:
    """Where evictions are all refused, whatever moves moves by surge; none is refused for knowing of none."""
    objects = [item for number in range(4) for item in deployment(f"d{number}", [f"n{number}"], cpu="2")]
    seen = cluster(*(node(f"n{number}", zone="xy"[number % 2]) for number in range(4)), *objects, pod("w-0", cpu="4"))
    plan = planned(seen, by_surge(name))
    assert [text for text in plan.warnings if "checker" in text] == []
    assert all(move.method is MoveMethod.SURGE for move in plan.moves)
    if name in ("MakeRoom", "EmptyNodes"):
        assert plan.moves
