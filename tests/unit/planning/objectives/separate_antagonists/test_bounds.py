"""What counting proves is never more than what can be reached, and the search alone stays within the rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.planning.objectives.separate_antagonists import objective as planner
from rescheduler.planning.objectives.separate_antagonists.antagonists import find_antagonists
from rescheduler.planning.objectives.separate_antagonists.bounds import fewest_pairs, least_pairs
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.remaining_limits import remaining_limits
from rescheduler.planning.search.local_search import problem_of
from tests.builders import NOW
from tests.clocks import LookedAtClock
from tests.unit.planning.asked import plan_separate_antagonists
from tests.unit.planning.objectives.separate_antagonists.brute_force import best_reachable
from tests.unit.planning.objectives.separate_antagonists.questions import plan_of, question, violations
from tests.unit.planning.objectives.separate_antagonists.test_against_brute_force import NAME, SETS, clusters, pairs


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4), st.integers(0, 5))
def test_fewest_pairs_is_what_trying_every_split_finds(standing: list[int], coming: int) -> None:
    """Pods that join the emptiest domain make the fewest pairs."""

    def least(counts: tuple[int, ...], left: int) -> int:
        if not left:
            return 0
        added = (tuple(c + (n == chosen) for n, c in enumerate(counts)) for chosen in range(len(counts)))
        return min(counts[chosen] + least(after, left - 1) for chosen, after in enumerate(added))

    assert fewest_pairs(np.array(standing), coming) == least(tuple(standing), coming)


def test_no_domain_at_all_makes_no_pairs() -> None:
    """Nobody can be anywhere."""
    assert fewest_pairs(np.zeros(0, dtype=np.int64), 3) == 0


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=clusters(), most=st.sampled_from([None, 0, 1, 2]), stuck=st.sets(st.integers(0, 5), max_size=2))
def test_without_the_exact_solver_bounds_hold_and_plans_are_allowed(
    monkeypatch: pytest.MonkeyPatch, found: Cluster, most: int | None, stuck: set[int]
) -> None:
    """Large questions are answered by counting and search: bound <= what can be reached <= value."""
    monkeypatch.setattr(planner, "assignment_for", lambda *_: None)
    fixed = [item.name for number, item in enumerate(found.pods) if number in stuck]
    asked = question(found, fixed=fixed, limits=MoveLimits(most))
    antagonists = find_antagonists(asked.prediction.columns, SETS, NOW)
    answer = plan_separate_antagonists(asked, antagonists)
    limit = len(found.pods) if most is None else most
    best, _ = best_reachable(found, asked.eligibility.movable, lambda ends: pairs(found, ends), limit)
    assert answer.bound is not None
    assert answer.bound <= best <= answer.value
    assert violations(asked, plan_of(asked, answer, NAME)) == []


@settings(max_examples=30, deadline=None)
@given(found=clusters(), looks=st.integers(0, 12))
def test_a_bound_that_runs_out_of_time_proves_less_but_nothing_wrong(found: Cluster, looks: int) -> None:
    """Whatever class time ends at, it is between what must stay anyway and the whole bound."""
    asked = question(found)
    problem = problem_of(asked)
    conflicts = find_antagonists(asked.prediction.columns, SETS, NOW).conflicts
    codes = np.arange(problem.node_count, dtype=np.int32)
    limits = remaining_limits(asked.eligibility.limits, asked.placement)
    least, short, whole = (
        least_pairs(problem, conflicts, codes, limits, Deadline(LookedAtClock(), float(seconds)))
        for seconds in (0, looks, 10**6)
    )
    assert least <= short <= whole
