"""One cycle, one step a line: start reading here.

snapshot -> eligibility -> prediction -> planner -> independent checker -> plan. Nothing here touches the world; what
carries a plan out is ``execution/executor.py``, put together in ``wiring.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace as with_changes

from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.extension_points import Clock, Progress, no_progress
from rescheduler.model.cluster import Cluster
from rescheduler.model.columns import Columns
from rescheduler.model.disruption import Selection
from rescheduler.model.observed_use import ObservedUse
from rescheduler.model.placement import Placement
from rescheduler.model.plan import Plan
from rescheduler.model.usage import UsageWindows
from rescheduler.planning.document import plan_document, withdrawn_plan
from rescheduler.planning.goals.catalogue import Setting, goals_of
from rescheduler.planning.moving_together import groups_moving_together
from rescheduler.planning.question import Question
from rescheduler.planning.succession import plan_in_order
from rescheduler.policy.models import Guidance, Policy
from rescheduler.policy.objective_arguments import arguments_of
from rescheduler.policy.objectives import SpreadLoadArgs
from rescheduler.proof.checker import check_plan, check_rest
from rescheduler.proof.recounts import recounts_of
from rescheduler.scheduling.schedulers import DEFAULTS, Schedulers
from rescheduler.usage.observed_use import observed_use


@dataclass(frozen=True)
class CycleOptions:
    """What one cycle needs besides cluster and policy."""

    clock: Clock
    schedulers: Schedulers = DEFAULTS
    selection: Selection = field(default_factory=Selection)
    seed: int = 0
    progress: Progress = no_progress


def make_plan(cluster: Cluster, policy: Policy, options: CycleOptions) -> Plan:
    """Propose moves for a snapshot and prove them; a plan that the checker refuses is withdrawn and says so."""
    options.progress("deciding what may move")
    schedulers = options.schedulers
    cluster = schedulers.configured(cluster)
    eligibility = decide_eligibility(cluster, policy, options.selection, schedulers.names)
    prediction = schedulers.model(cluster, is_for_planning=True)
    question = Question(
        prediction=prediction,
        placement=Placement(prediction.columns),
        eligibility=eligibility,
        is_guided_by_holds=policy.guidance is Guidance.HOLD,
        deadline_seconds=policy.limits.deadline,
        seed=options.seed,
        clock=options.clock,
        together=groups_moving_together(cluster, policy.disruption.move_together),
        progress=options.progress,
    )
    observed = _observed(policy, schedulers.load.windows(cluster), prediction.columns)
    course = plan_in_order(goals_of(policy, Setting(prediction.columns, observed)), question)
    plan = plan_document(prediction, eligibility, course)
    options.progress("proving the plan")
    plan = with_changes(plan, warnings=(*plan.warnings, *schedulers.warnings(cluster)))
    recounts = recounts_of(policy, cluster, observed)
    violations = check_plan(cluster, plan, eligibility, schedulers.rules(cluster), recounts)
    return plan if not violations else withdrawn_plan(plan, [violation.message for violation in violations])


def _observed(policy: Policy, load: UsageWindows | None, columns: Columns) -> ObservedUse | None:
    """Load as the policy's SpreadLoad judges it; None if it has no such objective."""
    for objective in policy.objectives:
        arguments = arguments_of(objective)
        if isinstance(arguments, SpreadLoadArgs):
            return observed_use(columns, load, arguments.statistic, tuple(arguments.target))
    return None


def prove_rest(
    cluster: Cluster, plan: Plan, policy: Policy, selection: Selection, schedulers: Schedulers = DEFAULTS
) -> Sequence[str]:
    """What speaks against the rest of a plan on a fresh snapshot; empty: it still holds."""
    cluster = schedulers.configured(cluster)
    eligibility = decide_eligibility(cluster, policy, selection, schedulers.names)
    return [item.message for item in check_rest(cluster, plan, eligibility, schedulers.rules(cluster))]
