"""Carries surges out: a pod is taken out of its ReplicaSet, its replacement led to its place, and then it is evicted.

The shell around ``surge_core``: it has no will of its own. Whatever stops it, every pod that is out is given back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from rescheduler.execution.eviction.evicting import what_changed
from rescheduler.execution.eviction.own_verdict import OF_ALL
from rescheduler.execution.fresh_cluster import pod_of
from rescheduler.execution.guidance.gates import Gates
from rescheduler.execution.guidance.guiding import Guide
from rescheduler.execution.landing.departures import Departures, EvictedPod, selector_of
from rescheduler.execution.run.leading import ReplacementGuide
from rescheduler.execution.run.segment_run import Tools
from rescheduler.execution.stopping import PlanOvertakenError, PlanStoppedError
from rescheduler.execution.surge import surge_core as core
from rescheduler.execution.surge.giving_back import give_back
from rescheduler.execution.surge.last_step import LastStep
from rescheduler.extension_points import Clock, ClusterError, Progress, no_progress
from rescheduler.model.objects.endpoints import answers_wherever
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import Workload
from rescheduler.model.plan.detachment import Detachment, detachment_for, detachment_of
from rescheduler.model.plan.plan import Move, OutcomeKind
from rescheduler.model.plan.vicinity import owners_of
from rescheduler.model.times import rfc3339

LOOK_SECONDS: Final = 0.15
QUIET_LOOK_SECONDS: Final = 0.5
"""Between looks while nothing moves, as when a replacement settles."""
SLACK_SECONDS: Final = 60.0
"""So much later than a replacement is waited for, a pod that is still out belongs to nobody any more."""


@dataclass
class Surge:
    """One pod that is out, or about to be. ``is_free``: its replacement was let go to its node.

    ``failure``: why it came to nothing by itself, not for what became of others.
    """

    departure: EvictedPod
    detachment: Detachment
    owners: tuple[Workload, ...]
    state: core.SurgeState
    is_free: bool = False
    is_over: bool = False
    failure: str = ""

    @property
    def move(self) -> Move:
        """What is carried out."""
        return self.departure.move


class SurgeMoves:
    """The surges of one plan. ``rules``: None: nobody has asked for any, and none is made.

    ``gates``, ``guide``: how replacements are led; None: they are not led that way.
    """

    def __init__(
        self,
        tools: Tools,
        rules: core.SurgeRules | None,
        plan_id: str,
        clock: Clock,
        gates: Gates | None = None,
        guide: Guide | None = None,
        progress: Progress = no_progress,
    ) -> None:
        self._tools = tools
        self._rules = rules or core.SurgeRules(0.0, 0.0)
        self._is_wanted = rules is not None
        self._plan_id = plan_id
        self._clock = clock
        self._gates = gates
        self._leading = ReplacementGuide(tools, gates, guide)
        self._progress = progress
        self._last_step = LastStep(tools)
        self._open: list[Surge] = []
        self._departures = Departures(tools.target)
        self._seen: list[core.SurgeSight] = []
        self._is_quiet = False

    def carry_out(self, moves: Sequence[Move], departures: Departures) -> None:
        """Move all of these pods. Raises PlanStoppedError, ClusterError; all that are out are given back then."""
        reason = self._tools.target.can_surge() if self._is_wanted else "nobody has said how long a surge may take"
        if reason is not None:
            raise PlanStoppedError(f"pods that are to move by surge stay: {reason}; nothing further is moved")
        self._departures, self._open = departures, []
        cluster = self._tools.fresh.now
        pods = [pod_of(move, cluster) for move in moves]
        try:
            self._leading.begin(pods, cluster)
            for move in moves:
                while self._is_busy:
                    self._look()
                self._begin(move)
            while self._under_way:
                self._look()
            self._leading.end()
        except BaseException as stopped:
            self._undo(stopped)
            raise

    @property
    def _under_way(self) -> list[Surge]:
        """Those that are out, or about to be."""
        return [surge for surge in self._open if not surge.is_over]

    @property
    def _is_busy(self) -> bool:
        """Whether the next one has to wait: for others that are out, or since so much was asked of the API server."""
        return len(self._under_way) >= self._tools.in_flight or self._tools.waiter.is_hurried

    def _begin(self, move: Move) -> None:
        """Get leave for one pod, take it out, and see its replacement to its node."""
        tools = self._tools
        tools.waiter.check_time()
        if not tools.leaving_out.is_of_use(move):
            return
        surge, live = self._prepared(move)
        back = self._leading.make_way(move, surge.departure.pod, tools.fresh.now)
        objection = tools.session.announce(move, live, lambda: tools.verdict.ask(move))
        if objection is None:
            objection = tools.session.last_look(move)
            if objection is not None:
                tools.session.not_sent(move, objection)
        if objection is not None:
            self._refuse(move, objection)
        self._open.append(surge)
        self._departures.all.append(surge.departure)
        if not tools.target.detach(move.pod, live.resource_version, surge.detachment):
            self._forget(surge)
            tools.session.not_sent(move, "the pod changed at this very moment")
            self._refuse(move, f"{move.pod.key} changed at this very moment; plan again")
        self._see_home(surge)
        self._leading.keep(back)

    def _prepared(self, move: Move) -> tuple[Surge, Pod]:
        """Everything that a surge rests on, read live; whatever speaks against it is told. Raises PlanStoppedError."""
        tools = self._tools
        expected = pod_of(move, tools.fresh.now)
        objection = tools.verdict.objection(move, self._departures.all)
        live = tools.target.read_pod(move.pod.namespace, move.pod.name)
        change = what_changed(live, expected)
        if objection is None and (live is None or change is not None):
            objection = f"{move.pod.key} {change}; plan again"
        owners = owners_of(tools.fresh.now, expected)
        objection = objection or _unsteady(move, owners, expected)
        selector = selector_of(expected, tools.fresh.now)
        seconds = self._rules.ready_within_seconds + self._rules.settle_seconds + SLACK_SECONDS
        expires = rfc3339(tools.fresh.time + seconds, "seconds")
        detachment = detachment_for(live or expected, selector, self._plan_id, expires, self._rules.lease)
        if isinstance(detachment, str):
            objection = objection or f"{move.pod.key}: {detachment}"
        if objection is not None or live is None or isinstance(detachment, str):
            self._refuse(move, objection or "")
        assert live is not None
        assert isinstance(detachment, Detachment)
        standing = tools.target.read_pods(expected.namespace, selector)
        known = frozenset(other.uid for other in standing) | {expected.uid}
        departure = EvictedPod(move, expected, selector, known)
        return Surge(departure, detachment, owners, core.begun(self._rules, owners, tools.waiter.now)), live

    def _see_home(self, surge: Surge) -> None:
        """Look until the replacement has a node: until then no other one looks for one."""
        while not surge.is_over and surge.departure.landed_on is None:
            self._look(is_first=True)
        self._leading.shut(surge.move)

    def _look(self, *, is_first: bool = False) -> None:
        """See how all stand, lead those that wait for a node, and do what is due. Raises PlanStoppedError."""
        tools = self._tools
        tools.waiter.between_looks(QUIET_LOOK_SECONDS if self._is_quiet and not is_first else LOOK_SECONDS)
        tools.session.check_switch()
        self._progress("moving pods by surge", sum(surge.is_over for surge in self._open), len(self._open))
        seen_at = tools.waiter.now
        try:
            self._departures.look()
            sights = self._sights()
        except ClusterError:
            if any(tools.waiter.now >= surge.state.until for surge in self._under_way):
                raise
            return
        for surge, sight in sights:
            if sight.new is not None and sight.new.node_name is None:
                surge.is_free = self._leading.lead(surge.move, sight.new, is_first=is_first, is_free=surge.is_free)
            surge.state, act = core.decide(self._rules, surge.state, sight, tools.waiter.now)
            self._do(surge, act, seen_at)

    def _sights(self) -> list[tuple[Surge, core.SurgeSight]]:
        """How each surge stands; whatever several of them rest on is read once. Raises ClusterError."""
        target, time = self._tools.target, self._tools.fresh.time
        under_way = self._under_way
        owners = {owner.uid: target.read_workload(owner) for surge in under_way for owner in surge.owners}
        endpoints_in = cache(target.read_endpoints)
        found = []
        for surge in under_way:
            old, new = surge.departure.old, surge.departure.replacement
            answers = False
            if old is not None and new is not None and new.is_ready:
                answers = answers_wherever(new.uid, old.uid, endpoints_in(old.namespace))
            is_out = old is not None and detachment_of(old) is not None
            marks = core.marks_of(owners[owner.uid] for owner in surge.owners)
            found.append((surge, core.SurgeSight(old, is_out, new, marks, answers, surge.departure.failure, time)))
        seen = [sight._replace(time=0.0) for _, sight in found]
        self._seen, self._is_quiet = seen, seen == self._seen
        return found

    def _do(self, surge: Surge, act: core.Act, seen_at: float) -> None:
        tools = self._tools
        match act:
            case core.GiveBack(why):
                self._fail(surge, why)
            case core.Evict():
                surge.departure.take_over()
                said = self._last_step.take(surge.move, seen_at)
                if said is None:
                    self._done(surge)
                elif said.is_final:
                    self._fail(surge, said.why, is_own=not said.is_of_all)
                else:
                    surge.state = core.put_off(surge.state, tools.waiter.now)
            case core.Gone():
                self._done(surge)

    def _done(self, surge: Surge) -> None:
        tools, move = self._tools, surge.move
        surge.is_over = True
        tools.leaving_out.sent.append(move.pod)
        tools.session.surged(move, surge.departure.landed_on)
        where = surge.departure.landed_on or "a node that is not known yet"
        tools.target.record(move.pod, "Moved", f"by surge from {move.from_node}, to {where}: {move.reason}")

    def _fail(self, surge: Surge, why: str, *, is_own: bool = True) -> None:
        surge.failure = why if is_own else ""
        self._tools.outcomes.of_move(surge.move, OutcomeKind.UNDONE, None, why)
        raise PlanStoppedError(f"{surge.move.pod.key} stays: {why}; nothing further is moved")

    def _refuse(self, move: Move, why: str) -> None:
        self._tools.outcomes.of_move(move, OutcomeKind.REFUSED, None, why)
        kind = PlanStoppedError if self._tools.verdict.rule in OF_ALL else PlanOvertakenError
        raise kind(f"{why}; nothing further is moved")

    def _forget(self, surge: Surge) -> None:
        self._open.remove(surge)
        self._departures.all.remove(surge.departure)

    def _undo(self, stopped: BaseException) -> None:
        """Give back all that are out, and tell it of those of which nothing is told yet."""
        tools, left = self._tools, self._under_way
        trouble = give_back([surge.move.pod for surge in left], tools.target, self._clock, self._gates)
        if trouble is not None:
            tools.outcomes.warnings.append(trouble)
        why = str(stopped) or "interrupted"
        for surge in left:
            if not tools.outcomes.is_told(surge.move):
                tools.outcomes.of_move(surge.move, OutcomeKind.UNDONE, None, f"given back: {why}")
            tools.session.undone(surge.move, f"given back: {why}", surge.failure)
            self._forget(surge)
        if isinstance(stopped, PlanStoppedError):
            self._leading.open_nodes()


def _unsteady(move: Move, owners: Sequence[Workload], pod: Pod) -> str | None:
    """Why an owner is no ground for a surge: it is changing at this moment, or does not want this pod at all."""
    if not owners or owners[0].kind != "ReplicaSet":
        return f"{move.pod.key}: its ReplicaSet cannot be read"
    for owner in owners:
        if owner.is_terminating or owner.observed_generation < owner.generation or not owner.desired_replicas:
            return f'{move.pod.key}: its owner {owner.key} is being changed ("rolling")'
    return None if pod.is_ready else f"{move.pod.key} is not Ready"
