"""I2: how much is on the move at once, and how much one plan moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rescheduler.policy.fields.policy import Policy
from tests.soak.invariants.allowances import share_of
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.scopes import covers, group_of, members_of, named
from tests.soak.trace import Effect, Event, Violation
from tests.soak.truth import Truth


class InFlight(Checker):
    """I2, what is on the move at once, and the limits of one plan."""

    name = "I2"
    sentence = (
        "Open debts <= limit per cluster, node, zone, namespace, workload and label set (maxMoving); pods that are "
        "down at once <= maxUnavailable; evictions of one plan <= limits."
    )
    interests = (Effect,)

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each eviction that took effect, with the debts that were open."""
        if not isinstance(event, Effect) or not event.request.is_eviction:
            return ()
        send = self.history.send_of(event.request)
        policy = self.history.policies.get(send.request.process)
        if policy is None or send.pod is None or send.in_gap:
            return ()
        return [*self._moving(policy, send, truth), *self._of_plan(policy, send)]

    def _moving(self, policy: Policy, send: Send, truth: Truth) -> Iterator[Violation]:
        assert send.pod is not None
        for number, budget in enumerate(policy.disruption.budgets):
            if budget.max_moving is None or not covers(budget, send.pod):
                continue
            group = group_of(budget, send)
            debts = [
                other
                for other in self.history.debts()
                if other.pod is not None and covers(budget, other.pod) and group_of(budget, other) == group
            ]
            allowed = share_of(budget.max_moving, len(members_of(budget, group, truth)))
            self.bites()
            if len(debts) > allowed:
                yield from self.violated(
                    send.t, f"{named(budget, number)}: {len(debts)} of {group} on the move; {allowed} are allowed"
                )

    def _of_plan(self, policy: Policy, send: Send) -> Iterator[Violation]:
        if not send.request.plan:
            return
        mine = [other for other in self.history.effective() if other.request.plan == send.request.plan]
        limits = policy.limits
        caps = (
            ("plan", mine, limits.max_evictions),
            (f"plan from {send.node}", [x for x in mine if x.node == send.node], limits.max_evictions_per_node),
            (
                f"plan from {send.request.namespace}",
                [x for x in mine if x.request.namespace == send.request.namespace],
                limits.max_evictions_per_namespace,
            ),
        )
        self.bites()
        for what, sends, cap in caps:
            if cap is not None and len(sends) > cap:
                yield from self.violated(
                    send.t, f"eviction {len(sends)} of {what} {send.request.plan}; {cap} are allowed"
                )
