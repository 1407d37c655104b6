"""What counting proves is never more than what can be reached, and the search alone stays within the rules."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.checker.recounts.fault_domains import violations_left
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm, TopologySpreadConstraint
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.planning.objectives.fault_domains import objective as planner
from tests.builders import cluster, node, pod, selector
from tests.unit.planning.asked import plan_fault_domains
from tests.unit.planning.objectives.fault_domains.test_against_brute_force import NAME, ZONE, clusters
from tests.unit.planning.objectives.fault_domains.test_state import after
from tests.unit.planning.objectives.separate_antagonists.brute_force import Ends, best_reachable
from tests.unit.planning.objectives.separate_antagonists.questions import plan_of, question, violations


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=clusters(), most=st.sampled_from([None, 0, 1, 2]), stuck=st.sets(st.integers(0, 5), max_size=2))
def test_without_the_exact_solver_bounds_hold_and_plans_are_allowed(
    monkeypatch: pytest.MonkeyPatch, found: Cluster, most: int | None, stuck: set[int]
) -> None:
    """Large questions are answered by counting and search: bound <= what can be reached <= value."""
    monkeypatch.setattr(planner, "assignment_for", lambda *_: None)
    fixed = [item.name for number, item in enumerate(found.pods) if number in stuck]
    asked = question(found, fixed=fixed, limits=MoveLimits(most))
    answer = plan_fault_domains(asked)
    index = {item.name: number for number, item in enumerate(found.nodes)}

    def cost(ends: Ends) -> int:
        return violations_left(found, after(found, {n: index[name] for n, name in enumerate(ends) if name}))

    limit = len(found.pods) if most is None else most
    best, _ = best_reachable(found, asked.eligibility.movable, cost, limit)
    assert answer.bound is not None
    assert answer.bound <= best <= answer.value
    assert violations(asked, plan_of(asked, answer, NAME)) == []


def test_the_eviction_limit_is_shared_by_all_constraints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workloads that each need evictions cannot both have the only one."""
    monkeypatch.setattr(planner, "assignment_for", lambda *_: None)
    rules = {name: (PodAffinityTerm("kubernetes.io/hostname", selector(app=name)),) for name in "ab"}
    found = cluster(
        *(node(f"n{number}") for number in range(4)),
        *(pod(f"{name}-{n}", node="n0", anti_affinity=rules[name]) for name in "ab" for n in range(2)),
    )
    answer = plan_fault_domains(question(found, limits=MoveLimits(1)))
    assert (answer.value, answer.bound, len(answer.moves)) == (1, 1, 1)


def test_a_spread_that_fixed_pods_keep_uneven_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pods that must stay in one zone need as many in the other, and there are fewer."""
    monkeypatch.setattr(planner, "assignment_for", lambda *_: None)
    spread = (TopologySpreadConstraint(ZONE, 1, selector=selector(app="a")),)
    found = cluster(
        node("n0", cpu="16", zone="x"), node("n1", cpu="16", zone="y"),
        *(pod(f"a-{n}", node="n0", topology_spread=spread) for n in range(7)),
    )  # fmt: skip
    answer = plan_fault_domains(question(found, fixed=[f"a-{n}" for n in range(5)]))
    assert (answer.value, answer.bound, len(answer.moves)) == (2, 2, 2)
