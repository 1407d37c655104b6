"""Carries out what the core says for the moves of one segment, act after act, and tells it what came of each."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from rescheduler.execution.core import events as core
from rescheduler.execution.core.move_state import UNDER_WAY, MoveStage, Order, RunRules, beginning
from rescheduler.execution.core.step import asked_after, step
from rescheduler.execution.eviction.evicting import ATTEMPTS, Evictor
from rescheduler.execution.eviction.making_way import Way
from rescheduler.execution.eviction.own_verdict import OF_ALL, OwnVerdict
from rescheduler.execution.fresh_cluster import OLDEST_SNAPSHOT_SECONDS, FreshCluster, pod_of
from rescheduler.execution.guidance.guiding import Guide
from rescheduler.execution.guidance.holds import Holds
from rescheduler.execution.landing.departures import Departures, EvictedPod, known_before, selector_of
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.landing.placing import Nominator
from rescheduler.execution.landing.settling import Settler
from rescheduler.execution.ledger.ledger_session import LedgerSession
from rescheduler.execution.run.leaving_out import LeavingOut
from rescheduler.execution.run.proving import is_harmless
from rescheduler.execution.stopping import PlanOvertakenError, PlanStoppedError, Waiter
from rescheduler.extension_points import ExecutionTarget
from rescheduler.model.plan.needs import needs_of, ranks_of
from rescheduler.model.plan.plan import Move, OutcomeKind

AT_ONCE: Final = frozenset({"WorkloadBudget", "StatefulSet", "PodDisruptionBudget", "Budget"})
"""Rules of the gate that may forbid a move for a moment only, while pods of the same plan are on their way."""
RECOUNT_SECONDS: Final = 5.0
"""So long after a change of ours budgets may lag behind, and what they forbid is asked again."""
AGAIN_SECONDS: Final = 0.25
"""After which that is done first; twice as long each time, and at once when one of those under way is Ready."""
GLANCE_SECONDS: Final = 0.15
"""While pods are being sent, those on their way are looked at so often."""
LATE_SECONDS: Final = 2.0
"""So long the first steps of a replacement are waited for before others' places are opened."""


class Tools(NamedTuple):
    """What acts are done with. ``in_flight``: so many at once; ``leaving_out``: what the plan goes on without."""

    target: ExecutionTarget
    fresh: FreshCluster
    waiter: Waiter
    holds: Holds
    settler: Settler
    nominator: Nominator
    outcomes: Outcomes
    session: LedgerSession
    verdict: OwnVerdict
    evictor: Evictor
    in_flight: int
    leaving_out: LeavingOut


class SegmentRun:
    """The shell around the core: it has no will of its own.

    ``guided``: those of the moves that are brought to their very nodes by shutting all others. ``frees_places``:
    whether placeholders make way for the pods that they were made for.
    """

    def __init__(
        self,
        tools: Tools,
        moves: Sequence[Move],
        guided: Sequence[Move],
        departures: Departures,
        guide: Guide | None = None,
        *,
        frees_places: bool = True,
    ) -> None:
        self._tools = tools
        self._moves = moves
        self._guided = guided
        self._guide = guide
        self._departures = departures
        self._frees_places = frees_places
        needs = needs_of(moves, tools.fresh.now)
        orders = (
            Order(need, self._place_of(move), move in guided, rank)
            for move, need, rank in zip(moves, needs, ranks_of(needs), strict=True)
        )
        self._rules = RunRules(tuple(orders), tools.in_flight, ATTEMPTS)
        self._state = beginning(self._rules)
        self._of: dict[int, EvictedPod] = {}
        self._sent_at: dict[int, float] = {}
        self._asked: EvictedPod | None = None
        self._todo: deque[core.Action] = deque()
        self._put_off: Counter[int] = Counter()
        self._way = Way(tools.holds)
        self._has_news = False
        self._said = ""
        self._looked_at = self._changed_at = float("-inf")

    def _place_of(self, move: Move) -> str | None:
        """Where nobody but this replacement may come while it looks for a node; None: there is room for others too.

        Without guidance it is foretold for each replacement by itself where it goes.
        """
        if not self._tools.nominator.is_guided:
            return move.pod.key
        return move.to_node if move in self._guided or self._tools.holds.of(move.pod) is not None else None

    def run(self) -> bool:
        """Do all that may be done; False if pods landed in the way of others, and so not all was. Raises
        PlanStoppedError, ClusterError, StoreError."""
        for event in self._events():
            self._glance(event)
        return not self._state.is_closed

    def only(self) -> EvictedPod:
        """Evict the one pod, and leave it to others to look after it. Raises PlanOvertakenError where it stays."""
        if not any(isinstance(event, core.Accepted) for event in self._events()):
            (move,) = self._moves
            raise PlanOvertakenError(f"{self._said or move.pod.key + ' stays'}; nothing further is moved")
        return self._of[0]

    def _events(self) -> Iterable[core.Event]:
        """Acts in order, each followed by what it leads to."""
        todo = self._todo
        event: core.Event | None = core.Awake()
        while True:
            if event is not None:
                self._has_news = False
                self._state, more = step(self._rules, self._state, event, self._tools.waiter.now)
                todo.extend(more)
                yield event
            if not todo:
                return
            try:
                event = self._done(todo.popleft())
            except BaseException:
                for number, departure in self._of.items():
                    if departure.failure is not None:
                        self._learn(core.Broken(number))
                self._learn(core.Halted())
                raise

    def _learn(self, event: core.Learned) -> None:
        self._state, _ = step(self._rules, self._state, event, self._tools.waiter.now)

    def _done(self, action: core.Action) -> core.Event | None:
        """What came of one act; None: nothing that has to be known."""
        evictor = self._tools.evictor
        match action:
            case core.Ask(number):
                return self._with_tied(self._ask(number))
            case core.WriteDown(number):
                self._open_way()
                return self._written(evictor.write(number))
            case core.Send(number):
                self._foresee_next(number)
                return self._with_tied(self._sent(evictor.send(number)))
            case core.Withdraw():
                evictor.withdraw()
                self._way.shut_again()
            case core.GiveUp(number):
                self._give_up(number)
            case core.LookOn(until):
                self._look(until)
                return core.Awake()
            case core.Rest(until):
                self._tools.waiter.pause(max(until - self._tools.waiter.now, 0.0))
                return core.Awake()
            case _:
                self._lead(action)
        return None

    def _foresee_next(self, number: int) -> None:
        """While the server thinks about this eviction, what the core will ask for after it may be asked already."""
        if self._tools.waiter.is_hurried:
            return
        following = asked_after(self._rules, self._state, number, self._tools.waiter.now)
        if following is not None:
            self._tools.fresh.foresee(self._moves[following])

    def _lead(self, action: core.Action) -> None:
        """Open and shut ways."""
        guide = self._guide
        if guide is None:
            return
        match action:
            case core.ShutAll():
                fresh = self._tools.fresh
                cluster = fresh.read() if self._departures.all else fresh.now
                waiting = {self._moves[number].pod for number in self._waiting()}
                guide.shut([pod_of(move, cluster) for move in self._guided if move.pod in waiting], cluster)
            case core.OpenLane(lane):
                guide.open(lane)
            case core.ShutLane(lane):
                guide.shut_again(lane)
            case core.OpenAll():
                guide.end()

    def _waiting(self) -> list[int]:
        return [number for number, stage in enumerate(self._state.stages) if stage is MoveStage.PLANNED]

    def _ask(self, number: int) -> core.Event:
        """Get leave for a move."""
        tools, move = self._tools, self._moves[number]
        if tools.leaving_out.dropped and not tools.leaving_out.is_of_use(move):
            return core.Dropped(number)
        if self._of and tools.fresh.age_seconds > OLDEST_SNAPSHOT_SECONDS:
            return core.HeldBack(number)
        if tools.waiter.is_hurried:
            return self._crowded(number)
        if self._is_beside(number) and tools.verdict.is_full(move):
            return self._crowded(number)
        pod = tools.fresh.now.pod_by_key.get(move.pod.key)
        if pod is None or pod.uid != move.pod.uid:
            return tools.evictor.refuse(number, move, f"{move.pod.key} is gone or another pod of the same name by now")
        event = self._softened(number, tools.evictor.ask(number, move, pod))
        around = tools.fresh.now
        self._asked = EvictedPod(move, pod, selector_of(pod, around), known_before(pod, around))
        return (
            core.Dropped(number) if isinstance(event, core.Allowed) and not tools.leaving_out.is_of_use(move) else event
        )

    def _open_way(self) -> None:
        """Open the room that the replacement is to find, once its pod has leave to go."""
        assert self._asked is not None
        if self._frees_places:
            self._way.open(self._asked.move, self._asked.pod, self._tools.fresh.now)

    def _softened(self, number: int, event: core.Event) -> core.Event:
        """A refusal that what was done here may explain, and that time or another look may end, is none yet."""
        if not isinstance(event, core.Refused) or not self._of:
            return event
        verdict = self._tools.verdict
        if verdict.rule in AT_ONCE and self._may_count_others(number):
            return self._crowded(number)
        return core.HeldBack(number) if verdict.is_crowded else event

    def _crowded(self, number: int) -> core.Event:
        """Put a move off while others are in its way, or much was asked for, for longer each time."""
        pause = min(AGAIN_SECONDS * 2.0 ** self._put_off[number], RECOUNT_SECONDS)
        self._put_off[number] += 1
        return core.NotYet(number, self._tools.waiter.now + pause, is_try=False)

    def _with_tied(self, event: core.Event) -> core.Event:
        """A pod that is put off for its own sake puts off no others than those that would move for nothing without."""
        if not isinstance(event, core.NotYet) or not event.is_try or self._tools.evictor.is_about_all:
            return event
        tied = self._tools.leaving_out.tied_to([self._moves[event.move]])
        return event._replace(tied=frozenset(number for number, move in enumerate(self._moves) if move.pod in tied))

    def _may_count_others(self, number: int) -> bool:
        """Whether moves of other waves are under way, beside which no wave was proven, or were until a moment ago."""
        wave = self._moves[number].wave
        has_waited = any(self._moves[other].wave != wave for other in self._of)
        is_recent = self._tools.waiter.now - self._changed_at <= RECOUNT_SECONDS
        return self._is_beside(number) or (has_waited and is_recent)

    def _is_beside(self, number: int) -> bool:
        """Whether moves of other waves are under way."""
        wave = self._moves[number].wave
        under_way = (*UNDER_WAY, MoveStage.READY)
        return any(self._moves[other].wave != wave and self._state.stages[other] in under_way for other in self._of)

    def _written(self, event: core.Event) -> core.Event:
        if not isinstance(event, core.Written):
            self._way.shut_again()
        return event

    def _sent(self, event: core.Event) -> core.Event:
        """Note what was sent. Raises PlanStoppedError where nobody knows with what effect."""
        tools = self._tools
        if isinstance(event, core.Doubtful):
            message = tools.evictor.give_up()
            tools.outcomes.of_move(self._moves[event.move], OutcomeKind.UNKNOWN, None, message)
            raise PlanStoppedError(message)
        if not isinstance(event, core.Accepted):
            self._way.shut_again()
            return event
        departure = self._asked
        assert departure is not None
        move, departure.granted_at = departure.move, tools.fresh.time
        self._of[event.move], self._sent_at[event.move] = departure, tools.waiter.now
        self._let_loose(event.move, departure)
        self._departures.all.append(departure)
        tools.leaving_out.sent.append(move.pod)
        tools.evictor.in_flight = None
        if tools.nominator.is_guided:
            told = f"from {move.from_node}, to {move.to_node} if the scheduler agrees: {move.reason}"
            tools.target.record(move.pod, "Moved", told)
        if self._way.is_open_to_others:
            tools.settler.look_after(departure)
            self._way.close()
        return event

    def _give_up(self, number: int) -> None:
        """Tell of a move that is not made. Raises PlanStoppedError where none of the others may be either."""
        tools, move = self._tools, self._moves[number]
        self._said = tools.evictor.give_up()
        tools.outcomes.of_move(move, OutcomeKind.REFUSED, None, self._said)
        if tools.verdict.rule in OF_ALL or tools.evictor.is_overloaded:
            raise PlanStoppedError(self._said)
        tools.leaving_out.dropped.append(move)

    def _glance(self, event: core.Event) -> None:
        """After an eviction, see how the others stand; their replacements may have to be led.

        Where they are waited for next, that begins with a look.
        """
        now = self._tools.waiter.now
        is_looked_next = bool(self._todo) and isinstance(self._todo[0], core.LookOn)
        if isinstance(event, core.Accepted) and now - self._looked_at > GLANCE_SECONDS and not is_looked_next:
            self._looked_at = now
            self._tools.settler.look()
            self._observe()

    def _look(self, until: float | None) -> None:
        """Wait until one of the moves under way has got further, unless that was seen since it was asked for."""
        self._observe()
        if self._has_news:
            return
        tight = [number for number, item in self._of.items() if not item.is_over and self._is_waited_for(number)]
        late = min((self._sent_at[number] + LATE_SECONDS for number in tight), default=None)
        self._tools.settler.await_change(min((at for at in (until, late) if at is not None), default=None))
        self._looked_at = self._tools.waiter.now
        self._observe()

    def _observe(self) -> None:
        """Tell the core how far each move is, and note what has come to rest."""
        tools = self._tools
        ready = []
        for number, departure in self._of.items():
            self._let_loose(number, departure)
            before, stage = self._state.stages[number], stage_of(departure)
            if stage <= before:
                continue
            self._changed_at, self._has_news = tools.waiter.now, True
            self._learn(core.Seen(number, stage))
            if before < MoveStage.BOUND <= stage and not self._may_go_on(departure):
                self._learn(core.Halted())
            if stage is MoveStage.SETTLED:
                tools.holds.release([departure.move.pod])
                tools.settler.tell(departure)
                ready.append(departure.move.pod)
        if ready:
            tools.session.landed(tools.outcomes.landed_on, ready)

    def _let_loose(self, number: int, departure: EvictedPod) -> None:
        """Do not wait for one that comes late; a StatefulSet makes its new pod when the old one is gone."""
        if not self._is_waited_for(number):
            return
        owner = departure.pod.controller
        is_slow = owner is None or owner.kind == "StatefulSet"
        if is_slow or self._tools.waiter.now - self._sent_at[number] > LATE_SECONDS:
            self._learn(core.Loose(number))

    def _is_waited_for(self, number: int) -> bool:
        """Whether others wait until this one has a node, and not for as long as it takes."""
        return not self._rules.orders[number].is_led and number not in self._state.loose

    def _may_go_on(self, departure: EvictedPod) -> bool:
        """Whether a pod landed where it was expected, or is in nobody's way where it is."""
        node = departure.landed_on
        if node is None or node == departure.move.to_node or not departure.move.has_destination:
            return True
        is_closed = any(hold.pod is None for hold in self._tools.holds.on([node]))
        return not is_closed and is_harmless(departure, self._moves, self._departures.all, self._tools.fresh.now)


def stage_of(departure: EvictedPod) -> MoveStage:
    """How far a look shows a move that was evicted."""
    if departure.is_over and departure.is_ready:
        return MoveStage.SETTLED
    if departure.replacement is None:
        return MoveStage.EVICTED
    if departure.is_ready:
        return MoveStage.READY
    return MoveStage.REPLACED if departure.landed_on is None else MoveStage.BOUND
