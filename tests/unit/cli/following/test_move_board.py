"""What the live table counts: moves by state, nodes that lose pods, rate and time left."""

from __future__ import annotations

from rescheduler.cli.following.move_board import MoveBoard, NodeLeft
from rescheduler.model.plan.move_change import MoveChange, MoveState
from rescheduler.model.plan.plan import Move
from tests.clocks import FakeClock
from tests.unit.report.plans import small_plan


class Scene:
    """Four moves from two nodes."""

    def __init__(self) -> None:
        first = small_plan()
        (move,) = first.moves[:1]
        self.moves = [_renamed(move, f"web-{number}", "a" if number < 3 else "b") for number in range(4)]
        self.clock = FakeClock()
        self.board = MoveBoard(small_plan(moves=tuple(self.moves)), self.clock.monotonic)

    def reach(self, number: int, state: MoveState) -> None:
        """A move has come so far."""
        move = self.moves[number]
        self.board.hear(MoveChange("", move.pod, state, move.from_node, move.to_node))


def _renamed(move: Move, name: str, node: str) -> Move:
    from msgspec.structs import replace

    return replace(move, pod=replace(move.pod, name=name, uid=f"uid-{name}"), from_node=node)


def test_moves_are_counted_by_state_in_the_order_of_states() -> None:
    """All are planned at first; each counts once."""
    scene = Scene()
    assert scene.board.counts == {MoveState.PLANNED: 4}
    scene.reach(0, MoveState.EVICTED)
    scene.reach(1, MoveState.SETTLED)
    assert list(scene.board.counts.items()) == [
        (MoveState.PLANNED, 2), (MoveState.EVICTED, 1), (MoveState.SETTLED, 1),
    ]  # fmt: skip


def test_a_node_is_listed_until_all_its_pods_have_left() -> None:
    """A pod that is dropped, or of which nothing is known, has not left."""
    scene = Scene()
    assert scene.board.nodes == (NodeLeft("b", 1, 1), NodeLeft("a", 3, 3))
    scene.reach(3, MoveState.EVICTED)
    scene.reach(0, MoveState.SETTLED)
    scene.reach(1, MoveState.DROPPED)
    scene.reach(2, MoveState.UNKNOWN)
    assert scene.board.nodes == (NodeLeft("a", 2, 3),)


def test_rate_and_time_left_count_from_the_first_step() -> None:
    """Nothing is claimed before a move has come to rest."""
    scene = Scene()
    scene.clock.sleep(100)
    assert (scene.board.rate, scene.board.seconds_left) == (None, None)
    scene.reach(0, MoveState.ANNOUNCED)
    scene.clock.sleep(2)
    scene.reach(0, MoveState.SETTLED)
    assert (scene.board.rate, scene.board.seconds_left) == (0.5, 6.0)


def test_pods_that_get_in_are_counted_as_they_are_placed() -> None:
    """Other steps do not set the count back."""
    scene = Scene()
    assert scene.board.to_place == len(small_plan().placements)
    scene.board.note("placing pending pods", 1, 1)
    scene.board.note("verifying")
    assert (scene.board.placed, scene.board.step) == (1, "verifying")
