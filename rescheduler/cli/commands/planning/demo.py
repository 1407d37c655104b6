"""``demo``: the whole loop in an embedded cluster, start to finish, without Kubernetes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from rescheduler.cli.failures import DONE, FAILED
from rescheduler.cli.options import LARGEST_SEED
from rescheduler.cli.parameters import parsed, whole_number
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import console, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rescheduler.model.objects.cluster import Cluster
    from rescheduler.model.plan.plan import MoveOutcome, PlacementOutcome, PlanResult
    from rescheduler.report.plan.bars import BarStyle


def demo(
    seed: Annotated[
        int,
        typer.Option(parser=parsed(whole_number(0, LARGEST_SEED)), metavar="N", help="Seed of the embedded cluster"),
    ] = 0,
) -> int:
    """Show the whole loop on the embedded cluster: a pending pod, the plan, its moves, the check.

    Needs no Kubernetes."""
    from rescheduler.adapters.simulated.scenarios import fragmented
    from rescheduler.composition import simulating
    from rescheduler.composition.planning import cycle_options
    from rescheduler.cycle import make_plan
    from rescheduler.model.plan.attempts import is_as_planned
    from rescheduler.model.plan.disruption import Selection
    from rescheduler.policy.fields.policy import Policy
    from rescheduler.report.plan.bars import node_bars, pending_lines
    from rescheduler.report.plan.table import plan_report

    cluster, policy, selection, style = fragmented(seed), Policy(), Selection(), _style()
    bars = node_bars(cluster, style=style)
    _chapter("1. The cluster: a pod is pending, it fits on no node", [*bars, *pending_lines(cluster, style=style)])
    with shown_progress() as progress:
        asked = cycle_options(policy, selection=selection, seed=seed, progress=progress)
        plan = make_plan(cluster, policy, asked)
    _chapter("2. The plan, proven by an independent checker", plan_report(plan))
    with shown_progress() as progress:
        report = simulating.simulate(cluster, policy, selection=selection, seed=seed, progress=progress)
    after = node_bars(report.after, plan=plan, before=cluster, style=style)
    title = "3. The cluster after the plan was carried out in the embedded cluster"
    _chapter(title, [*after, *pending_lines(report.after, style=style)])
    _chapter("4. The check: what happened, as against the plan", _check(report.results[0], report.after, report.ties))
    return DONE if all(map(is_as_planned, report.results)) and not report.after.pending_pods else FAILED


def _style() -> BarStyle:
    from rescheduler.report.plan.bars import BarStyle

    out = console(sys.stdout)
    return BarStyle(width=out.width, is_ascii=not out.encoding.lower().startswith("utf"))


def _chapter(title: str, parts: Iterable[RenderableType]) -> None:
    from rich.text import Text

    show([Text(title, style="bold"), Text(), *parts, Text()])


def _check(result: PlanResult, after: Cluster, ties: Mapping[str, Sequence[str]]) -> Iterable[RenderableType]:
    from rescheduler.report.cells import STATUS_STYLES, cell, hanging, plural

    items: list[MoveOutcome | PlacementOutcome] = [*result.moves, *result.placements]
    for item in items:
        outcome = cell(f"{item.outcome.value}  ", STATUS_STYLES.get(item.outcome.value, ""))
        where = f" on {item.landed_on}" if item.landed_on else ""
        message = f": {item.message}" if item.message else ""
        yield hanging(outcome.append_text(cell(f"{item.pod.key}{where}{message}{_told_elsewhere(item, ties)}")))
    yield cell(
        f"{plural(len(after.pending_pods), 'pending pod')} left" + (f"; {result.message}" if result.message else "")
    )


def _told_elsewhere(item: MoveOutcome | PlacementOutcome, ties: Mapping[str, Sequence[str]]) -> str:
    """Which node the plan foretold, and whether the scheduler found both alike."""
    planned = getattr(item, "to_node", "") or getattr(item, "node", "")
    if item.landed_on in (None, planned):
        return ""
    alike = ties.get(item.message.removeprefix("as "), ())
    if planned not in alike:
        return f"; the plan foretold {planned}"
    others = f"{planned} and {item.landed_on}" + (f" and {len(alike) - 2} more" if len(alike) > 2 else "")
    origin = getattr(item, "from_node", "")
    harmless = f"; what counts is the room on {origin}, and that was made" if origin else ""
    return (
        f"; the plan foretold {planned}. The scheduler scored {others} alike, a tie, and draws one of them "
        f"by lot{harmless}"
    )
