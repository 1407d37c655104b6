"""The page of a plan or its result: the gain, the price, the cluster wave by wave, and all that was left alone."""

from __future__ import annotations

from collections.abc import Iterator

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan, PlanResult
from rescheduler.report.headline import snapshot_line
from rescheduler.report.html.fullness import fullness
from rescheduler.report.html.lists import moves, placements, refusals, warnings
from rescheduler.report.html.markup import page, section, text
from rescheduler.report.html.objectives import objectives
from rescheduler.report.html.payers import payers, tiles
from rescheduler.report.html.untouched import untouched
from rescheduler.report.html.walk import walk
from rescheduler.report.nodes import uses_of
from rescheduler.report.price import price_of


def plan_page(plan: Plan | PlanResult, cluster: Cluster | None = None) -> str:
    """The page as HTML text. ``cluster``: the snapshot that the plan was made from; without it there are no bars."""
    title = "Rescheduling plan" if isinstance(plan, Plan) else "Rescheduling result"
    price = price_of(plan, cluster)
    body = [
        f"<h1>{title}</h1>",
        f'<p class="quiet">{text(snapshot_line(plan))}</p>',
        *objectives(plan),
        *_end(plan),
        *tiles(plan, price),
        *section("Warnings", warnings(plan.warnings)),
    ]
    uses = uses_of(plan, cluster, and_others=len(cluster.nodes)) if cluster is not None else ()
    if cluster is not None:
        body += section("Nodes before and after", walk(plan, cluster, price.emptied))
        body += section("How full the nodes are", fullness(uses))
    body += [
        *section("Who pays", payers(price)),
        *section("Places for pending pods", placements(plan)),
        *section("Moves", moves(plan)),
        *section("Left alone", refusals(plan.refusals)),
    ]
    body += section("Nodes that the plan does not touch", untouched(uses))
    return page(title, body)


def _end(plan: Plan | PlanResult) -> Iterator[str]:
    if isinstance(plan, PlanResult) and plan.message:
        yield f'<p class="headline">{text(plan.message)}</p>'
