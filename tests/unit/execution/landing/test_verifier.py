"""Promise and world are compared at the end; what differs is said."""

from __future__ import annotations

from rescheduler.execution.landing.outcomes import Outcomes, landing
from rescheduler.execution.landing.verifier import verify
from rescheduler.model.plan.plan import OutcomeKind, PlanResult
from tests.builders import cluster, node, pod
from tests.unit.execution.worlds import fragmented, two_moves


def carried_out() -> PlanResult:
    """Both moves and the placement told as landed."""
    told = Outcomes(two_moves(fragmented()))
    for move in told.plan.moves:
        told.of_move(move, OutcomeKind.LANDED, move.to_node)
    for item in told.plan.placements:
        told.of_placement(item, OutcomeKind.LANDED, item.node)
    return told.result()


def test_a_kept_promise_leaves_nothing_to_say() -> None:
    """The pod is where it was placed, the moved ones are gone, nothing of ours stands."""
    assert verify(carried_out(), cluster(node("n0"), pod("big-0", node="n0")), []) == []


def test_every_broken_promise_is_named() -> None:
    """A placed pod that is elsewhere, a moved pod that stands, a placeholder that is left."""
    world = cluster(node("n0"), node("n1"), pod("big-0", node="n1"), pod("web-00", node="n0"))
    told = "; ".join(verify(carried_out(), world, ["hold-a-0"]))
    assert "big-0" in told
    assert "web-00" in told
    assert "hold-a-0" in told


def test_what_was_not_attempted_promises_nothing() -> None:
    """A plan that stopped is judged by what it says that it did."""
    result = Outcomes(two_moves(fragmented())).result()
    assert {move.outcome for move in result.moves} == {OutcomeKind.NOT_ATTEMPTED}
    assert verify(result, fragmented(), []) == []


def test_landing_compares_the_nodes() -> None:
    """Where planned, or elsewhere."""
    assert landing("n0", "n0") is OutcomeKind.LANDED
    assert landing("n0", "n1") is OutcomeKind.LANDED_ELSEWHERE
