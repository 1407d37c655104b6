"""Ways to follow a plan: a live table on a terminal, lines off it, JSON for programs, or nothing at all."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rescheduler.cli.following.move_board import MoveBoard
from rescheduler.cli.progress import ShownProgress
from rescheduler.cli.streams import say, write
from rescheduler.model.plan.move_change import AT_REST, MoveChange, MoveState
from rescheduler.model.printable import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

    from rescheduler.model.plan.plan import Plan

MOST_NODES: Final = 4
_REFRESHES: Final = 4
_TOLD_IN_LINES: Final = frozenset({MoveState.EVICTED, *AT_REST})


class Follower:
    """Tells nothing of moves. Is a Progress: steps are shown as ever until a plan has begun."""

    def __init__(self, progress: ShownProgress) -> None:
        self._progress = progress

    def begin(self, plan: Plan) -> None:
        """A person, or --yes, has said yes to this plan."""

    def hear(self, change: MoveChange) -> None:
        """A move has come further."""

    def close(self) -> None:
        """Nothing more comes."""
        self._progress.pause()

    def __call__(self, step: str, done: int = 0, total: int | None = None) -> None:
        """As Progress."""
        self._progress(step, done, total)


class LineFollower(Follower):
    """A line on standard error for each pod that leaves, and for each move that has come to rest."""

    def hear(self, change: MoveChange) -> None:
        """One line, or none."""
        if change.state in _TOLD_IN_LINES:
            say(line_of(change))


class EventFollower(Follower):
    """One JSON object a line on standard output for each change."""

    def hear(self, change: MoveChange) -> None:
        """The line is on its way before anything else is done."""
        write(msgspec.json.encode(change).decode() + "\n")


class LiveFollower(Follower):
    """One table that stays at the bottom of a terminal; moves that have come to rest scroll by above it."""

    def __init__(self, progress: ShownProgress, out: Console) -> None:
        super().__init__(progress)
        self._out = out
        self._board: MoveBoard | None = None
        self._live: Live | None = None

    def begin(self, plan: Plan) -> None:
        """Show the table in place of the steps."""
        from rich.live import Live

        self._progress.pause()
        self._board = MoveBoard(plan, time.monotonic)
        self._live = Live(
            get_renderable=self._view, console=self._out, refresh_per_second=_REFRESHES, transient=True,
            redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        self._live.start()

    def hear(self, change: MoveChange) -> None:
        """Count it, and let it scroll by when it is at rest."""
        if self._board is not None:
            self._board.hear(change)
        if change.state in AT_REST and self._live is not None:
            self._out.print(line_of(change))

    def close(self) -> None:
        """Clear the table away."""
        super().close()
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __call__(self, step: str, done: int = 0, total: int | None = None) -> None:
        """As Progress: part of the table while there is one."""
        if self._board is None or self._live is None:
            super().__call__(step, done, total)
        else:
            self._board.note(step, done, total)

    def _view(self) -> Any:
        assert self._board is not None
        return board_view(self._board)


def line_of(change: MoveChange) -> str:
    """``settled  shop/api-1 from worker-2 to worker-5``; where it came elsewhere, that too."""
    where = f"from {change.from_node}" + (f" to {change.to_node}" if change.to_node else "")
    if change.node is not None and change.node != change.to_node:
        where += f", landed on {change.node}"
    said = f": {change.message}" if change.message else ""
    return printable(f"{change.state.value:9} {change.pod.key} {where}{said}")


def board_view(board: MoveBoard) -> Any:
    """The table: few lines, whatever the size of the plan."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_row("moves", ", ".join(f"{count} {state.value}" for state, count in board.counts.items()))
    nodes = board.nodes
    if nodes:
        more = f", and {len(nodes) - MOST_NODES} more" if len(nodes) > MOST_NODES else ""
        named = ", ".join(f"{printable(item.name)} {item.left} of {item.total}" for item in nodes[:MOST_NODES])
        table.add_row("still to leave", named + more)
    if board.to_place:
        table.add_row("pods getting in", f"{board.placed} of {board.to_place}")
    if board.rate is not None and board.seconds_left is not None:
        table.add_row("rate", f"{board.rate:.1f} moves/s, about {board.seconds_left:.0f} s left")
    if board.step:
        table.add_row("now", board.step)
    return table
