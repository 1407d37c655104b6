"""The evictions of a segment: those that come first are permitted together, each way of leading has its own turn."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.execution.eviction.evicting import Evictor
from rescheduler.execution.eviction.own_verdict import OF_ALL, OwnVerdict
from rescheduler.execution.fresh_cluster import FreshCluster, pod_of
from rescheduler.execution.guidance.gated_moves import GatedMoves
from rescheduler.execution.guidance.guiding import MOST_SHUT, Guide, is_guided
from rescheduler.execution.guidance.holds import Holds
from rescheduler.execution.landing.departures import Departures, EvictedPod
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.landing.placing import Nominator
from rescheduler.execution.landing.settling import Settler
from rescheduler.execution.ledger.ledger_session import LedgerSession
from rescheduler.execution.migration.migration_moves import MigrationMoves
from rescheduler.execution.run.leaving_out import LeavingOut
from rescheduler.execution.run.segment_run import SegmentRun, Tools
from rescheduler.execution.stopping import PlanStoppedError, Waiter
from rescheduler.execution.surge.surge_moves import SurgeMoves
from rescheduler.extension_points import ExecutionTarget, Gate
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Move, OutcomeKind, Refusal


class Sender:
    """Sends evictions.

    ``guide``: brings pods to nodes that the scheduler would not choose; None: nobody does. ``gated``: does so by a
    gate, and lets pods change places; None: there is none. ``surges``: moves those that are replaced before they leave;
    ``migrations``: those that their owners move; None: nobody does. ``in_flight``, ``leaving_out``: see ``Tools``.
    """

    def __init__(
        self,
        target: ExecutionTarget,
        gate: Gate,
        fresh: FreshCluster,
        waiter: Waiter,
        holds: Holds,
        settler: Settler,
        nominator: Nominator,
        outcomes: Outcomes,
        session: LedgerSession,
        in_flight: int,
        leaving_out: LeavingOut,
    ) -> None:
        self.guide: Guide | None = None
        self.gated: GatedMoves | None = None
        self.surges: SurgeMoves | None = None
        self.migrations: MigrationMoves | None = None
        self._target = target
        self._gate = gate
        self._fresh = fresh
        self._settler = settler
        self._outcomes = outcomes
        self._session = session
        self._departures = Departures(target)
        verdict = OwnVerdict(gate, fresh, waiter, session, leaving_out.sent)
        self.evictor = Evictor(
            target, waiter, session, lambda move: verdict.objection(move, self._departures.all), verdict.ask,
            fresh.pod_as_seen,
        )  # fmt: skip
        self.tools = Tools(
            target, fresh, waiter, holds, settler, nominator, outcomes, session, verdict, self.evictor,
            in_flight, leaving_out,
        )  # fmt: skip

    def permit(self, moves: Sequence[Move]) -> None:
        """Ask the gate for a whole wave, before any of it is sent; moves that it refuses are dropped.

        That may only forbid: what lets a pod go is its own verdict, right before it is sent. Raises PlanStoppedError
        where what forbids one forbids all.
        """
        self._fresh.require_fast()
        ledger = self._session.look() if moves else self._session.ledger
        verdicts = self._gate.permit(moves, self._fresh.now, self.tools.leaving_out.sent, ledger)
        refused = [
            (move, verdict) for move, verdict in zip(moves, verdicts, strict=True) if isinstance(verdict, Refusal)
        ]
        for move, refusal in refused:
            self._outcomes.of_move(move, OutcomeKind.REFUSED, None, f"{refusal.rule}: {refusal.message}")
            self.tools.leaving_out.dropped.append(move)
        final = next((refusal for _, refusal in refused if refusal.rule in OF_ALL), None)
        if final is not None:
            raise PlanStoppedError(f"the gate refuses a move: {final.rule}: {final.message}")

    def send(self, moves: Sequence[Move]) -> Departures:
        """Evict the pods of one segment, each as soon as what it needs is done; fewer, if one landed in others' way, or
        is refused.

        Raises PlanStoppedError.
        """
        departures = self._departures = Departures(self._target)
        self._settler.watch(departures)
        if all(move.method is MoveMethod.EVICT for move in moves):
            self._evict(moves, departures)
        else:
            self._send_by_method(moves, departures)
        return departures

    def _send_by_method(self, moves: Sequence[Move], departures: Departures) -> None:
        """Evict first what is evicted, if anything is; where all of that left as planned, surge, then migrate."""
        if self.surges is None or self.migrations is None:
            raise PlanStoppedError("pods that are not evicted cannot be moved here; nothing further is moved")
        steps = (
            (MoveMethod.EVICT, self._evict),
            (MoveMethod.SURGE, self.surges.carry_out),
            (MoveMethod.MIGRATE, self.migrations.carry_out),
        )
        expected = 0
        for method, carry_out in steps:
            group = [move for move in moves if move.method is method]
            if group and len(departures.all) == expected:
                carry_out(group, departures)
            expected += len(group)

    def _evict(self, moves: Sequence[Move], departures: Departures) -> None:
        if any(move.evict_first for move in moves):
            self._exchange(moves, departures)
            return
        guided = [move for move in moves if self.guide is not None and is_guided(move, pod_of(move, self._fresh.now))]
        if self.gated is not None:
            others = [move for move in moves if move not in guided]
            if SegmentRun(self.tools, others, (), departures).run() and guided:
                cluster = self._fresh.read() if departures.all else self._fresh.now
                self.gated.lead(guided, departures, self._send_gated, cluster)
            return
        SegmentRun(self.tools, moves, self._shuttable(guided), departures, self.guide).run()

    def _exchange(self, moves: Sequence[Move], departures: Departures) -> None:
        """Evict pods that leave before they arrive."""
        if self.gated is None:
            raise PlanStoppedError("pods that leave before they arrive need guidance: Guide; nothing further is moved")
        self.gated.exchange(moves, departures, self._send_gated, self._fresh.now)

    def _send_gated(self, move: Move) -> EvictedPod:
        """Evict one pod whose replacement waits at the gate."""
        return SegmentRun(self.tools, [move], (), self._departures, frees_places=False).only()

    def _shuttable(self, guided: Sequence[Move]) -> Sequence[Move]:
        """Those that are led by shutting all other nodes; none where there are too many nodes, which is told."""
        if self.guide is None or not guided:
            return ()
        needy = sum(move.needs_guidance for move in guided)
        pods = [pod_of(move, self._fresh.now) for move in guided]
        number = self.guide.too_many(pods, self._fresh.now, is_needed=needy > 0)
        if not number:
            return guided
        if needy:
            self._outcomes.warnings.append(
                f"{needy} of the pods that need guidance go where the scheduler likes them best: {number} nodes "
                f"would have to be shut to them, and {MOST_SHUT} at most are"
            )
        return ()
