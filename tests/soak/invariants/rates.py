"""I2 and I25: evictions in sliding windows of true time."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator, Sequence

from rescheduler.policy.fields.policy import Policy
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.history import History
from tests.soak.invariants.scopes import covers, group_of, named
from tests.soak.trace import Effect, Event, Violation
from tests.soak.truth import Truth

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
    interests = (Effect,)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._sent: defaultdict[tuple[str, str], list[float]] = defaultdict(list)

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each eviction that took effect, by the time of its send."""
        if not isinstance(event, Effect) or not event.request.is_eviction:
            return ()
        send = self.history.send_of(event.request)
        policy = self.history.policies.get(send.request.process)
        if policy is None or send.pod is None or send.in_gap:
            return ()
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
            if took < window - SLACK_SECONDS:
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
        ramp = policy.disruption.ramp_up
        if ramp is not None:
            began = next((other.t for other in self.history.effective()), send.t)
            doublings = min(30, int((send.t - began) // ramp.double_every))
            yield ("rampUp", "the cluster"), ramp.start << doublings, ramp.window


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
