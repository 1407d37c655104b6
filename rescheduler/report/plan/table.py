"""A plan or its result told to people: the gain, its price, the nodes, each move with its reason, each refusal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.text import Text

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan, PlanResult, Refusal
from rescheduler.report.cells import STATUS_STYLES, cause, cell, hanging, plural, subject, table
from rescheduler.report.plan.headline import headlines, snapshot_line
from rescheduler.report.plan.moves import move_rows, placement_rows
from rescheduler.report.plan.nodes import node_rows, uses_of
from rescheduler.report.plan.price import price_lines, price_of

MOST_REFUSALS_SHOWN = 10


def plan_report(plan: Plan | PlanResult, cluster: Cluster | None = None, *, wide: bool = False) -> list[RenderableType]:
    """Parts of the report in the order in which they are read.

    ``cluster``: the snapshot that the plan was made from; without it the nodes are left out. Long lists are counted
    unless ``wide``.
    """
    price = price_of(plan, cluster)
    uses = uses_of(plan, cluster) if cluster is not None else ()
    parts: list[RenderableType] = [_headline(status, text) for status, text in headlines(plan)]
    parts.append(hanging(cell(snapshot_line(plan), "dim")))
    parts += [hanging(cell(line), 4) for line in price_lines(price, wide=wide)]
    for title, body in (
        ("Nodes", node_rows(uses, plan, price.emptied, wide=wide) if uses else ()),
        ("Moves", move_rows(plan.moves, wide=wide) if plan.moves else ()),
        ("Places for pending pods", placement_rows(plan.placements, wide=wide) if plan.placements else ()),
    ):
        parts += _titled(title, body)
    parts += _refusals(plan.refusals, wide=wide)
    if isinstance(plan, PlanResult) and plan.message:
        parts += [Text(), cell(plan.message)]
    return parts


def _titled(title: str, body: Iterable[RenderableType]) -> list[RenderableType]:
    found = list(body)
    return [Text(), Text(title, style="bold"), *found] if found else []


def _headline(status: str, text: str) -> RenderableType:
    line = cell(f"{status}  " if status else "", STATUS_STYLES.get(status, ""))
    return hanging(line.append_text(cell(text)))


def _refusals(refusals: tuple[Refusal, ...], *, wide: bool) -> Iterator[RenderableType]:
    """Each refusal with its rule; many of them are counted by rule, with one as an example."""
    if not refusals:
        return
    yield Text()
    yield Text(f"Left alone ({plural(len(refusals), 'refusal')})", style="bold")
    if wide or len(refusals) <= MOST_REFUSALS_SHOWN:
        yield table(["RULE", "WHAT", "WHY"], ((item.rule, subject(item), cause(item)) for item in refusals))
        return
    by_rule: dict[str, list[Refusal]] = defaultdict(list)
    for item in refusals:
        by_rule[item.rule].append(item)
    rows = ([rule, len(found), subject(found[0]), cause(found[0])] for rule, found in by_rule.items())
    yield table(["RULE", "COUNT", "FOR EXAMPLE", "WHY"], rows, right=["COUNT"])
    yield cell("-o wide lists each of them.", "dim")
