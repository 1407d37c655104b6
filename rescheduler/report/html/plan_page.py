"""The page of a plan or its result: the gain, the price, the cluster wave by wave, and all that was left alone."""

from __future__ import annotations

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan, PlanResult
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.report.html.cost_by_owner import cost_by_owner, tiles
from rescheduler.report.html.fullness import fullness
from rescheduler.report.html.lists import machines, moves, placements, refusals, warnings
from rescheduler.report.html.objectives import objectives
from rescheduler.report.html.rendering import page
from rescheduler.report.html.untouched import FEW_NODES, untouched
from rescheduler.report.html.walk import walk
from rescheduler.report.plan.headline import snapshot_line
from rescheduler.report.plan.nodes import uses_of
from rescheduler.report.plan.price import price_of


def plan_page(plan: Plan | PlanResult, cluster: Cluster | None = None, observed: ObservedUse | None = None) -> str:
    """The page as HTML text. ``cluster``: the snapshot that the plan was made from; without it there are no bars.

    ``observed``: the measured load that the plan went by, aligned with the cluster; drawn beside the requests.
    """
    is_long = cluster is not None and len(cluster.nodes) > FEW_NODES
    return page(
        "plan/plan.html",
        "Rescheduling plan" if isinstance(plan, Plan) else "Rescheduling result",
        script="plan/search.js" if is_long else "",
        snapshot=snapshot_line(plan),
        message=plan.message if isinstance(plan, PlanResult) else "",
        parts=_parts(plan, cluster, observed),
    )


def _parts(plan: Plan | PlanResult, cluster: Cluster | None, observed: ObservedUse | None) -> dict[str, object]:
    """What the template shows under each heading, by the name of its macro; nothing where there is no heading."""
    price = price_of(plan, cluster)
    uses = uses_of(plan, cluster, and_others=len(cluster.nodes), observed=observed) if cluster is not None else ()
    return {
        "objectives": objectives(plan),
        "tiles": tiles(plan, price),
        "machines": machines(plan),
        "warnings": warnings(plan.warnings),
        "walk": walk(plan, cluster, price.emptied, observed) if cluster is not None else [],
        "fullness": fullness(uses),
        "cost_by_owner": cost_by_owner(price),
        "placements": placements(plan),
        "moves": moves(plan),
        "refusals": refusals(plan.refusals),
        "untouched": untouched(uses),
    }
