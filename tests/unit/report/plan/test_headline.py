"""The first lines: what each objective reached, at which price, and what is proven of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from rescheduler.model.plan.attempts import is_as_planned
from rescheduler.model.plan.plan import Move, ObjectiveResult, OutcomeKind, Status
from rescheduler.report.plan.headline import headlines, proof
from tests.unit.report.plans import objective, reference, small_plan, small_result

# When a plan that was carried out ended well.


@pytest.mark.parametrize(
    ("outcome", "is_well"),
    [
        (OutcomeKind.LANDED, True),
        (OutcomeKind.LANDED_ELSEWHERE, True),
        (OutcomeKind.REFUSED, False),
        (OutcomeKind.NOT_ATTEMPTED, False),
        (OutcomeKind.UNKNOWN, False),
    ],
)
def test_only_pods_that_landed_count_as_well(outcome: OutcomeKind, is_well: bool) -> None:
    """Elsewhere is no harm; refused, not attempted and unknown mean that the plan stopped early."""
    assert is_as_planned(small_result(outcome)) is is_well


@pytest.mark.parametrize(("landed_on", "is_well"), [("n3", True), ("n1", False)])
def test_a_pod_on_a_node_that_was_to_be_empty_is_harm(landed_on: str, is_well: bool) -> None:
    """Elsewhere is no harm, but for the nodes that the plan was made to empty."""
    result = small_result(OutcomeKind.LANDED_ELSEWHERE)
    (move,) = result.moves
    strayed = replace(move, objective="EmptyNodes", landed_on=landed_on)
    assert is_as_planned(replace(result, moves=(strayed,), placements=())) is is_well


def answer(name: str, value: float | None, bound: float | None, unit: str = "", **changes: object) -> ObjectiveResult:
    """An answer that is optimal where value and bound are the same."""
    gap = None if value is None or bound is None else abs(value - bound) / max(1.0, abs(bound))
    status = Status.OPTIMAL if value is not None and value == bound else Status.FEASIBLE
    return objective(
        **{
            "name": name, "status": status, "value": value, "bound": bound, "gap": gap, "unit": unit,
            "helped": UNSET, "wanted": UNSET, **changes,
        }
    )  # fmt: skip


def moved(name: str, count: int) -> tuple[Move, ...]:
    """Moves for an objective."""
    return tuple(Move(reference(f"{name}-{at}"), "n1", "n2", 1, name, "") for at in range(count))


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (answer("EmptyNodes", 12, 13, "nodes"), "12 nodes emptied"),
        (answer("EmptyNodes", 1, 1, "nodes"), "1 node emptied"),
        (answer("EmptyNodes", 0, 0, "nodes"), "no node is emptied"),
        (answer("EmptyNodes", 34.5, 40, "price"), "emptied nodes worth 34.5 (price)"),
        (answer("EmptyNodes", 34.5, 40, "USD/month"), "34.50 USD a month saved by emptying nodes"),
        (answer("SpreadLoad", 0.42, 0, "nodes' worth of overload"), "0.42 nodes' worth of overload left"),
        (answer("SpreadLoad", 3, 0, "cores"), "3 cores of load above the target left"),
        (answer("SpreadLoad", 0, 0, "cores"), "no load above the target is left"),
        (answer("SeparateAntagonists", 1, 0, "pairs"), "1 pair of antagonists left on one node"),
        (answer("SeparateAntagonists", 0, 0, "pairs"), "no antagonists share a node"),
        (answer("Defragment", 14, 20, "pods"), "room for 14 pods"),
        (answer("Defragment", 14.5, 20, "weighted pods"), "room for 14.5 weighted pods"),
        (answer("FaultDomains", 2, 0, "violations"), "2 violations of spread, affinity or taint rules left"),
        (answer("FaultDomains", 0, 0, "violations"), "no spread, affinity or taint rule is violated"),
        (answer("SchedulerScore", 143, 150, "score points"), "the scheduler's score rises by 143 points"),
        (answer("SchedulerScore", 0, 0, "points"), "no move raises the scheduler's score enough"),
        (answer("SpreadLoad+FaultDomains", 7.25, 6, "weighted"), "SpreadLoad+FaultDomains: 7.25 weighted ("),
        (answer("SpreadLoad", None, None), "no answer"),
    ],
)
def test_each_objective_says_what_it_reached_in_its_own_words(result: ObjectiveResult, words: str) -> None:
    """Those without words of their own give value and unit."""
    (_, sentence), *_ = headlines(small_plan(objectives=(result,), moves=()))
    assert words in sentence


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (answer("EmptyNodes", 12, 12), "proven: no plan does better"),
        (answer("EmptyNodes", 12, 13), "proven: at most 13, gap 7.7%"),
        (answer("SpreadLoad", 12, 6), "proven: at least 6, gap 100%"),
        (answer("SpreadLoad", 12, None), ""),
        (answer("SeparateAntagonists", 3, 3, status=Status.INFEASIBLE), "proven: no plan does better"),
        (objective(status=Status.FEASIBLE, value=4, bound=3, gap=1 / 3), "proven: at least 3, gap 33%"),
        (objective(status=Status.OPTIMAL, value=3, bound=3), "proven: no plan needs fewer"),
        (objective(status=Status.OPTIMAL, value=0, bound=0), "proven"),
        (objective(status=Status.INFEASIBLE, value=0, bound=0, helped=0), "proven: not all can be helped"),
        (
            objective(status=Status.INFEASIBLE, value=4, bound=3, gap=1 / 3, helped=1, wanted=2),
            "proven: not all can be helped; at least 3, gap 33%",
        ),
        (objective(wanted=0, helped=0), ""),
        (objective(status=Status.UNKNOWN, value=None, bound=None), ""),
    ],
)
def test_what_is_proven_is_told_on_the_side_on_which_better_plans_would_be(result: ObjectiveResult, words: str) -> None:
    """At most where more is better, at least where less is."""
    assert proof(result) == words


def test_objectives_come_in_order_each_with_its_own_evictions() -> None:
    """Not with those of the others."""
    plan = small_plan(
        objectives=(answer("FaultDomains", 0, 0), answer("EmptyNodes", 2, 2), answer("SchedulerScore", 0, 0)),
        moves=(*moved("EmptyNodes", 5), *moved("FaultDomains", 1)),
    )
    faults, nodes, score = (sentence for status, sentence in headlines(plan) if status)
    assert ", by 1 eviction (" in faults
    assert ", by 5 evictions (" in nodes
    assert "eviction" not in score


def test_two_objectives_of_one_name_do_not_both_claim_their_moves() -> None:
    """Nobody can tell whose they are."""
    plan = small_plan(objectives=(answer("EmptyNodes", 2, 2), answer("EmptyNodes", 1, 1)), moves=moved("EmptyNodes", 5))
    assert all("eviction" not in sentence for _, sentence in headlines(plan))


def test_a_result_that_did_not_end_as_planned_tells_its_promise_as_one() -> None:
    """And a result that did tells it as a fact."""
    (_, kept), *_ = headlines(small_result(OutcomeKind.LANDED))
    (_, broken), *_ = headlines(small_result(OutcomeKind.REFUSED))
    assert kept.startswith("MakeRoom: 1 of 1")
    assert broken.startswith("MakeRoom: planned: 1 of 1")


NAMES = (
    "MakeRoom",
    "EmptyNodes",
    "SpreadLoad",
    "SeparateAntagonists",
    "Defragment",
    "FaultDomains",
    "SchedulerScore",
    "x",
)


@given(
    st.sampled_from(NAMES),
    st.none() | st.floats(),
    st.none() | st.floats(),
    st.none() | st.floats(),
    st.sampled_from(Status),
    st.text(max_size=8),
)
def test_no_answer_is_too_odd_to_be_told(
    name: str, value: float | None, bound: float | None, gap: float | None, status: Status, unit: str
) -> None:
    """Missing, endless and negative numbers among them."""
    (_, sentence), *_ = headlines(small_plan(objectives=(answer(name, value, bound, unit, gap=gap, status=status),)))
    assert sentence.startswith(f"{name}: ")
