"""A plan or its result told to people: the gain, its price, the nodes, each move with its reason, each refusal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.text import Text

from rescheduler.model.cluster import Cluster
from rescheduler.model.plan import Move, MoveOutcome, PlacementOutcome, Plan, PlannedPlacement, PlanResult, Refusal
from rescheduler.model.resources import PODS
from rescheduler.report.cells import STATUS_STYLES, cell, plural, subject, table
from rescheduler.report.headline import headlines, snapshot_line
from rescheduler.report.node_use import NodeUse, in_one_unit, resources_shown, uses_of

MOST_REFUSALS_SHOWN = 10


def plan_report(plan: Plan | PlanResult, cluster: Cluster | None = None, *, wide: bool = False) -> list[RenderableType]:
    """Parts of the report in the order in which they are read.

    ``cluster``: the snapshot that the plan was made from; without it the nodes are left out.
    """
    parts: list[RenderableType] = [_headline(status, text) for status, text in headlines(plan)]
    parts.append(cell(snapshot_line(plan), "dim"))
    uses = uses_of(plan, cluster) if cluster is not None else ()
    for title, body in (
        ("Nodes", _nodes(uses) if uses else None),
        ("Moves", _moves(plan.moves, wide=wide) if plan.moves else None),
        ("Places for pending pods", _placements(plan.placements, wide=wide) if plan.placements else None),
    ):
        if body is not None:
            parts += [Text(), Text(title, style="bold"), body]
    parts += _refusals(plan.refusals, wide=wide)
    if isinstance(plan, PlanResult) and plan.message:
        parts += [Text(), cell(plan.message)]
    return parts


def _headline(status: str, text: str) -> Text:
    line = cell(f"{status}  " if status else "", STATUS_STYLES.get(status, ""))
    return line.append_text(cell(text))


def _nodes(uses: tuple[NodeUse, ...]) -> RenderableType:
    resources = resources_shown(uses)
    rows = ([use.node.name, *(_change(use, name) for name in (*resources, PODS))] for use in uses)
    return table(["NODE", *(name.upper() for name in resources), "PODS"], rows)


def _change(use: NodeUse, name: str) -> str:
    before, after = (in_one_unit(name, amounts.get(name, 0)) for amounts in (use.before, use.after))
    change = before if before == after else f"{before} -> {after}"
    return f"{change} of {in_one_unit(name, use.offered.get(name, 0))}"


def _moves(moves: Iterable[Move | MoveOutcome], *, wide: bool) -> RenderableType:
    moves = tuple(moves)
    is_done = any(isinstance(move, MoveOutcome) for move in moves)
    headings = ["WAVE", "POD", "FROM", "TO", *(["OUTCOME"] if is_done else []), "REASON"]
    headings += ["OBJECTIVE", "GUIDANCE", "UID"] if wide else []
    return table(headings, (_move_row(move, is_done=is_done, wide=wide) for move in moves), right=["WAVE"])


def _move_row(move: Move, *, is_done: bool, wide: bool) -> list[object]:
    row: list[object] = [move.wave, move.pod.key, move.from_node, move.to_node]
    if is_done:
        row.append(_outcome(move) if isinstance(move, MoveOutcome) else "")
    needed = "needed" if move.needs_guidance else ""
    row.append(move.reason if wide or not needed else f"{move.reason} (needs guidance)")
    return row + ([move.objective, needed or "no", move.pod.uid] if wide else [])


def _outcome(item: MoveOutcome | PlacementOutcome) -> Text:
    text = item.outcome.value
    if item.landed_on and item.outcome.value == "LandedElsewhere":
        text += f" on {item.landed_on}"
    if item.message:
        text += f": {item.message}"
    return cell(text, STATUS_STYLES.get(item.outcome.value, ""))


def _placements(placements: Iterable[PlannedPlacement], *, wide: bool) -> RenderableType:
    placements = tuple(placements)
    is_done = any(isinstance(place, PlacementOutcome) for place in placements)
    headings = ["POD", "NODE", "ROOM IS FREE", *(["OUTCOME"] if is_done else []), *(["UID"] if wide else [])]
    rows = []
    for place in placements:
        when = f"after wave {place.wave}" if place.wave else "already"
        outcome = [_outcome(place)] if isinstance(place, PlacementOutcome) else []
        rows.append([place.pod.key, place.node, when, *outcome, *([place.pod.uid] if wide else [])])
    return table(headings, rows)


def _refusals(refusals: tuple[Refusal, ...], *, wide: bool) -> Iterator[RenderableType]:
    """Each refusal with its rule; many of them are counted by rule, with one as an example."""
    if not refusals:
        return
    yield Text()
    yield Text(f"Left alone ({plural(len(refusals), 'refusal')})", style="bold")
    if wide or len(refusals) <= MOST_REFUSALS_SHOWN:
        yield table(["RULE", "WHAT", "WHY"], ((item.rule, subject(item), item.message) for item in refusals))
        return
    by_rule: dict[str, list[Refusal]] = defaultdict(list)
    for item in refusals:
        by_rule[item.rule].append(item)
    rows = ([rule, len(found), subject(found[0]), found[0].message] for rule, found in by_rule.items())
    yield table(["RULE", "COUNT", "FOR EXAMPLE", "WHY"], rows, right=["COUNT"])
    yield cell("-o wide lists each of them.", "dim")
