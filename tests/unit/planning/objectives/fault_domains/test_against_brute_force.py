"""On random small clusters the planner repairs as many violations as can be, by as few evictions."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.checker.recounts.fault_domains import violations_left
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm, TopologySpreadConstraint
from rescheduler.model.plan.disruption import MoveLimits
from tests.builders import cluster, node, pod, selector
from tests.unit.planning.asked import plan_fault_domains
from tests.unit.planning.objectives.fault_domains.test_state import after
from tests.unit.planning.objectives.separate_antagonists.brute_force import Ends, best_reachable
from tests.unit.planning.objectives.separate_antagonists.questions import plan_of, question, violations

NAME = "FaultDomains"
HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


@st.composite
def clusters(draw: st.DrawFn, most_nodes: int = 4, most_pods: int = 5) -> Cluster:
    """Small nodes in up to three zones, and pods of workloads that spread, keep apart or keep together."""
    cores = draw(st.lists(st.integers(2, 4), min_size=1, max_size=most_nodes))
    nodes = [node(f"n{n}", cpu=str(c), zone=draw(st.sampled_from([None, "a", "b", "c"]))) for n, c in enumerate(cores)]
    free = list(cores)
    pods = []
    for number in range(draw(st.integers(1, most_pods))):
        where = draw(st.integers(0, len(cores) - 1))
        if not free[where]:
            continue
        free[where] -= 1
        app = draw(st.sampled_from("aaspt"))
        own = selector(app=app)
        choices: dict[str, dict[str, Any]] = {
            "a": {"anti_affinity": (PodAffinityTerm(HOST, own),)},
            "s": {"topology_spread": (TopologySpreadConstraint(ZONE, 1, selector=own),)},
            "p": {"affinity": (PodAffinityTerm(ZONE, selector(app="s")),)},
            "t": {"affinity": (PodAffinityTerm(ZONE, own),)},
        }
        pods.append(pod(f"{app}{number}-x", node=f"n{where}", labels={"app": app}, **choices[app]))
    return cluster(*nodes, *pods)


@settings(max_examples=60, deadline=None)
@given(clusters(), st.sampled_from([None, None, 0, 1, 2]), st.sets(st.integers(0, 5), max_size=1))
def test_value_and_evictions_are_those_of_brute_force(
    found: Cluster, most_evictions: int | None, stuck: set[int]
) -> None:
    """Violations left, evictions and bound are right, the checker is content, and the recount agrees."""
    agree(found, most_evictions, stuck)


@settings(max_examples=15, deadline=None)
@given(clusters(6, 12), st.sampled_from([1, 2]), st.sets(st.integers(0, 11), max_size=3))
def test_two_evictions_on_larger_clusters_are_those_of_brute_force(
    found: Cluster, most_evictions: int, stuck: set[int]
) -> None:
    """The same with up to six nodes and twelve pods, of which two may move."""
    agree(found, most_evictions, stuck)


def agree(found: Cluster, most_evictions: int | None, stuck: set[int]) -> None:
    """The planner reaches what trying everything finds; pods at the positions ``stuck`` may not move."""
    fixed = [item.name for number, item in enumerate(found.pods) if number in stuck]
    asked = question(found, fixed=fixed, limits=MoveLimits(most_evictions))
    answer = plan_fault_domains(asked)
    index = {item.name: number for number, item in enumerate(found.nodes)}

    def cost(ends: Ends) -> int:
        places = {number: index[name] for number, name in enumerate(ends) if name is not None}
        return violations_left(found, after(found, places))

    limit = len(found.pods) if most_evictions is None else most_evictions
    best = best_reachable(found, asked.eligibility.movable, cost, limit)
    assert (answer.value, len(answer.moves)) == best
    assert answer.bound is not None
    assert answer.bound <= answer.value
    plan = plan_of(asked, answer, NAME)
    assert violations(asked, plan) == []
    assert violations_left(found, plan) == answer.value
