"""I18: evictions that come to nothing open the breaker, and only a good trial, or an operator, closes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rescheduler.model.daemon.ledger import Breaker, EntryState, LedgerEntry
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.policy import Policy
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.history import History
from tests.soak.trace import Effect, Event, LedgerWrite, Request, Violation
from tests.soak.world.truth import Truth

SEEN_SECONDS = 30.0
"""What became late so recently need not have been noticed."""
SLACK_SECONDS = 5.0
MOST_OPENINGS = 2


class CircuitBreaker(Checker):
    """I18. Lateness is counted from the truth; what the breaker forgave is read from the ledger, where it stands.

    The hour counts from when what opened it began to be read: until it is written nothing is sent, and ledgers that
    answer slowly may keep it from being written for minutes.
    """

    name = "I18"
    sentence = (
        "Of the last 10 debts >= 2 not repaid after 5 min + pod grace, or one older than 15 min, or any workload left "
        "with ready = 0 by us => open. Stays open over restarts; after 1 h one trial eviction; second opening => "
        "operator must close it."
    )
    interests = (Request, Effect, LedgerWrite)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._breaker = Breaker()
        self._opened_at: float | None = None
        self._seen_at = 0.0
        self._surged_at = float("-inf")

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Changes of the breaker, and sends."""
        if isinstance(event, LedgerWrite):
            return self._written(event, truth) if event.ok else ()
        if isinstance(event, Effect) and event.request.is_last_step:
            self._surged_at = event.t
        if not isinstance(event, Request) or not event.is_eviction:
            return ()
        send = self.history.send_of(event)
        policy = self.history.policies.get(event.process)
        if policy is None or send.in_gap or not policy.disruption.breaker.failures:
            return ()
        whys = self._while_open(send, policy) if self._opened_at is not None else self._overdue(send, policy, truth)
        return [found for why in whys for found in self.violated(send.t, f"{send.key} was sent though {why}")]

    def _written(self, event: LedgerWrite, truth: Truth) -> Sequence[Violation]:
        before, self._breaker = self._breaker, event.ledger.breaker
        opened_at, is_open = self._opened_at, self._breaker.opened_at is not None
        if is_open and before.opened_at != self._breaker.opened_at:
            self.bites()
            self._opened_at = event.t
            snapshot = self.history.snapshots.get(event.process)
            self._seen_at = event.t if snapshot is None else snapshot.asked_at
        elif not is_open:
            self._opened_at = None
        if opened_at is None or is_open:
            return ()
        trials = [send for send in self.history.effective() if send.t > opened_at - SLACK_SECONDS]
        # A surge whose replacement works, before its pod goes, is as good a trial.
        if any(not send.is_debt for send in trials) or self._surged_at > opened_at - SLACK_SECONDS:
            return ()
        if any(_is_whole_after(entry, truth, opened_at - SLACK_SECONDS) for entry in event.ledger.entries):
            return ()
        return self.violated(event.t, f"the breaker was closed by {event.process} without a trial that was repaid")

    def _while_open(self, send: Send, policy: Policy) -> Iterator[str]:
        assert self._opened_at is not None
        self.bites()
        if self._breaker.openings >= MOST_OPENINGS:
            yield f"the breaker opened {self._breaker.openings} times: {self._breaker.reason}"
        since = send.t - self._seen_at
        if since < policy.disruption.breaker.rest - SLACK_SECONDS:
            yield f"the breaker is open since {since:.0f} s: {self._breaker.reason}"
        trials = [other for other in self.history.effective() if self._opened_at < other.t < send.t]
        if trials and trials[0].is_debt:  # a repaid one ends the opening, though the ledger is told so later
            yield f"{trials[0].key} is on trial already"

    def _overdue(self, send: Send, policy: Policy, truth: Truth) -> Iterator[str]:
        rules = policy.disruption.breaker
        forgiven = self._breaker.since - truth.epoch(0.0)
        sent = [other for other in self.history.effective() if other is not send and other.t >= forgiven]
        last = sent[-rules.of :]
        late = [other for other in last if _is_late(other, send.t - SEEN_SECONDS, rules.repay_within)]
        self.bites(bool(late))
        if len(late) >= rules.failures:
            names = ", ".join(other.key for other in late)
            yield f"{len(late)} of the last {len(last)} evictions were not repaid in time ({names})"
        for other in sent:
            if other.is_debt and send.t - SEEN_SECONDS - other.t > rules.oldest + _grace(other):
                yield f"{other.key} is not replaced since {send.t - other.t:.0f} s"
            lost_lately = self.history.losses.since(other.workload, send.t - SEEN_SECONDS)
            is_known = other.workload in truth.workloads and truth.desired(other.workload)
            if other.is_debt and other.ready > 1 and is_known and not truth.ready(other.workload) and not lost_lately:
                yield f"{other.workload} has no ready pod left"


def _is_whole_after(entry: LedgerEntry, truth: Truth, since: float) -> bool:
    """Whether a surge has left its workload whole, though its own ReplicaSet took the pod once it was given back."""
    is_over = entry.method is MoveMethod.SURGE and entry.state is EntryState.REPAID and entry.at > truth.epoch(since)
    is_known = is_over and entry.workload in truth.workloads
    return is_known and truth.ready(entry.workload) >= truth.desired(entry.workload)


def _is_late(send: Send, now: float, repay_within: float) -> bool:
    """What nobody wants replaced any more was late for as long as somebody did, which nobody can tell who looks now."""
    if send.closed_by == "complete":
        return False
    ended = now if send.closed_at is None else min(now, send.closed_at)
    return ended - send.t > repay_within + _grace(send)


def _grace(send: Send) -> float:
    return 30.0 if send.pod is None else send.pod.spec.termination_grace_seconds
