"""A plan as one self-contained page: nodes as bars before and after, moves, reasons, refusals; nothing is fetched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from rescheduler.model.cluster import Cluster
from rescheduler.model.plan import MoveOutcome, PlacementOutcome, Plan, PlanResult, Refusal
from rescheduler.model.printable import printable
from rescheduler.model.resources import PODS
from rescheduler.report.cells import subject
from rescheduler.report.headline import headlines, snapshot_line
from rescheduler.report.node_use import NodeUse, in_one_unit, resources_shown, uses_of
from rescheduler.report.page_style import STYLE

MOST_OTHER_NODES = 300
MOST_REFUSALS_PER_RULE = 200


def plan_page(plan: Plan | PlanResult, cluster: Cluster | None = None) -> str:
    """The page as HTML text. ``cluster``: the snapshot that the plan was made from; without it there are no bars."""
    title = "Rescheduling plan" if isinstance(plan, Plan) else "Rescheduling result"
    uses = uses_of(plan, cluster, and_others=MOST_OTHER_NODES) if cluster is not None else ()
    body = [
        f"<h1>{title}</h1>",
        *_summary(plan),
        *_section("Moves", _moves(plan)),
        *_section("Places for pending pods", _placements(plan)),
        *_section("Nodes", _nodes(uses, plan)),
        *_section("Left alone", _refusals(plan.refusals)),
        *_section("Warnings", (f"<p>{_text(warning)}</p>" for warning in plan.warnings)),
    ]
    return page(title, body)


def page(title: str, body: Iterable[str]) -> str:
    """A whole page of our style around lines of HTML; ``title`` must be escaped."""
    text = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n" + "\n".join(body) + "\n</body>\n</html>\n"
    )
    return text.encode("ascii", "xmlcharrefreplace").decode()  # reads the same in every locale


def _text(value: object) -> str:
    """Any text of a cluster, safe in HTML: escaped, and without characters that do not print."""
    return escape(printable(str(value)), quote=True)


def _section(title: str, lines: Iterable[str]) -> list[str]:
    found = list(lines)
    return [f"<section><h2>{title}</h2>", *found, "</section>"] if found else []


def _summary(plan: Plan | PlanResult) -> Iterator[str]:
    for status, sentence in headlines(plan):
        badge = f'<span class="badge {status.lower()}">{status}</span> ' if status else ""
        yield f'<p class="headline">{badge}{_text(sentence)}</p>'
    if isinstance(plan, PlanResult) and plan.message:
        yield f'<p class="headline">{_text(plan.message)}</p>'
    yield f'<p class="quiet">{_text(snapshot_line(plan))}</p>'


def _table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield "<table><thead><tr>" + "".join(f"<th>{heading}</th>" for heading in headings) + "</tr></thead><tbody>"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{_text(item)}</td>" for item in row) + "</tr>"
    yield "</tbody></table>"


def _moves(plan: Plan | PlanResult) -> Iterator[str]:
    if plan.moves:
        is_done = isinstance(plan, PlanResult)
        headings = ["Wave", "Pod", "From", "To", *(["Outcome"] if is_done else []), "Reason"]
        yield from _table(
            headings,
            (
                [move.wave, move.pod.key, move.from_node, move.to_node, *_outcome(move), move.reason]
                for move in plan.moves
            ),
        )


def _placements(plan: Plan | PlanResult) -> Iterator[str]:
    if plan.placements:
        headings = ["Pod", "Node", "Room is free", *(["Outcome"] if isinstance(plan, PlanResult) else [])]
        rows = (
            [place.pod.key, place.node, f"after wave {place.wave}" if place.wave else "already", *_outcome(place)]
            for place in plan.placements
        )
        yield from _table(headings, rows)


def _outcome(item: object) -> list[str]:
    if not isinstance(item, MoveOutcome | PlacementOutcome):
        return []
    landed = f" on {item.landed_on}" if item.landed_on else ""
    return [f"{item.outcome.value}{landed}" + (f": {item.message}" if item.message else "")]


def _nodes(uses: Sequence[NodeUse], plan: Plan | PlanResult) -> Iterator[str]:
    for use in uses:
        yield f'<div class="node"><h3>{_text(use.node.name)}</h3>'
        for name in resources_shown(uses):
            if use.offered.get(name):
                yield _bars(use, name)
        yield f'<p class="quiet">{use.before[PODS]} pods before, {use.after[PODS]} after</p></div>'
    left_out = plan.snapshot.nodes - len(uses)
    if uses and left_out > 0:
        yield f'<p class="quiet">and {left_out} more nodes that the plan does not touch</p>'


def _bars(use: NodeUse, name: str) -> str:
    """Two bars of one resource, before and after; an overcommitted node's bar is full and red."""
    offered, lines = use.offered[name], []
    for label, amount in (("before", use.before.get(name, 0)), ("after", use.after.get(name, 0))):
        share = amount / offered
        full = " over" if share > 1 else ""
        width = min(100.0, 100 * share)
        amounts = f"{in_one_unit(name, amount)} of {in_one_unit(name, offered)}"
        lines.append(
            f'<div class="row"><span class="label">{_text(name)} {label}</span><span class="track">'
            f'<span class="fill {label}{full}" style="width:{width:.1f}%"></span></span>'
            f'<span class="amount">{_text(amounts)}</span></div>'
        )
    return "".join(lines)


def _refusals(refusals: Sequence[Refusal]) -> Iterator[str]:
    by_rule: dict[str, list[Refusal]] = defaultdict(list)
    for refusal in refusals:
        by_rule[refusal.rule].append(refusal)
    for rule, found in by_rule.items():
        yield f"<details{' open' if len(found) <= 10 else ''}><summary>{_text(rule)} ({len(found)})</summary>"
        yield from _table(["What", "Why"], ([subject(one), one.message] for one in found[:MOST_REFUSALS_PER_RULE]))
        if len(found) > MOST_REFUSALS_PER_RULE:
            yield f'<p class="quiet">and {len(found) - MOST_REFUSALS_PER_RULE} more</p>'
        yield "</details>"
