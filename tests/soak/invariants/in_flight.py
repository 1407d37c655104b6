"""I2: how much is on the move at once, and how much one plan moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rescheduler.policy.fields.policy import Policy
from tests.soak.invariants.allowances import share_of
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.history import History
from tests.soak.invariants.scopes import covers, group_of, members_of, named
from tests.soak.trace import Effect, Event, PlanEvent, ProcessEvent, RoundEvent, Violation
from tests.soak.world.truth import Truth


class InFlight(Checker):
    """I2, what is on the move at once, and the limits of one plan."""

    name = "I2"
    sentence = (
        "Open debts <= limit per cluster, node, zone, namespace, workload and label set (maxMoving); pods that are "
        "down at once <= maxUnavailable; evictions of one plan, planned again or not, <= limits, and of no pod "
        "that was made since its first snapshot."
    )
    interests = (Effect, PlanEvent, RoundEvent, ProcessEvent)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._first: dict[str, tuple[float, float]] = {}
        """When each process was given the first plan of its round, and when that plan's snapshot was taken."""

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each eviction that took effect, with the debts that were open."""
        if isinstance(event, PlanEvent):
            self._first.setdefault(event.process, (event.t, event.shown.taken_at))
        elif isinstance(event, RoundEvent) or (isinstance(event, ProcessEvent) and event.kind == "start"):
            self._first.pop(event.process, None)
        if not isinstance(event, Effect) or not event.request.is_eviction:
            return ()
        send = self.history.send_of(event.request)
        policy = self.history.policies.get(send.request.process)
        if policy is None or send.pod is None or send.in_gap:
            return ()
        return [*self._moving(policy, send, truth), *self._of_plan(policy, send), *self._of_round(policy, send)]

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
        self.bites()
        yield from self._over(policy, send, mine, f"plan {send.request.plan}")

    def _of_round(self, policy: Policy, send: Send) -> Iterator[Violation]:
        """What was planned again is bound together with what was sent before."""
        began_at, taken_at = self._first.get(send.request.process, (float("inf"), 0.0))
        if send.t < began_at:
            return
        process = send.request.process
        mine = [other for other in self.history.effective() if other.request.process == process and other.t >= began_at]
        if len({other.request.plan for other in mine}) > 1:
            self.bites()
            yield from self._over(policy, send, mine, "a plan and what was planned again")
            made_at = None if send.pod is None else send.pod.created_at
            if made_at is not None and made_at >= taken_at:
                yield from self.violated(send.t, f"{send.request.name} was made since the plan's first snapshot")

    def _over(self, policy: Policy, send: Send, mine: Sequence[Send], called: str) -> Iterator[Violation]:
        limits = policy.limits
        caps = (
            ("the whole", mine, limits.max_evictions),
            (f"those from {send.node}", [x for x in mine if x.node == send.node], limits.max_evictions_per_node),
            (
                f"those from {send.request.namespace}",
                [x for x in mine if x.request.namespace == send.request.namespace],
                limits.max_evictions_per_namespace,
            ),
        )
        for what, sends, cap in caps:
            if cap is not None and len(sends) > cap:
                yield from self.violated(send.t, f"{called}: eviction {len(sends)} of {what}; {cap} are allowed")
