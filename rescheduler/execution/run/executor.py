"""Carries a plan out: holds first, then wave by wave, stopping at the first surprise and leaving nothing behind."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence

import msgspec

from rescheduler.execution.guidance.hold_maker import HoldSettings
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.ledger.ledger_rules import DEFAULT_RULES, LedgerRules, LedgerSettings
from rescheduler.execution.ledger.private_ledger import PrivateLedger
from rescheduler.execution.migration.migration_core import MigrationRules
from rescheduler.execution.pacing import RequestPace
from rescheduler.execution.run.move_news import MoveNews
from rescheduler.execution.run.plan_run import PlanRun, RunSettings
from rescheduler.execution.run.proving import Proof
from rescheduler.execution.stopping import PlanOvertakenError, PlanStoppedError
from rescheduler.execution.surge.surge_core import SurgeRules
from rescheduler.extension_points import (
    AuditLog,
    Clock,
    ClusterError,
    ExecutionInterruptedError,
    ExecutionTarget,
    Gate,
    HearMoves,
    LedgerStore,
    NotSentError,
    Progress,
    StoreError,
    no_progress,
    nobody_hears,
)
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.attempts import NO_EARLIER_ATTEMPTS, EarlierAttempts
from rescheduler.model.plan.plan import Plan, PlanResult, PodReference

__all__ = ["Executor", "HoldSettings", "LedgerRules", "plan_id_of"]


class Executor:
    """Carries plans out on one cluster.

    ``guidance``: Hold or Predict. ``timeout_seconds`` bounds one whole plan. ``proof`` says what speaks against the
    rest of a plan on a fresh snapshot (empty: nothing). ``as_seen``: what the configured schedulers make of a snapshot,
    done to each that is read. ``ledger``: where each eviction is written down before it is sent (None, in tests: where
    nobody else sees it), ``audit``: a record of the same on this disk. ``stopped`` is asked right before each eviction
    and says why nothing more may be sent; ``ending`` is asked in every wait too, and says why the plan ends at once.
    ``rules``: how the ledger is kept. ``run_id``: what stands on everything that is written, by default the plan's own
    id; where a plan may be carried out again while something clears up behind an earlier run of it, each run needs one
    of its own. ``hear_moves`` is told how far each move has come. ``in_flight``: so many moves are under way at once;
    one counts until its replacement is Ready. ``surge``, ``migration``: how long moves by surge, and of pods that their
    owners move, may take; without it none is made.
    ``asked``: requests to the API server within the last minute, where the run is to keep to ten a second on average.
    ``earlier``: attempts of which the plan is what was left. ``together``: numbers of a cluster's pods that move all or
    not at all, in groups.
    """

    def __init__(
        self,
        target: ExecutionTarget,
        gate: Gate,
        clock: Clock,
        *,
        hold: HoldSettings,
        guidance: str,
        timeout_seconds: float,
        proof: Proof,
        as_seen: Callable[[Cluster], Cluster] = lambda cluster: cluster,
        progress: Progress = no_progress,
        ledger: LedgerStore | None = None,
        audit: AuditLog | None = None,
        stopped: Callable[[], str | None] = lambda: None,
        ending: Callable[[], str | None] = lambda: None,
        rules: LedgerRules = DEFAULT_RULES,
        run_id: str | None = None,
        hear_moves: HearMoves = nobody_hears,
        in_flight: int = 10,
        surge: SurgeRules | None = None,
        migration: MigrationRules | None = None,
        asked: Callable[[], int] = lambda: 0,
        earlier: EarlierAttempts = NO_EARLIER_ATTEMPTS,
        together: Callable[[Cluster], Iterable[Sequence[int]]] = lambda _: (),
    ) -> None:
        self.was_stopped = False
        """Whether the last plan met something that ends every other one too: nothing is planned again then."""
        self.ready: frozenset[PodReference] = frozenset()
        """Pods of the last plan whose replacements work."""
        self._target = target
        self._gate = gate
        self._clock = clock
        self._run_id = run_id
        self._hear_moves = hear_moves
        ledger_settings = LedgerSettings(PrivateLedger() if ledger is None else ledger, audit, stopped, rules)
        self._settings = RunSettings(
            hold, guidance, timeout_seconds, proof, as_seen, progress, ledger_settings, ending, in_flight=in_flight,
            surge=surge, migration=migration, pace=RequestPace(asked), earlier=earlier, together=together,
        )  # fmt: skip

    def carry_out(self, plan: Plan) -> PlanResult:
        """Do what is left of a plan and tell what became of each move and placement.

        A plan that had to stop is told by its outcomes and its message. Raises ClusterError if the cluster could not
        be read at all, ExecutionInterruptedError (with the result so far) on KeyboardInterrupt.
        """
        news = MoveNews(plan, self._hear_moves, self._clock)
        settings = self._settings.telling(news)
        run = PlanRun(plan, self._run_id or plan_id_of(plan), self._target, self._gate, self._clock, settings)
        news.planned()
        is_interrupted = False
        self.was_stopped = True
        try:
            run.carry_out()
            self.was_stopped = False
        except KeyboardInterrupt:
            is_interrupted = True
            run.outcomes.message = "interrupted: nothing further is moved"
        except PlanStoppedError as stopped:
            self.was_stopped = not isinstance(stopped, PlanOvertakenError)
            run.outcomes.message = str(stopped)
        except (ClusterError, StoreError) as error:
            if not run.has_begun:
                raise
            is_ours = isinstance(error, StoreError | NotSentError)
            run.outcomes.message = str(error) if is_ours else f"the cluster failed us: {error}"
        finally:
            run.close()
            self.ready = run.ready
        return _told(run, news, is_interrupted=is_interrupted)


def plan_id_of(plan: Plan) -> str:
    """A short name of what a plan does: equal for equal moves and placements."""
    return hashlib.sha256(msgspec.json.encode([plan.moves, plan.placements])).hexdigest()[:10]


def _told(run: PlanRun, news: MoveNews, *, is_interrupted: bool) -> PlanResult:
    try:
        run.tell_open_departures(is_interrupted=is_interrupted)
    except KeyboardInterrupt:
        is_interrupted = True
    run.close_books()
    outcomes: Outcomes = run.outcomes
    result = outcomes.result()
    news.ended(result)
    if is_interrupted:
        raise ExecutionInterruptedError(outcomes.message or "interrupted", result)
    return result
