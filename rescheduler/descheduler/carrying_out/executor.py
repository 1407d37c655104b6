"""Carries out a plan of descheduler's victims: finished pods first, which disturb nobody, then wave by wave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from msgspec import structs

from rescheduler.descheduler.carrying_out.announcing import AnnouncingTarget
from rescheduler.descheduler.own_rules import what_binds_finished
from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.execution.run.executor import Executor
from rescheduler.execution.run.move_news import MoveNews, state_of
from rescheduler.execution.run.resuming import rest_of
from rescheduler.extension_points import Clock, ClusterError, ExecutionInterruptedError, ExecutionTarget, Gate
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.move_change import MoveState
from rescheduler.model.plan.plan import Move, MoveOutcome, OutcomeKind, Plan, PlanResult
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.schedulers import Schedulers


class FinishedPods:
    """Says what of our own rules keeps a finished pod where it is."""

    def __init__(self, policy: Policy, selection: Selection, schedulers: Schedulers) -> None:
        self._policy = policy
        self._selection = selection
        self._schedulers = schedulers

    def context(self, cluster: Cluster) -> EligibilityContext:
        """What the rules look at in a cluster."""
        return EligibilityContext(cluster, self._policy, self._selection, self._schedulers.names)

    def objection(self, pod: Pod, context: EligibilityContext) -> str | None:
        """What forbids evicting it; None: it may go."""
        found = what_binds_finished(context, pod)
        return None if found is None else f"{found.rule}: {found.message}"


class DeschedulingExecutor(Executor):
    """An executor for pods that plugins chose.

    ``finished``: what binds pods that have finished. They are evicted one by one, each as it stands then; nothing
    replaces them, so neither ledger nor waves know them. ``tells_failures``: see AnnouncingTarget.
    """

    def __init__(
        self,
        target: ExecutionTarget,
        gate: Gate,
        clock: Clock,
        *,
        finished: FinishedPods,
        tells_failures: bool,
        **settings: Any,
    ) -> None:
        self._announcing = AnnouncingTarget(target, tells_failures=tells_failures)
        super().__init__(cast(ExecutionTarget, self._announcing), gate, clock, **settings)
        self._finished = finished

    def carry_out(self, plan: Plan) -> PlanResult:
        """Do what is left of a plan; see ``Executor.carry_out``."""
        self._announcing.moves = {move.pod: move for move in plan.moves}
        news = MoveNews(plan, self._hear_moves, self._clock)
        done, why = self._evict_finished([move for move in plan.moves if move.destination is None], news)
        told = {move.pod for move in done}
        rest = rest_of(plan, [move for move in plan.moves if move.pod not in told], plan.placements)
        if why or (done and not rest.moves):
            result = PlanResult(plan.snapshot, plan.objectives, _left(rest.moves), refusals=plan.refusals, message=why)
            result = structs.replace(result, warnings=plan.warnings)
            news.planned()
            news.ended(result)
            return _joined(plan, done, result)
        try:
            return _joined(plan, done, super().carry_out(rest))
        except ExecutionInterruptedError as stop:
            raise ExecutionInterruptedError(str(stop), _joined(plan, done, stop.result)) from None

    def _evict_finished(self, moves: Sequence[Move], news: MoveNews) -> tuple[list[MoveOutcome], str]:
        """Those that have finished and go by themselves; others are left to the waves. And why none goes any more."""
        if not moves:
            return [], ""
        cluster = self._target.read()
        context = self._finished.context(cluster)
        done: list[MoveOutcome] = []
        for move in moves:
            pod = cluster.pod_by_key.get(move.pod.key)
            if pod is None or pod.uid != move.pod.uid or not pod.is_finished:
                continue  # the executor tells what became of it
            ending = self._settings.ending() or self._settings.ledger.stopped()
            if ending is not None:
                return done, f"stopped: {ending}; nothing more is evicted"
            news.reached(move.pod, MoveState.PLANNED)
            found = self._evict_one(move, context, news)
            news.reached(move.pod, state_of(found.outcome), message=found.message)
            done.append(found)
        return done, ""

    def _evict_one(self, move: Move, context: EligibilityContext, news: MoveNews) -> MoveOutcome:
        try:
            live = self._target.read_pod(move.pod.namespace, move.pod.name)
            if live is None or live.uid != move.pod.uid:
                return _told(move, OutcomeKind.LANDED, "the pod went by itself")
            if not live.is_finished or live.is_terminating:
                return _told(move, OutcomeKind.REFUSED, "the pod has not finished, or is on its way out already")
            objection = self._finished.objection(live, context)
            if objection is not None:
                return _told(move, OutcomeKind.REFUSED, objection)
            news.reached(move.pod, MoveState.PERMITTED)
            answer = self._target.evict(move.pod, live.resource_version, dry_run=True)
            if answer.kind == "Accepted":
                answer = self._target.evict(move.pod, live.resource_version, dry_run=False)
        except ClusterError as error:
            return _told(move, OutcomeKind.UNKNOWN, str(error))
        if answer.kind in ("Accepted", "Gone"):
            news.reached(move.pod, MoveState.EVICTED)
            return _told(move, OutcomeKind.LANDED, "")
        kind = OutcomeKind.UNKNOWN if answer.kind == "Failed" else OutcomeKind.REFUSED
        return _told(move, kind, f"{answer.kind}: {answer.message}")


def _joined(plan: Plan, done: Sequence[MoveOutcome], result: PlanResult) -> PlanResult:
    """What became of all moves, in the plan's order and waves."""
    outcome_of = {move.pod: move for move in (*done, *map(_without_replacement, result.moves))}
    moves = (structs.replace(outcome_of[move.pod], wave=move.wave) for move in plan.moves)
    return structs.replace(result, moves=tuple(moves))


def _without_replacement(move: MoveOutcome) -> MoveOutcome:
    """One that went by itself, and that nobody makes again, went as it was to."""
    is_over = move.destination is None and move.outcome is OutcomeKind.LANDED_ELSEWHERE
    return structs.replace(move, outcome=OutcomeKind.LANDED) if is_over else move


def _left(moves: Sequence[Move]) -> tuple[MoveOutcome, ...]:
    return tuple(_told(move, OutcomeKind.NOT_ATTEMPTED, "") for move in moves)


def _told(move: Move, outcome: OutcomeKind, message: str) -> MoveOutcome:
    return MoveOutcome(**structs.asdict(move), outcome=outcome, message=message)
