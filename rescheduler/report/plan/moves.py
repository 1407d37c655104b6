"""Moves and placements as tables; of many moves a line for each wave, and each that did not end as planned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import UNSET
from rich.console import RenderableType
from rich.text import Text

from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Move, MoveOutcome, OutcomeKind, PlacementOutcome, PlannedPlacement
from rescheduler.report.cells import STATUS_STYLES, cell, plural, table

# Why a pod moves, with what is special about how: one sentence for every form of report.

LEAVES_FIRST = "leaves before it arrives"
BY_METHOD = {
    MoveMethod.SURGE: "by surge: its replacement is Ready first",
    MoveMethod.MIGRATE: "by migration of whoever owns it",
}
"""How a pod is moved that is not simply evicted."""


def why(move: Move) -> str:
    """The reason of a move, and in brackets what it takes."""
    takes = ["needs guidance"] if move.needs_guidance else []
    if move.evict_first:
        takes.append(f"{LEAVES_FIRST}, like all pods of its wave")
    takes += [BY_METHOD[move.method]] if move.method in BY_METHOD else []
    return f"{move.reason} ({'; '.join(takes)})" if takes else move.reason


def attempt_of(item: MoveOutcome | PlacementOutcome) -> str:
    """Which attempt a move is of, where what was left of the plan was planned again."""
    attempt = item.attempt if isinstance(item, MoveOutcome) else UNSET
    return f" (attempt {attempt})" if isinstance(attempt, int) else ""


def destination(move: Move) -> str:
    """Where the pod is expected, in words."""
    return move.destination or "nowhere"


MOST_MOVES_SHOWN = 60
MOST_WAVES_SHOWN = 20
MOST_SURPRISES_SHOWN = 20


def move_rows(moves: Sequence[Move], *, wide: bool) -> Iterator[RenderableType]:
    """Every move with its reason; where they are many and not ``wide``, counted by wave."""
    if wide or len(moves) <= MOST_MOVES_SHOWN:
        yield _each(moves, wide=wide)
        return
    yield from _by_wave(moves)
    surprises = [move for move in moves if _is_surprise(move)]
    if surprises:
        yield Text()
        yield cell(f"{plural(len(surprises), 'move')} that did not end as planned:", "bold")
        yield _each(surprises[:MOST_SURPRISES_SHOWN], wide=False)
        if len(surprises) > MOST_SURPRISES_SHOWN:
            yield cell(f"and {len(surprises) - MOST_SURPRISES_SHOWN} more", "dim")
    yield cell("-o wide lists each move.", "dim")


def placement_rows(placements: Sequence[PlannedPlacement], *, wide: bool) -> Iterator[RenderableType]:
    """Pending pods with the nodes that they get; of many the first ones."""
    shown = placements if wide else placements[:MOST_MOVES_SHOWN]
    is_done = any(isinstance(place, PlacementOutcome) for place in shown)
    headings = ["POD", "NODE", "ROOM IS FREE", *(["OUTCOME"] if is_done else []), *(["UID"] if wide else [])]
    rows = []
    for place in shown:
        when = f"after wave {place.wave}" if place.wave else "already"
        outcome = [_outcome(place)] if isinstance(place, PlacementOutcome) else []
        rows.append([place.pod.key, place.node, when, *outcome, *([place.pod.uid] if wide else [])])
    yield table(headings, rows, folds=["UID", "POD"] if wide else [])
    if len(shown) < len(placements):
        yield cell(f"and {len(placements) - len(shown)} more; -o wide lists each of them.", "dim")


def _each(moves: Sequence[Move], *, wide: bool) -> RenderableType:
    is_done = any(isinstance(move, MoveOutcome) for move in moves)
    headings = ["WAVE", "POD", "FROM", "TO", *(["OUTCOME"] if is_done else []), "REASON"]
    headings += ["OBJECTIVE", "GUIDANCE", "UID"] if wide else []
    rows = (_move_row(move, is_done=is_done, wide=wide) for move in moves)
    return table(headings, rows, right=["WAVE"], folds=["UID", "REASON", "POD"] if wide else [])


def _move_row(move: Move, *, is_done: bool, wide: bool) -> list[object]:
    row: list[object] = [move.wave, move.pod.key, move.from_node, destination(move)]
    if is_done:
        row.append(_outcome(move) if isinstance(move, MoveOutcome) else "")
    row.append(move.reason if wide else why(move))
    needed = "needed" if move.needs_guidance else "no"
    guidance = f"{needed}; {LEAVES_FIRST}" if move.evict_first else needed
    guidance += f"; {BY_METHOD[move.method].partition(':')[0]}" if move.method in BY_METHOD else ""
    return row + ([move.objective, guidance, move.pod.uid] if wide else [])


def _by_wave(moves: Sequence[Move]) -> Iterator[RenderableType]:
    by_wave: dict[int, list[Move]] = defaultdict(list)
    for move in moves:
        by_wave[move.wave].append(move)
    waves = sorted(by_wave)
    rows = (_wave_row(_wave_name(wave, by_wave[wave]), by_wave[wave]) for wave in waves[:MOST_WAVES_SHOWN])
    yield table(["WAVE", "MOVES", "LEAVE", "GO TO", "FOR EXAMPLE"], rows, right=["WAVE", "MOVES"])
    if len(waves) > MOST_WAVES_SHOWN:
        rest = waves[MOST_WAVES_SHOWN:]
        count = sum(len(by_wave[wave]) for wave in rest)
        yield cell(f"and {plural(count, 'move')} in {plural(len(rest), 'more wave')}", "dim")


def _wave_name(wave: int, moves: Sequence[Move]) -> str:
    return f"{wave}, pods leave before they arrive" if any(move.evict_first for move in moves) else str(wave)


def _wave_row(wave: str, moves: Sequence[Move]) -> list[object]:
    first = moves[0]
    origins, targets = {move.from_node for move in moves}, {move.destination for move in moves} - {None}
    example = f"{first.pod.key} from {first.from_node} to {destination(first)}"
    return [wave, len(moves), plural(len(origins), "node"), plural(len(targets), "node"), example]


def _is_surprise(move: Move) -> bool:
    return isinstance(move, MoveOutcome) and move.outcome is not OutcomeKind.LANDED


def _outcome(item: MoveOutcome | PlacementOutcome) -> Text:
    text = item.outcome.value
    if item.landed_on and item.outcome is OutcomeKind.LANDED_ELSEWHERE:
        text += f" on {item.landed_on}"
    text += attempt_of(item)
    if item.message:
        text += f": {item.message}"
    return cell(text, STATUS_STYLES.get(item.outcome.value, ""))
