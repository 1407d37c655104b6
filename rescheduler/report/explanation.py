"""Why one pod or one node would or would not move: the answer as data, and told to people."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET, Struct, UnsetType
from rich.console import RenderableType
from rich.text import Text

from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import API_VERSION, Move, PlannedPlacement, PodReference, Refusal
from rescheduler.report.cells import cause, cell, subject, table
from rescheduler.report.plan.moves import destination, why

MOST_NODES_SHOWN = 20


class NodeVerdict(Struct, frozen=True, rename="camel"):
    """Whether one pod may sit on one node, with the scheduler's own words where it may not."""

    node: str
    feasible: bool
    reasons: tuple[str, ...] = ()


class Explanation(Struct, frozen=True, rename="camel"):
    """The answer to "why": one sentence, and what stands behind it.

    ``verdict``: Moves, GetsAPlace, Stays, Refused, Waits or Leaves. ``pod`` or ``node`` names what was asked about,
    ``onNode`` is where the pod is. ``moves``, ``placements`` and ``refusals`` are those of the plan
    and the rules that concern it; ``nodes`` hold a verdict for each node. ``notes``: what another policy would change.
    """

    verdict: str
    message: str
    pod: PodReference | UnsetType = UNSET
    node: str | UnsetType = UNSET
    on_node: str | UnsetType = UNSET
    moves: tuple[Move, ...] = ()
    placements: tuple[PlannedPlacement, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    nodes: tuple[NodeVerdict, ...] = ()
    notes: tuple[str, ...] | UnsetType = UNSET
    api_version: str = API_VERSION
    kind: str = "Explanation"


def explanation_report(explanation: Explanation, *, wide: bool = False) -> Iterator[RenderableType]:
    """Parts of the answer in the order in which they are read."""
    asked = explanation.pod.key if isinstance(explanation.pod, PodReference) else explanation.node
    yield cell(f"{asked}: {explanation.message}", "bold")
    if explanation.moves:
        yield Text()
        rows = ((m.wave, m.pod.key, m.from_node, destination(m), _why(m)) for m in explanation.moves)
        yield table(["WAVE", "POD", "FROM", "TO", "REASON"], rows, right=["WAVE"])
    if explanation.placements:
        yield Text()
        yield table(["POD", "NODE", "WAVE"], ((p.pod.key, p.node, p.wave) for p in explanation.placements))
    if explanation.refusals:
        yield Text()
        rules = ((item.rule, subject(item), cause(item)) for item in explanation.refusals)
        yield table(["RULE", "WHAT", "WHY"], rules)
    for note in explanation.notes or ():
        yield Text()
        yield cell(note)
    yield from _verdicts(explanation, wide=wide)


def _verdicts(explanation: Explanation, *, wide: bool) -> Iterator[RenderableType]:
    """Nodes that would do first; of many nodes the rest is counted."""
    if not explanation.nodes:
        return
    ordered = sorted(explanation.nodes, key=lambda verdict: not verdict.feasible)
    told = ordered if wide else ordered[:MOST_NODES_SHOWN]
    yield Text()
    rows = ((v.node, _fit(v, explanation), "; ".join(v.reasons)) for v in told)
    yield table(["NODE", "FITS NOW", "REASON"], rows)
    if len(told) < len(ordered):
        yield cell(f"and {len(ordered) - len(told)} more nodes; -o wide lists each of them.", "dim")


def _why(move: Move) -> str:
    return why(move) if move.evict_first or move.method is not MoveMethod.EVICT else move.reason


def _fit(verdict: NodeVerdict, explanation: Explanation) -> str:
    if verdict.node == explanation.on_node:
        return "is here"
    return "yes" if verdict.feasible else "no"
