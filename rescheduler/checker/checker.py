"""The independent checker: proves a plan again from the snapshot, with none of the planner's code."""

from __future__ import annotations

from collections.abc import Mapping

from rescheduler.checker.claims import check_claims
from rescheduler.checker.identity import check_identity, check_objectives, check_waves
from rescheduler.checker.limits import check_evict_first, check_groups, check_limits
from rescheduler.checker.methods import check_methods
from rescheduler.checker.recounts.recounts import Recount
from rescheduler.checker.replay import check_arrivals
from rescheduler.checker.violation import Violation
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import Plan
from rescheduler.model.plan.scheduler_rules import ArrivalRules

_NOTHING_MORE = ArrivalRules()
_NO_RECOUNTS: Mapping[str, Recount] = {}


def check_plan(
    cluster: Cluster,
    plan: Plan,
    eligibility: Eligibility,
    rules: ArrivalRules = _NOTHING_MORE,
    recounts: Mapping[str, Recount] = _NO_RECOUNTS,
) -> tuple[Violation, ...]:
    """Everything that is wrong with a plan made from this very snapshot; empty: it is proven.

    ``rules``: what schedulers demand of nodes; by default all that kube-scheduler's own filters do. ``recounts``: of
    the policy's objectives (``recounts_of``); those of other objectives are not counted again.
    """
    return (*_check_acts(cluster, plan, eligibility, rules, first_wave=1), *check_claims(plan, recounts))


def check_rest(
    cluster: Cluster, plan: Plan, eligibility: Eligibility, rules: ArrivalRules = _NOTHING_MORE
) -> tuple[Violation, ...]:
    """As ``check_plan``, for what is left of a plan on a later snapshot.

    Its waves may begin with any number, and what the plan claims of itself is about the whole, so it is left out.
    """
    return _check_acts(cluster, plan, eligibility, rules, first_wave=None)


def _check_acts(
    cluster: Cluster, plan: Plan, eligibility: Eligibility, rules: ArrivalRules, first_wave: int | None
) -> tuple[Violation, ...]:
    has_arrivals = all(move.has_destination for move in plan.moves)
    return (
        *check_identity(cluster, plan, eligibility),
        *check_waves(plan, first_wave),
        *check_evict_first(plan, eligibility),
        *check_methods(cluster, plan, eligibility),
        *check_objectives(plan),
        *check_groups(cluster, plan, eligibility),
        *check_limits(plan, eligibility),
        *(check_arrivals(cluster, plan, rules) if has_arrivals else ()),
    )
