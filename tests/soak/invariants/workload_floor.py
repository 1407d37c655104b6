"""I1, I4 and I21: the floor under every workload."""

from __future__ import annotations

from collections.abc import Sequence

from tests.soak.invariants.allowances import most_missing
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.repayment import desired_of
from tests.soak.trace import Effect, Event, Request, Violation
from tests.soak.world.truth import Truth

UNSEEN_SECONDS = 5.0
"""A loss so shortly before a send is not a violation."""
SNAPSHOT_SECONDS = 10.0
"""A snapshot may be so old; wanted replicas are known from it."""


class WorkloadFloor(Checker):
    """I1. For pods that a PodDisruptionBudget covers (I4), and for runs with several processes (I21), alike."""

    name = "I1"
    sentence = (
        "Always: open debts of w <= B(w). And no accepted eviction when true ready(w) - 1 < desired(w) - B(w), unless "
        "the missing pod was lost less than 5 s before our send. Holds with and without a PDB."
    )
    interests = (Request, Effect)

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Debts when an eviction is sent, ready pods when it takes effect."""
        if isinstance(event, Request):
            return self._sent(event, truth) if event.is_eviction else ()
        if isinstance(event, Effect) and event.request.is_eviction:
            return self._took_effect(self.history.send_of(event.request))
        return ()

    def _sent(self, request: Request, truth: Truth) -> Sequence[Violation]:
        send = self.history.send_of(request)
        policy = self.history.policies.get(request.process)
        if not send.workload or policy is None:
            return ()
        debts = self.history.debts(send.workload)
        earlier = self.history.losses.earlier_desired(send.workload, send.t - SNAPSHOT_SECONDS)
        wanted = max([desired_of(truth, send.workload), *earlier])
        allowed = most_missing(policy, wanted)
        self.bites()
        gaps = {other.request.process for other in debts if other.in_gap}
        if len(debts) <= allowed + len(gaps):
            return ()
        others = ", ".join(f"{other.key} at {other.t:.1f}" for other in debts if other is not send)
        return self.violated(
            send.t,
            f"{send.key} of {send.workload} sent as debt {len(debts)} of {allowed} allowed ({wanted} wanted); "
            f"open: {others or 'none'}",
        )

    def _took_effect(self, send: Send) -> Sequence[Violation]:
        policy = self.history.policies.get(send.request.process)
        if send.pod is None or not send.pod.is_ready or send.pod.is_terminating or policy is None or send.in_gap:
            return ()
        if not send.workload:
            return ()
        self.bites()
        short = send.desired - most_missing(policy, send.desired) - (send.ready - 1)
        excused = self.history.losses.since(send.workload, send.t - UNSEEN_SECONDS)
        if short <= 0 or short <= excused:
            return ()
        return self.violated(
            send.effect_at or send.t,
            f"{send.key} evicted while {send.ready} of {send.desired} of {send.workload} worked, "
            f"{excused} of the missing lost since {UNSEEN_SECONDS:.0f} s before the send (sent at {send.t:.1f})",
        )


class NoBudgetIsNoPermission(WorkloadFloor):
    """I4."""

    name = "I4"
    sentence = "I1 with B(w) applies alike with and without a PDB: one that would allow more, or none, relaxes nothing."

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """As I1, where the API server would have let more go."""
        request = event if isinstance(event, Request) else event.request if isinstance(event, Effect) else None
        if request is None or not request.is_eviction:
            return ()
        pod = self.history.send_of(request).pod
        budgets = [] if pod is None else truth.budgets_of(pod)
        if any(truth.recount(budget).allowed < 1 for budget in budgets):
            return ()
        return super().on_event(event, truth)


class SeveralLeaders(WorkloadFloor):
    """I21."""

    name = "I21"
    sentence = "With any number of processes at once, any skew and pauses, I1 holds over all their evictions together."

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """As I1, while several processes live."""
        dead = ("kill", "end", "crash")
        living = [name for name, kind in self.history.processes.items() if kind not in dead]
        return super().on_event(event, truth) if len(living) > 1 else ()
