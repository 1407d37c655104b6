"""What a plan that makes room for shapes says of itself: shapes before and after, the price, and what blocks."""

from __future__ import annotations

from collections.abc import Callable

from rescheduler.planning.defragment.blocked import blocked_nodes
from rescheduler.planning.defragment.situation import Situation
from rescheduler.planning.improvement.board import Board

_MOST_NAMED = 3


def describe(situation: Situation, board: Board, bound: float) -> str:
    """The message of an answer; the moves stand on the board."""
    parts = [_shapes(situation, board), _price(board), _proof(situation, board, bound)]
    parts += _limits(situation, board, bound)
    parts += [_taints(situation), _blocked(situation)]
    return "; ".join(part for part in parts if part)


def reason_of(situation: Situation, board: Board) -> Callable[[int, int], str]:
    """Why a pod (index) is moved."""
    nodes, problem = situation.columns.cluster.nodes, situation.problem
    before, after = situation.shapes.often(problem.free), situation.shapes.often(board.free)
    names = situation.shapes.names

    def reason(pod: int, _: int) -> str:
        home = int(problem.start.node_of[pod])
        gained = (after - before)[:, home].tolist()
        more = [f"{count} more of {name}" for count, name in zip(gained, names, strict=True) if count > 0]
        return f"makes room on {nodes[home].name} for " + " or ".join(more) if more else "makes room for another move"

    return reason


def _shapes(situation: Situation, board: Board) -> str:
    before = situation.shapes.often(situation.problem.free).sum(axis=1).tolist()
    after = situation.shapes.often(board.free).sum(axis=1).tolist()
    told = ", ".join(
        f"{name}: {first} -> {last}" for name, first, last in zip(situation.shapes.names, before, after, strict=True)
    )
    return f"pods that fit, each shape counted alone: {told}"


def _price(board: Board) -> str:
    count = len(board.moved)
    if not count:
        return "no pod is moved"
    cost = f" that cost {board.charged:g}" if board.charged else ""
    return f"{count} eviction{'s' if count != 1 else ''}{cost}"


def _proof(situation: Situation, board: Board, bound: float) -> str:
    value = -board.state.cost
    unit = "" if situation.shapes.is_counted else " in weight"
    if value >= bound - 1e-9 * max(1.0, abs(bound)):
        return "proven: no plan lets more fit"
    return f"more is not ruled out: at most {bound:g}{unit}"


def _limits(situation: Situation, board: Board, bound: float) -> list[str]:
    if -board.state.cost >= bound:
        return []
    left = situation.limits.in_all - len(board.moved)
    return [f"{situation.limits.names[0]} is used up"] if left <= 0 else []


def _taints(situation: Situation) -> str:
    shapes = situation.shapes
    told = [
        f"{number} for {name}" for number, name in zip(shapes.tainted.tolist(), shapes.names, strict=True) if number
    ]
    return f"nodes left out for their taints: {', '.join(told)}" if told else ""


def _blocked(situation: Situation) -> str:
    """Nodes where a shape would fit if pods that must stay could leave."""
    nodes = blocked_nodes(situation).tolist()
    if not nodes:
        return ""
    names = ", ".join(situation.columns.cluster.nodes[node].name for node in nodes[:_MOST_NAMED])
    more = f" and {len(nodes) - _MOST_NAMED} more" if len(nodes) > _MOST_NAMED else ""
    verb = "node holds" if len(nodes) == 1 else "nodes hold"
    return f"{len(nodes)} {verb} too many pods that must stay ({names}{more})"
