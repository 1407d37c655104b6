"""I2 and I25: evictions in sliding windows of true time."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator, Sequence

from rescheduler.model.plan.plan import Move, Plan
from rescheduler.policy.fields.policy import Mode, Policy
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.history import History
from tests.soak.invariants.scopes import covers, group_of, named, workload_or_namespace
from tests.soak.trace import Effect, Event, PlanEvent, PolicyEvent, Violation
from tests.soak.world.truth import Truth

RAMP_UP = "rampUp"
HOUR_SECONDS = 3_600.0
DAY_SECONDS = 86_400.0
SLACK_SECONDS = 2.0
"""Between an intent, by whose time windows are counted, and its send."""


class Rates(Checker):
    """I2, the rates. What was refused does not count; when it was sent does, whenever it took effect."""

    name = "I2"
    sentence = (
        "In any sliding window at most R evictions are sent, per cluster, node, zone, namespace, workload and label "
        "set; windows are not reset by cycles, restarts, leader or policy changes."
    )
    interests = (Effect, PlanEvent, PolicyEvent)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._sent: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        self._plans: dict[str, Plan] = {}
        self._began: float | None = None
        self._of_plan: list[tuple[float, str, int]] = []

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each eviction that took effect, by the time of its send."""
        if isinstance(event, PlanEvent):
            self._plans[event.process] = event.plan
        if isinstance(event, PolicyEvent) and event.policy.mode is Mode.EXECUTE and self._began is None:
            self._began = event.t
        if not isinstance(event, Effect) or not event.request.is_eviction:
            return ()
        send = self.history.send_of(event.request)
        policy = self.history.policies.get(send.request.process)
        if policy is None or send.pod is None or send.in_gap:
            return ()
        self._of_plan.append((send.t, send.request.uid, id(self._plans.get(send.request.process))))
        found: list[Violation] = []
        for key, allowed, window in self._limits(policy, send):
            self.bites()
            insort(self._sent[key], send.t)
            found += self._judge(key, allowed, window, send)
        return found

    def _judge(self, key: tuple[str, str], allowed: int, window: float, send: Send) -> Sequence[Violation]:
        """Look at every run of ``allowed`` + 1 sends that this one is part of."""
        times = self._sent[key]
        here = bisect_left(times, send.t)
        for first in range(max(0, here - allowed), min(here, len(times) - allowed - 1) + 1):
            took = times[first + allowed] - times[first]
            if took < window - SLACK_SECONDS and not (key[0] == RAMP_UP and self._is_one_step(send, window)):
                return self.violated(
                    send.t, f"{key[0]}: {allowed + 1} evictions of {key[1]} within {took:.0f} s; {allowed} are allowed "
                    f"in {window:.0f} s"
                )  # fmt: skip
        return ()

    def _limits(self, policy: Policy, send: Send) -> Iterator[tuple[tuple[str, str], int, float]]:
        assert send.pod is not None
        for number, budget in enumerate(policy.disruption.budgets):
            if budget.rate is not None and covers(budget, send.pod):
                key = named(budget, number), group_of(budget, send)
                yield key, budget.rate.max_evictions, budget.rate.window
        rates = policy.disruption.rates
        for what, of, number, seconds in (
            ("perHour", "the cluster", rates.per_hour, HOUR_SECONDS),
            ("perDay", "the cluster", rates.per_day, DAY_SECONDS),
            (
                "perWorkloadPerHour",
                workload_or_namespace(send.workload, send.request.namespace),
                rates.per_workload_per_hour,
                HOUR_SECONDS,
            ),
        ):
            if number is not None:
                yield (what, of), number, seconds
        ramp = policy.disruption.ramp_up
        if ramp is not None and policy.mode is Mode.EXECUTE:
            began = send.t if self._began is None else self._began
            allowed = ramp.start << min(30, int((send.t - began) // ramp.double_every))
            if rates.per_hour is None or allowed < rates.per_hour:
                yield (RAMP_UP, "the cluster"), allowed, ramp.window

    def _is_one_step(self, send: Send, window: float) -> bool:
        """Whether all that was sent in the window belongs to one plan, and is what one node, or room on it, takes."""
        plan = self._plans.get(send.request.process)
        near = [(uid, of) for t, uid, of in self._of_plan if abs(t - send.t) < window - SLACK_SECONDS]
        if plan is None or any(of != id(plan) for _, of in near):
            return False
        sent = {uid for uid, _ in near}
        return any(sent <= _whole(plan.moves, move) for move in plan.moves)


def _whole(moves: Sequence[Move], first: Move) -> set[str]:
    """Pods that leave one node, with those whose room these may take, and so on; all that change places are one."""
    found = [move for move in moves if move.from_node == first.from_node]
    for move in found:
        needed = [other for other in moves if other.from_node == move.to_node and other.wave < move.wave]
        needed += [other for other in moves if move.evict_first and other.wave == move.wave]
        found += [other for other in needed if other not in found]
    return {move.pod.uid for move in found}


class RatesUnderJumps(Rates):
    """I25."""

    name = "I25"
    sentence = "A wall-clock jump of any size never raises the number of evictions in any window of true time."

    def _judge(self, key: tuple[str, str], allowed: int, window: float, send: Send) -> Sequence[Violation]:
        """As I2, where a clock has jumped within the window before."""
        if not any(send.t - window <= t <= send.t for t in self.history.jumps):
            self.guards[self.name] -= 1
            return ()
        return super()._judge(key, allowed, window, send)
