"""The cluster before and after, as a whole and wave by wave: one figure for each, chosen without any script."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan, PlanResult
from rescheduler.report.cells import plural
from rescheduler.report.flows import Flow, flows_of
from rescheduler.report.html.bars import MOST_RESOURCES
from rescheduler.report.html.figure import LEGEND, Look, figure
from rescheduler.report.html.lists import flow_list
from rescheduler.report.html.steps import Step, steps_of
from rescheduler.report.nodes import NodeUse, Walk, most_changed_first, resources_shown

MOST_ROWS = 40
FEW_STEPS = 8
MOST_ROWS_OF_ALL_STEPS = 1200
MOST_ROWS_OF_A_STEP = 40


@dataclass(frozen=True)
class _Pane:
    label: str
    short: str
    flows: Sequence[Flow]
    uses: Sequence[NodeUse]
    most_rows: int


def walk(plan: Plan | PlanResult, cluster: Cluster, emptied: Sequence[str]) -> Iterator[str]:
    """The figures, and what to click on to see each of them; nothing where no pod changes its node."""
    panes = _panes(plan, cluster)
    if not panes[0].uses:
        return
    resources = resources_shown(panes[0].uses)[:MOST_RESOURCES]
    yield LEGEND
    yield '<div class="walk">'
    if len(panes) > 1:
        yield f"<style>{''.join(map(_shown_when_chosen, range(len(panes))))}</style>"
        yield from (_choice(at, pane) for at, pane in enumerate(panes))
        yield '<div class="tabs">' + "".join(_tabs(panes)) + "</div>"
    last_left = {flow.origin: at for at, pane in enumerate(panes) for flow in pane.flows}
    for at, pane in enumerate(panes):
        yield f'<div class="pane" id="p{at}">' if len(panes) > 1 else "<div>"
        yield from _told(pane, at, len(panes))
        empty = frozenset(name for name in emptied if at in (0, last_left.get(name)))
        drawn = _rows(most_changed_first(pane.uses, plan, empty), pane.flows, empty, pane.most_rows)
        look = Look(resources, empty)
        yield from figure(drawn, pane.flows, look, left_out=len(pane.uses) - len(drawn))
        yield from flow_list(pane.flows) if at else ()
        yield "</div>"
    yield "</div>"


def _panes(plan: Plan | PlanResult, cluster: Cluster) -> list[_Pane]:
    flows = flows_of(plan)
    steps = steps_of(flows)
    rows = min(MOST_ROWS_OF_A_STEP, MOST_ROWS_OF_ALL_STEPS // max(1, len(steps)))
    going_on = Walk(cluster)
    return [
        _Pane("Whole plan", "Whole plan", flows, Walk(cluster).step(flows), MOST_ROWS),
        *(_pane(step, going_on, rows) for step in steps),
    ]


def _pane(step: Step, going_on: Walk, rows: int) -> _Pane:
    return _Pane(step.label, step.short, step.flows, going_on.step(step.flows), rows)


def _shown_when_chosen(at: int) -> str:
    return (
        f"#s{at}:checked~#p{at}{{display:block}}"
        f'#s{at}:checked~.tabs>[for="s{at}"]{{background:var(--chosen);color:#fff;border-color:var(--chosen)}}'
        f'#s{at}:focus-visible~.tabs>[for="s{at}"]{{outline:3px solid var(--focus);outline-offset:2px}}'
    )


def _choice(at: int, pane: _Pane) -> str:
    checked = " checked" if at == 0 else ""
    return f'<input type="radio" name="step" class="pick" id="s{at}" aria-label="{pane.label}"{checked}>'


def _tabs(panes: Sequence[_Pane]) -> Iterator[str]:
    are_many = len(panes) > FEW_STEPS + 1
    for at, pane in enumerate(panes):
        if at == 1 and are_many:
            yield "<span>waves</span>"
        yield f'<label for="s{at}" title="{pane.label}">{pane.short if are_many else pane.label}</label>'


def _told(pane: _Pane, at: int, panes: int) -> Iterator[str]:
    moved = sum(flow.origin is not None for flow in pane.flows)
    placed = len(pane.flows) - moved
    told = [plural(moved, "pod moves", "pods move")] if moved or not placed else []
    if placed:
        told.append(plural(placed, "pending pod gets a place", "pending pods get a place"))
    told.append(plural(len(pane.uses), "node changes", "nodes change"))
    back = f'<label for="s{at - 1}">&larr; back</label>' if at else ""
    on = f'<label for="s{at + 1}">next &rarr;</label>' if at + 1 < panes else ""
    turn = f'<span class="turn">{back}{on}</span>' if panes > 1 else ""
    yield f'<div class="told"><span><strong>{pane.label}:</strong> {", ".join(told)}</span>{turn}</div>'


def _rows(ranked: Sequence[NodeUse], flows: Sequence[Flow], emptied: Collection[str], most: int) -> Sequence[NodeUse]:
    """As many nodes as a figure has rows: emptied ones, then each with those that its pods go to, for short arrows."""
    goals: dict[str, dict[str, None]] = defaultdict(dict)
    for flow in flows:
        if flow.origin is not None and flow.target is not None:
            goals[flow.origin][flow.target] = None
    use_of = {use.node.name: use for use in ranked}
    chosen: dict[str, NodeUse] = {}
    ahead = [use.node.name for use in reversed(ranked)]
    while ahead and len(chosen) < most:
        name = ahead.pop()
        if name in use_of and name not in chosen:
            chosen[name] = use_of[name]
            ahead += reversed(goals[name])
    return sorted(chosen.values(), key=lambda use: use.node.name not in emptied)
