"""The cluster before and after, as a whole and wave by wave: one figure for each, chosen without any script."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from typing import NamedTuple

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan, PlanResult
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.report.cells import plural
from rescheduler.report.html.bars import MOST_RESOURCES
from rescheduler.report.html.figure import Look, NodeFigure, figure
from rescheduler.report.html.lists import Listing, flow_list
from rescheduler.report.plan.flows import Flow, flows_of
from rescheduler.report.plan.nodes import NodeUse, Walk, most_changed_first, resources_shown

MOST_STEPS = 40


MOST_ROWS = 40
FEW_STEPS = 8
MOST_ROWS_OF_ALL_STEPS = 1200
MOST_ROWS_OF_A_STEP = 40


class Pane(NamedTuple):
    """A figure that can be chosen: its name, its button, what it says, and the pods of its wave."""

    label: str
    button: str
    told: str
    figure: NodeFigure
    pods: Listing | None


@dataclass(frozen=True)
class _Part:
    """What one pane shows: the whole plan or a step of it."""

    label: str
    short: str
    flows: Sequence[Flow]
    uses: Sequence[NodeUse]
    most_rows: int


def walk(
    plan: Plan | PlanResult, cluster: Cluster, emptied: Sequence[str], observed: ObservedUse | None = None
) -> list[Pane]:
    """The figures, and what to click on to see each of them; nothing where no pod changes its node."""
    parts = _parts(plan, cluster, observed)
    if not parts[0].uses:
        return []
    resources = resources_shown(parts[0].uses)[:MOST_RESOURCES]
    are_many = len(parts) > FEW_STEPS + 1
    last_left = {flow.origin: at for at, part in enumerate(parts) for flow in part.flows}
    panes = []
    for at, part in enumerate(parts):
        empty = frozenset(name for name in emptied if at in (0, last_left.get(name)))
        drawn = _rows(most_changed_first(part.uses, plan, empty), part.flows, empty, part.most_rows)
        look = Look(resources, empty)
        shown = figure(drawn, part.flows, look, left_out=len(part.uses) - len(drawn))
        button = part.short if are_many else part.label
        panes.append(Pane(part.label, button, _told(part), shown, flow_list(part.flows) if at else None))
    return panes


def _parts(plan: Plan | PlanResult, cluster: Cluster, observed: ObservedUse | None) -> list[_Part]:
    flows = flows_of(plan)
    steps = steps_of(flows)
    rows = min(MOST_ROWS_OF_A_STEP, MOST_ROWS_OF_ALL_STEPS // max(1, len(steps)))
    going_on = Walk(cluster, observed)
    return [
        _Part("Whole plan", "Whole plan", flows, Walk(cluster, observed).step(flows), MOST_ROWS),
        *(_part(step, going_on, rows) for step in steps),
    ]


def _part(step: Step, going_on: Walk, rows: int) -> _Part:
    return _Part(step.label, step.short, step.flows, going_on.step(step.flows), rows)


def _told(part: _Part) -> str:
    moved = sum(flow.origin is not None for flow in part.flows)
    placed = len(part.flows) - moved
    told = [plural(moved, "pod moves", "pods move")] if moved or not placed else []
    if placed:
        told.append(plural(placed, "pending pod gets a place", "pending pods get a place"))
    told.append(plural(len(part.uses), "node changes", "nodes change"))
    return ", ".join(told)


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


class Step(NamedTuple):
    """One wave, or a few that follow each other where there are many; ``label`` and ``short`` name them."""

    label: str
    short: str
    flows: tuple[Flow, ...]


def steps_of(flows: Sequence[Flow]) -> tuple[Step, ...]:
    """The steps in order; ``flows`` are sorted by wave. No step for a plan of one wave, which is its own only step."""
    waves = [(number, tuple(found)) for number, found in groupby(flows, key=lambda flow: flow.wave)]
    if len(waves) <= 1:
        return ()
    return tuple(_steps(waves, ceil(len(waves) / MOST_STEPS)))


def _steps(waves: Sequence[tuple[int, tuple[Flow, ...]]], each: int) -> Iterator[Step]:
    for start in range(0, len(waves), each):
        part = waves[start : start + each]
        first, last = part[0][0], part[-1][0]
        flows = tuple(flow for _, found in part for flow in found)
        yield Step(
            _label(first, last) + _leaving_first(flows), f"{first}" if first == last else f"{first}-{last}", flows
        )


def _leaving_first(flows: Sequence[Flow]) -> str:
    """What to say of a step in which pods are down while others leave."""
    waves = sorted({flow.wave for flow in flows if flow.leaves_first})
    if not waves:
        return ""
    if len({flow.wave for flow in flows}) == 1:
        return ": pods leave before they arrive"
    return f": in wave {', '.join(map(str, waves))} pods leave before they arrive"


def _label(first: int, last: int) -> str:
    if first == last:
        return f"Wave {first}" if first else "Fits already"
    return f"Waves {first} to {last}" if first else f"Up to wave {last}"
