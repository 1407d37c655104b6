"""One cycle, one step a line: start reading here.

snapshot -> eligibility -> prediction -> planner -> independent checker -> plan. Nothing here touches the world; what
carries a plan out is ``execution/run/executor.py``, put together in ``composition/live/carrying_out.py``.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace as with_changes

from rescheduler.checker.checker import check_plan, check_rest
from rescheduler.checker.needs import check_needs
from rescheduler.checker.recounts.recounts import Recount, recounts_of
from rescheduler.checker.violation import Violation
from rescheduler.costs.node_prices import NodePrices, node_prices, price_warnings
from rescheduler.costs.plan_cost import plan_cost
from rescheduler.disruption.absent_kinds import absent_kinds
from rescheduler.disruption.cautions import cautions
from rescheduler.disruption.earlier.owed_room import with_owed_room
from rescheduler.disruption.earlier.ramp_up import let_go_at, marked, without_held_back
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.disruption.gate.gate import other_methods
from rescheduler.disruption.gate.kill_switch import stop_mark
from rescheduler.disruption.karpenter import karpenter_warnings, left_to_karpenter
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.extension_points import Clock, Progress, no_progress
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.attempts import NO_EARLIER_ATTEMPTS, EarlierAttempts
from rescheduler.model.plan.disruption import Eligibility, Selection
from rescheduler.model.plan.leaving_taint import without_leaving_taints
from rescheduler.model.plan.needs import needs_of
from rescheduler.model.plan.plan import Plan
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.planning.lexicographic.document import plan_document, withdrawn_plan
from rescheduler.planning.lexicographic.lexicographic import PlanInProgress, plan_in_order
from rescheduler.planning.lexicographic.warm_start import WarmStart, warm_start_of
from rescheduler.planning.objectives import objectives_of
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.moving_together import groups_moving_together
from rescheduler.planning.problem.objective import ObjectiveSetting, PlanningObjective
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.policy.fields.objectives import SpreadLoadArgs
from rescheduler.policy.fields.policy import Guidance, Mode, Policy, with_unrest
from rescheduler.policy.reading.objective_arguments import arguments_of
from rescheduler.scheduling.schedulers import DEFAULTS, Schedulers
from rescheduler.usage.observed_use import observed_use
from rescheduler.usage.targets import with_targets_as_numbers

PROOF_SHARE = 0.45
"""How long proving a plan takes at most, with the warnings, of what deciding on what may move and reading the cluster
took."""


MOVE_IN_PODS = 11
"""How many pods are decided on in the time in which one move is proven."""
MOST_FOR_MOVES = 0.15
"""Of what is left, since most plans have few moves."""
QUICK_PROOF_SECONDS = 0.4
"""What the proof may take beyond the deadline."""
QUICK_PLAN_SECONDS = 0.35
"""What laying out the question and proving an answer may take beyond it; where even that is too little nothing is
planned."""
LEAST_OF_DECIDING, LEAST_SECONDS = 0.3, 0.2
"""Where anything is planned there is so much time for it, of what deciding took but no more than so many seconds."""
NEW_OBJECTS, COLLECTIONS, OLDER_COLLECTIONS = 50_000, 20, 100
"""How many new objects the collector of cyclic garbage waits for while a plan is made, how many collections of these
before it looks at what was left by them, and how many of those before it looks at everything."""


@dataclass(frozen=True)
class CycleOptions:
    """What one cycle needs besides cluster and policy.

    ``ledger``: earlier evictions. ``is_daemon``: nobody watches, so that what else would be a warning binds. ``stop``:
    why nothing may be evicted (the kill switch on this machine). ``left``: pending pods that are left to an autoscaler,
    by uid, ``waiting``: objectives that are not asked for now, by name; each with the reason. ``wanted``: how many
    replicas workloads wanted so far, where somebody has watched them. ``start``: a plan of this or another snapshot,
    where the search begins (None: with nothing moved). ``earlier``: attempts of which this is what is left.
    """

    clock: Clock
    schedulers: Schedulers = DEFAULTS
    selection: Selection = field(default_factory=Selection)
    seed: int = 0
    progress: Progress = no_progress
    ledger: Ledger = EMPTY_LEDGER
    is_daemon: bool = False
    stop: str | None = None
    left: Mapping[str, str] = field(default_factory=dict)
    waiting: Mapping[str, str] = field(default_factory=dict)
    wanted: Mapping[str, Wanted] = field(default_factory=dict)
    start: Plan | None = None
    earlier: EarlierAttempts = NO_EARLIER_ATTEMPTS


class Asked(NamedTuple):
    """Objectives of somebody else in place of the policy's, and how what they reach is counted again, by name."""

    objectives: Sequence[PlanningObjective]
    recounts: Mapping[str, Recount]


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """Let the collector of cyclic garbage look at new objects, and rarely; not at all where somebody has so ordered.

    It would go through all of a large snapshot again and again: a sixth of the time at 5,000 nodes.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(NEW_OBJECTS, before[0]) if before[0] else 0, COLLECTIONS, OLDER_COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@_rarely_collected()
def make_plan(
    cluster: Cluster, policy: Policy, options: CycleOptions, asked: Callable[[Columns], Asked] | None = None
) -> Plan:
    """Propose moves for a snapshot and prove them; a plan that the checker refuses is withdrawn and says so.

    ``asked``: what to plan for (None: the policy's objectives).
    """
    deadline = Deadline(options.clock, policy.limits.deadline)
    options.progress("deciding what may move")
    schedulers = options.schedulers
    cluster = with_owed_room(schedulers.configured(without_leaving_taints(cluster)), options.ledger)
    eligibility = decide_eligibility(
        cluster,
        policy,
        options.selection,
        schedulers.names,
        ledger=options.ledger,
        is_daemon=options.is_daemon,
        stop=options.stop or stop_mark(cluster, policy),
        wanted=options.wanted,
        left=options.left,
        earlier=options.earlier,
    )
    policy = _without(policy, options.waiting)
    question = _question(deadline, eligibility, cluster, policy, options, asked)
    plan = _proven(plan_in_order(question.objectives, question.request, question.start), question, options)
    if options.is_daemon and plan.moves:
        plan = _ramped_up(plan, eligibility, cluster, policy, options)
    return with_changes(plan, warnings=(*plan.warnings, *_warnings(plan, cluster, policy, options)))


class _Question(NamedTuple):
    """What the planner is asked, with what its answer is proven and counted again by.

    ``cluster``: as the schedulers see it. ``start``: where the search begins.
    """

    cluster: Cluster
    request: PlanRequest
    objectives: Sequence[PlanningObjective]
    start: WarmStart
    recounts: Mapping[str, Recount]
    prices: NodePrices | None


def _question(
    deadline: Deadline,
    eligibility: Eligibility,
    cluster: Cluster,
    policy: Policy,
    options: CycleOptions,
    asked: Callable[[Columns], Asked] | None = None,
) -> _Question:
    """The best plan is asked for that moves and helps nobody but whom an eligibility lets."""
    schedulers = options.schedulers
    prediction = schedulers.model(cluster, is_for_planning=True)
    together = groups_moving_together(cluster, policy.disruption.move_together)
    prices = node_prices(policy, cluster)
    if asked is None:
        observed = observed_load(policy, schedulers.load.windows(cluster), prediction.columns)
        policy = with_targets_as_numbers(policy, prediction.columns, observed)
        left = left_to_karpenter(cluster, policy) if options.is_daemon else {}
        setting = ObjectiveSetting(prediction.columns, observed, prices, left)
        wanted = Asked(objectives_of(policy, setting), recounts_of(policy, cluster, observed, prices))
    else:
        wanted = asked(prediction.columns)
    request = PlanRequest(
        prediction=prediction,
        placement=Placement(prediction.columns),
        eligibility=eligibility,
        is_guided_by_holds=policy.guidance is not Guidance.PREDICT,
        deadline_seconds=left_for_planning(deadline, eligibility, len(cluster.pods), wanted.objectives),
        nominal_seconds=deadline.seconds,
        seed=options.seed,
        clock=options.clock,
        together=together,
        progress=options.progress,
    )
    start = warm_start_of(options.start, request, wanted.objectives)
    return _Question(cluster, request, wanted.objectives, start, wanted.recounts, prices)


def _proven(found: PlanInProgress, question: _Question, options: CycleOptions) -> Plan:
    """What was planned, as a document; where the checker refuses it, one without moves that says so."""
    cluster, eligibility, prices = question.cluster, question.request.eligibility, question.prices
    plan = plan_document(question.request.prediction, eligibility, found)
    options.progress("proving the plan")
    violations = check_plan(cluster, plan, eligibility, options.schedulers.rules(cluster), question.recounts)
    if violations:
        plan = withdrawn_plan(plan, [violation.message for violation in violations])
    return plan if prices is None else with_changes(plan, cost=plan_cost(plan, cluster, prices))


def left_for_planning(
    deadline: Deadline, eligibility: Eligibility, pods: int, objectives: Sequence[PlanningObjective]
) -> float:
    """What is left of the deadline, less what proving the plan takes: that looks at the cluster anew, as was done.

    Each move is looked at as well, of which there may be many.
    """
    left = deadline.remaining()
    spent = deadline.seconds - left
    least = max((objective.least_share for objective in objectives), default=0.0)
    if left <= max(0.0, least * spent - QUICK_PLAN_SECONDS):
        return 0.0
    most = eligibility.limits.max_evictions
    moves = min(len(eligibility.movable) / 4, len(eligibility.movable) if most is None else most)
    of_moves = min(MOVE_IN_PODS * spent * moves / max(1, pods), MOST_FOR_MOVES * left)
    proof = PROOF_SHARE * spent - QUICK_PROOF_SECONDS + of_moves
    return max(left - min(max(0.0, proof), left / 2), min(LEAST_OF_DECIDING * spent, LEAST_SECONDS))


def _ramped_up(plan: Plan, eligibility: Eligibility, cluster: Cluster, policy: Policy, options: CycleOptions) -> Plan:
    """In Execute a plan of what the ramp-up lets go now; else the whole plan, with what it would hold back marked."""
    together = groups_moving_together(cluster, policy.disruption.move_together)
    times = let_go_at(plan, cluster, policy.disruption, options.ledger, together)
    held = sum(at > cluster.taken_at for at in times.values())
    if policy.mode is not Mode.EXECUTE or not held:
        return marked(plan, times, cluster.taken_at)
    deadline = Deadline(options.clock, policy.limits.deadline)
    question = _question(deadline, without_held_back(eligibility, times, cluster), cluster, policy, options)
    less = _proven(plan_in_order(question.objectives, question.request, question.start), question, options)
    text = f"the ramp-up holds {held} of {len(plan.moves)} evictions back for now (policy: disruption.rampUp)"
    return with_changes(less, warnings=(*less.warnings, text))


def _warnings(plan: Plan, cluster: Cluster, policy: Policy, options: CycleOptions) -> Iterator[str]:
    """What is odd about a plan, or would hold ``run`` back."""
    yield from (f"{name} waits: {reason}" for name, reason in options.waiting.items())
    yield from _uncounted(policy)
    yield from absent_kinds(cluster, policy)
    yield from price_warnings(policy, cluster)
    yield from karpenter_warnings(cluster, policy, is_daemon=options.is_daemon)
    yield from options.schedulers.warnings(cluster)
    yield from other_methods(plan.moves)
    yield from cautions(cluster, plan, policy, options.ledger, is_daemon=options.is_daemon)


def _without(policy: Policy, names: Collection[str]) -> Policy:
    """The policy without some of its objectives."""
    if not names:
        return policy
    objectives = tuple(objective for objective in policy.objectives if objective.name not in names)
    return policy.model_copy(update={"objectives": objectives})


def _uncounted(policy: Policy) -> Iterator[str]:
    """Objectives of other packages, whose claims nothing here can count again."""
    for objective in policy.objectives:
        if arguments_of(objective) is None:
            yield f"{objective.name} is of another package: its value is not recounted, its moves keep all other rules"


def observed_load(policy: Policy, load: UsageWindows | None, columns: Columns) -> ObservedUse | None:
    """Load as the policy's SpreadLoad judges it; None if it has no such objective."""
    for objective in policy.objectives:
        arguments = arguments_of(objective)
        if isinstance(arguments, SpreadLoadArgs):
            return observed_use(columns, load, arguments.statistic, tuple(arguments.target))
    return None


def prove_rest(
    cluster: Cluster, plan: Plan, policy: Policy, selection: Selection, schedulers: Schedulers = DEFAULTS
) -> Sequence[Violation]:
    """What speaks against the rest of a plan on a fresh snapshot; empty: it still holds, in every order it allows.

    Whether workloads are at rest is the gate's question: it knows which of the instability is this plan's own.
    """
    cluster = schedulers.configured(without_leaving_taints(cluster))
    named = frozenset([*(move.pod.key for move in plan.moves), *(item.pod.key for item in plan.placements)])
    eligibility = decide_eligibility(cluster, with_unrest(policy), selection, schedulers.names, only=named)
    found = check_rest(cluster, plan, eligibility, schedulers.rules(cluster))
    needs = check_needs(cluster, plan, needs_of(plan.moves, cluster), eligibility)
    return (*found, *needs)
