"""I29: wherever a plan stops, every pod that it evicted has a place."""

from __future__ import annotations

from collections.abc import Sequence

from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.history import History
from tests.soak.invariants.places import free_room, refuses
from tests.soak.invariants.repayment import newcomers
from tests.soak.trace import Event, NodeChanged, PodChanged, RoundEvent, Violation
from tests.soak.world.truth import Truth


class PrefixSafety(Checker):
    """I29, as far as requests, readiness, taints and selectors go. What others took or broke since is no violation."""

    name = "I29"
    sentence = (
        "After stopping at any point of a plan, every evicted pod has a place in the world as it is then: a node that "
        "takes it with room that is free, or its own."
    )
    interests = (RoundEvent, PodChanged, NodeChanged)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._taken_at = 0.0

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """At the end of each round, pods that we evicted and that wait for a node."""
        if isinstance(event, NodeChanged):
            self._taken_at = event.t
            return ()
        if isinstance(event, PodChanged):
            self._note_taken(event, truth)
            return ()
        if not isinstance(event, RoundEvent) or event.result is None or not truth.run.has_proof:  # type: ignore[attr-defined]
            return ()
        waiting = [send for send in self.history.debts() if send.took_effect and send.t > self._taken_at]
        self.bites(len(waiting))
        return [found for send in waiting for found in self._judge(send, truth)]

    def _note_taken(self, event: PodChanged, truth: Truth) -> None:
        """A pod that is not a replacement of ours took room."""
        new = event.new
        if new is None or not new.node_name or (event.old is not None and event.old.node_name == new.node_name):
            return
        ours = {send.workload for send in self.history.debts()}
        if truth.workload_of(new) not in ours:
            self._taken_at = event.t

    def _judge(self, send: Send, truth: Truth) -> Sequence[Violation]:
        since = truth.epoch(send.t) - 1.0
        placed = sum(pod.node_name is not None for pod in newcomers(send, truth))
        owed = [debt for debt in self.history.debts() if debt.workload == send.workload and debt.t >= send.t]
        if placed >= len(owed):
            return ()  # who waits now was asked for by others: the workload was scaled up since
        waiting = [
            pod for pod in truth.members(send.workload)
            if pod.is_pending and not pod.scheduling_gates and (pod.created_at or 0.0) >= since
        ]  # fmt: skip
        if not waiting:
            return ()
        pod = waiting[0]
        for node in truth.nodes.values():
            free = free_room(node, truth, without=set())
            if refuses(node, pod) is None and all(free[name] >= amount for name, amount in pod.spec.requests):
                return ()
        return self.violated(
            truth.t, f"{pod.key}, which replaces {send.key} (sent at {send.t:.1f}), has no place anywhere"
        )
