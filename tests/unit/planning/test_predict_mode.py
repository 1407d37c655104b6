"""Without holds the plan keeps only what the scheduler would do by itself, and says what may go wrong."""

from __future__ import annotations

from rescheduler.model.objects.cluster import Cluster
from tests.builders import cluster, node, pod
from tests.unit.planning.asked import plan_make_room
from tests.unit.planning.planning_requests import moves_by_name, request_of


def test_a_replacement_that_may_go_back_is_foretold() -> None:
    """The origin is as good as any other node for the moved pod, so the message expects the move to fail."""
    state = cluster(
        node("n1"), node("n2"), pod("a-1", cpu="2", node="n1"), pod("b-1", cpu="2", node="n2"), pod("x-1", cpu="4"),
    )  # fmt: skip
    held = plan_make_room(request_of(state))
    predicted = plan_make_room(request_of(state, is_guided_by_holds=False))
    assert held.value == 1
    assert not any(move.needs_guidance for move in held.moves)
    assert "the replacement may go back to the hole" in predicted.message
    assert not any(move.needs_guidance for move in predicted.moves)


def test_a_move_that_the_scheduler_makes_by_itself_stays() -> None:
    """The other node is much emptier, so nothing speaks against the plan."""
    state = cluster(
        node("n1", cpu="4"), node("n2", cpu="16"), pod("a-1", cpu="1", node="n1"), pod("b-1", cpu="3", node="n1"),
        pod("x-1", cpu="1", node_selector=(("kubernetes.io/hostname", "n1"),)),
    )  # fmt: skip
    answer = plan_make_room(request_of(state, is_guided_by_holds=False, fixed=["b-1"]))
    assert moves_by_name(state, answer) == {"a-1": ("n2", 1)}
    assert "go back" not in answer.message


def _two_victims(namesake: str, other: str) -> Cluster:
    return cluster(
        node("n1", cpu="10"), node("n2", cpu="3"), node("n3", cpu="6"),
        pod(namesake, cpu="2", node="n1"), pod(other, cpu="5", node="n1"), pod("rest-1", cpu="3", node="n1"),
        pod("x-1", cpu="7", node_selector=(("kubernetes.io/hostname", "n1"),)),
    )  # fmt: skip


def test_guidance_is_asked_for_where_the_scheduler_would_take_another_pods_place() -> None:
    """Left to itself the small pod, evicted first, would go to the emptier node, and the large one would find none."""
    state = _two_victims("a-small", "b-large")
    answer = plan_make_room(request_of(state, fixed=["rest-1"]))
    assert moves_by_name(state, answer) == {"a-small": ("n2", 1), "b-large": ("n3", 1)}
    assert [state.pods[move.pod].name for move in answer.moves if move.needs_guidance] == ["a-small"]


def test_without_holds_moves_that_need_guidance_are_left_out() -> None:
    """What is left of the plan is what works by itself; the message names what was dropped."""
    state = _two_victims("a-small", "b-large")
    answer = plan_make_room(request_of(state, fixed=["rest-1"], is_guided_by_holds=False))
    assert (answer.helped, answer.moves) == (0, ())
    assert "left out without guidance" in answer.message
    assert "b-large" in answer.message
