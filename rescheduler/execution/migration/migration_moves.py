"""Carries migrations out: each owner is asked once, new pods are led to their places, and what he does is told.

The shell around ``migration_core``: it has no will of its own. Nothing is ever asked twice, and never as a dry run: the
owner's webhook answers that with the same words, and does nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rescheduler.execution.eviction.evicting import DOUBT_SECONDS, is_leaving, told, what_changed
from rescheduler.execution.fresh_cluster import pod_of
from rescheduler.execution.landing.departures import Departures, EvictedPod, selector_of
from rescheduler.execution.migration import migration_core as core
from rescheduler.execution.run.leading import ReplacementGuide
from rescheduler.execution.run.segment_run import Tools
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import ClusterError, EvictionAnswer, NotSentError, Progress, no_progress
from rescheduler.model.objects.annotations import EVICTION_IN_PROGRESS
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move, OutcomeKind

LOOK_SECONDS: Final = 0.15
"""While a new pod has no node yet."""
LATER_LOOK_SECONDS: Final = 1.0
"""Once all have one: a machine takes seconds to minutes to move."""


@dataclass
class Migration:
    """One pod whose owner was asked. ``old``: as seen last; ``is_free``: the new pod was let go to its node."""

    departure: EvictedPod
    state: core.MigrationState
    old: Pod | None
    is_free: bool = False
    is_over: bool = False

    @property
    def move(self) -> Move:
        """What is carried out."""
        return self.departure.move


class MigrationMoves:
    """The migrations of one plan. ``rules``: None: nobody has asked for any, and none is made."""

    def __init__(
        self,
        tools: Tools,
        rules: core.MigrationRules | None,
        leading: ReplacementGuide,
        progress: Progress = no_progress,
    ) -> None:
        self._tools = tools
        self._rules = rules or core.MigrationRules(0.0)
        self._is_wanted = rules is not None
        self._leading = leading
        self._progress = progress
        self._all: list[Migration] = []
        self._departures = Departures(tools.target)
        self._trouble = ""

    def carry_out(self, moves: Sequence[Move], departures: Departures) -> None:
        """Have all of these pods moved. After the first that comes to nothing no further owner is asked, and what the
        others do is waited for. Raises PlanStoppedError, ClusterError."""
        if not self._is_wanted:
            raise PlanStoppedError("nobody has said how long a migration may take; nothing further is moved")
        self._departures, self._all, self._trouble = departures, [], ""
        cluster = self._tools.fresh.now
        try:
            self._leading.begin([pod_of(move, cluster) for move in moves], cluster)
            for move in moves:
                while len(self._under_way) >= self._tools.in_flight:
                    self._look()
                if self._trouble:
                    break
                self._begin(move)
            while self._under_way:
                self._look()
            self._leading.end()
        except BaseException as stopped:
            self._leave(stopped)
            raise
        if self._trouble:
            raise PlanStoppedError(f"{self._trouble}; nothing further is moved")

    @property
    def _under_way(self) -> list[Migration]:
        return [item for item in self._all if not item.is_over]

    def _begin(self, move: Move) -> None:
        """Get leave for one pod, ask its owner, and see the new pod to its node."""
        tools = self._tools
        tools.waiter.check_time()
        if not tools.leaving_out.is_of_use(move):
            return
        expected = pod_of(move, tools.fresh.now)
        live = self._permitted(move, expected)
        if live is None:
            return
        selector = selector_of(expected, tools.fresh.now)
        standing = tools.target.read_pods(expected.namespace, selector)
        departure = EvictedPod(move, expected, selector, frozenset(other.uid for other in standing) | {expected.uid})
        back = self._leading.make_way(move, expected, tools.fresh.now)
        if self._announced(move, live) and self._is_asked(move, live, departure):
            migration = Migration(departure, core.begun(self._rules, tools.waiter.now), live)
            self._all.append(migration)
            self._departures.all.append(departure)
            while not migration.is_over and departure.landed_on is None:
                self._look(is_first=True)
        self._leading.shut(move)
        self._leading.keep(back)

    def _permitted(self, move: Move, expected: Pod) -> Pod | None:
        """The pod as it stands now, where the gate lets it go; what speaks against it is told."""
        tools = self._tools
        objection = tools.verdict.objection(move, self._departures.all)
        live = tools.target.read_pod(move.pod.namespace, move.pod.name)
        change = what_changed(live, expected)
        if objection is None and change is not None:
            objection = f"{move.pod.key} {change}; plan again"
        if objection is None and live is not None and EVICTION_IN_PROGRESS in live.annotations:
            objection = f"{move.pod.key} is being moved by whoever owns it already"
        if objection is not None:
            self._stay(move, OutcomeKind.REFUSED, objection)
            return None
        return live

    def _announced(self, move: Move, live: Pod) -> bool:
        session = self._tools.session
        objection = session.announce(move, live, lambda: self._tools.verdict.ask(move))
        if objection is None:
            objection = session.last_look(move)
            if objection is not None:
                session.not_sent(move, objection)
        if objection is not None:
            self._stay(move, OutcomeKind.REFUSED, objection)
        return objection is None

    def _is_asked(self, move: Move, live: Pod, departure: EvictedPod) -> bool:
        """Ask for the one eviction; whether its owner moves the pod now. What else it led to is told."""
        answer = self._send(move, live)
        if answer.kind == "OwnerMoves":
            return True
        session = self._tools.session
        session.answered(move, answer)
        if answer.kind == "Accepted":
            self._departures.all.append(departure)
            self._tools.leaving_out.sent.append(move.pod)
            self._trouble = f"{move.pod.key} was evicted: nobody has answered who would move it"
        elif answer.kind != "Failed":
            self._stay(move, OutcomeKind.REFUSED, told(move, answer))
        elif self._was_heard(move):
            session.is_moved_by_owner(move)
            return True
        else:
            said = f"the answer to the eviction of {move.pod.key} was lost ({answer.message})"
            self._stay(move, OutcomeKind.UNKNOWN, f"{said}, and nothing shows that whoever owns it has heard")
        return False

    def _send(self, move: Move, live: Pod) -> EvictionAnswer:
        evictor = self._tools.evictor
        try:
            answer = evictor.request(move, live)
        except NotSentError as error:
            self._tools.session.not_sent(move, str(error))
            raise
        evictor.in_flight = None
        return answer

    def _was_heard(self, move: Move) -> bool:
        """After a lost answer the pod itself tells: it is marked, or leaves."""
        for _ in self._tools.waiter.polls(DOUBT_SECONDS):
            try:
                live = self._tools.target.read_pod(move.pod.namespace, move.pod.name)
            except ClusterError:
                continue
            if live is None or is_leaving(live, move) or EVICTION_IN_PROGRESS in live.annotations:
                return True
        return False

    def _look(self, *, is_first: bool = False) -> None:
        """See how all stand, lead new pods, and tell what is over. Raises PlanStoppedError, ClusterError."""
        tools, under_way = self._tools, self._under_way
        is_urgent = any(item.departure.landed_on is None for item in under_way)
        tools.waiter.between_looks(LOOK_SECONDS if is_urgent else LATER_LOOK_SECONDS)
        self._progress("waiting for pods that their owners move", len(self._all) - len(under_way), len(self._all))
        try:
            self._departures.look()
            for item in under_way:
                old = tools.target.read_pod(item.move.pod.namespace, item.move.pod.name)
                item.old = old if old is not None and old.uid == item.move.pod.uid else None
        except ClusterError:
            if any(tools.waiter.now >= item.state.until for item in under_way):
                raise
            return
        for item in under_way:
            new = item.departure.replacement
            if new is not None and new.node_name is None:
                item.is_free = self._leading.lead(item.move, new, is_first=is_first, is_free=item.is_free)
            sight = core.MigrationSight(item.old, item.departure.landed_on)
            item.state, act = core.decide(self._rules, item.state, sight, tools.waiter.now)
            self._do(item, act)

    def _do(self, item: Migration, act: core.Act) -> None:
        tools, move = self._tools, item.move
        match act:
            case core.Moved():
                item.is_over = True
                tools.leaving_out.sent.append(move.pod)
                tools.session.surged(move, item.departure.landed_on)
                where = f"by whoever owns it from {move.from_node}, to {item.departure.landed_on}"
                tools.target.record(move.pod, "Moved", f"{where}: {move.reason}")
            case core.Undone(why):
                tools.session.undone(move, why, why)
                self._forget(item)
                self._stay(move, OutcomeKind.UNDONE, f"{move.pod.key} stays: {why}")
            case core.Open(why):
                self._forget(item)
                self._stay(move, OutcomeKind.UNKNOWN, f"{move.pod.key}: {why}")

    def _stay(self, move: Move, outcome: OutcomeKind, why: str) -> None:
        """A move that comes to nothing, or of which nothing more will be known here: the last one that is begun."""
        self._tools.outcomes.of_move(move, outcome, None, why)
        self._trouble = self._trouble or why

    def _forget(self, item: Migration) -> None:
        item.is_over = True
        self._departures.all.remove(item.departure)

    def _leave(self, stopped: BaseException) -> None:
        """Whoever was asked goes on without us: told of all of whom nothing is told yet."""
        why = str(stopped) or "interrupted"
        for item in self._under_way:
            self._forget(item)
            self._tools.outcomes.of_move(
                item.move, OutcomeKind.UNKNOWN, item.departure.landed_on,
                f"whoever owns it was asked to move it, and goes on without us: {why}",
            )  # fmt: skip
        if isinstance(stopped, PlanStoppedError):
            self._leading.open_nodes()
