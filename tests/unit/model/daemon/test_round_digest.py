"""A round in short: what was helped, emptied, evicted and refused, in a few hundred bytes."""

from __future__ import annotations

from msgspec.structs import replace

from rescheduler.model.daemon.notices import RoundEnded
from rescheduler.model.daemon.round_digest import MOST_RULES, digest_of
from rescheduler.model.daemon.told_state import MOST_PAST, MOST_ROUNDS, ToldState
from rescheduler.model.plan.plan import Move, ObjectiveResult, OutcomeKind, Plan, PlanResult, Refusal, Status
from tests.builders import NOW
from tests.unit.daemon.plans import SNAPSHOT, plan, reference, report, result

HELPED = ObjectiveResult("MakeRoom", Status.OPTIMAL, 1, 1, 0.0, "evictions", 0.1, "m" * 900, helped=1, wanted=2,
                         certificate={"large": 1})  # fmt: skip


def emptying() -> Plan:
    """Node n1 is emptied onto n2, and n3 onto n1's neighbour n4 and back to nobody."""
    moves = tuple(
        Move(reference(f"p{at}"), origin, goal, 1, "EmptyNodes", "")
        for at, (origin, goal) in enumerate([("n1", "n2"), ("n3", "n4"), ("n4", "n2")])
    )
    return Plan(SNAPSHOT, moves=moves)


def test_it_counts_what_was_planned_and_what_became_of_it() -> None:
    """Moves that may have been sent count as evicted; a long reason is cut."""
    made = replace(plan("a-1", "a-2", "a-3"), objectives=(HELPED,))
    done = result(made)
    ends = (OutcomeKind.LANDED_ELSEWHERE, OutcomeKind.UNKNOWN, OutcomeKind.REFUSED)
    moves = tuple(replace(move, outcome=end) for move, end in zip(done.moves, ends, strict=True))
    found = digest_of(report(7, plan=made, result=replace(done, moves=moves), reason="r" * 900))
    assert (found.helped, found.wanted, found.planned, found.evicted, found.landed) == (1, 2, 3, 2, 1)
    assert len(found.reason) == 500


def test_nodes_are_emptied_that_nobody_comes_to() -> None:
    """Of a result only where each pod has left and landed well."""
    made = emptying()
    assert digest_of(report(1, plan=made)).emptied == 2
    done = result(made)
    first = replace(done.moves[0], outcome=OutcomeKind.REFUSED)
    assert digest_of(report(1, plan=made, result=replace(done, moves=(first, *done.moves[1:])))).emptied == 1
    strayed = replace(done.moves[2], outcome=OutcomeKind.LANDED_ELSEWHERE, landed_on="n3")
    assert digest_of(report(1, plan=made, result=PlanResult(SNAPSHOT, moves=(*done.moves[:2], strayed)))).emptied == 1


def test_refusals_are_counted_by_rule_the_most_first() -> None:
    """Of very many rules the first are kept, and the number of all."""
    refusals = [Refusal(f"Rule{at}", "") for at in range(30) for _ in range(30 - at)]
    found = digest_of(report(1, plan=plan(refusals=tuple(refusals))))
    assert (len(found.refused), found.refused[0], found.refused_in_all) == (MOST_RULES, ("Rule0", 30), len(refusals))


def test_a_round_without_a_plan_tells_its_reason() -> None:
    """And nothing else."""
    found = digest_of(report(1, reason="no plan", is_held=True))
    assert (found.planned, found.refused, found.reason, found.is_held, found.is_carried_out) == (
        0, (), "no plan", True, False,
    )  # fmt: skip


def test_two_hundred_rounds_are_remembered_in_short() -> None:
    """More than are remembered whole."""
    state = ToldState()
    for number in range(1, 301):
        state = state.after(RoundEnded(NOW, report(number)))
    assert (len(state.past), state.past[-1].number, len(state.rounds)) == (MOST_PAST, 300, MOST_ROUNDS)
