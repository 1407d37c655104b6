"""I9: what was moved in vain is left alone for longer each time, and what was just moved rests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rescheduler.policy.fields.policy import Policy
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.trace import Effect, Event, Violation
from tests.soak.world.truth import Truth

DAY_SECONDS = 86_400.0
SLACK_SECONDS = 5.0


class PingPong(Checker):
    """I9. Only where it is beyond doubt which new pod took the place of which old one."""

    name = "I9"
    sentence = (
        "A replacement is not moved again within disruption.backOff.rest, nor more than perDay times in a day with "
        "those before it. If it lands on the source node, or elsewhere than predicted, that (workload, source) waits "
        "first, twice that, ... longest."
    )
    interests = (Effect,)

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each eviction that took effect, with all before it."""
        if not isinstance(event, Effect) or not event.request.is_eviction:
            return ()
        send = self.history.send_of(event.request)
        policy = self.history.policies.get(event.request.process)
        if policy is None or not send.workload or send.in_gap:
            return ()
        earlier = [other for other in self.history.effective() if other.workload == send.workload and other is not send]
        if not earlier:
            return ()
        self.bites()
        whys = [*_rests(send, earlier, policy), *_waits(send, earlier, policy)]
        return [found for why in whys for found in self.violated(send.t, f"{send.key} was moved {why}")]


def _rests(send: Send, earlier: Sequence[Send], policy: Policy) -> Iterator[str]:
    rules = policy.disruption.back_off
    chain, uid = [], send.request.uid
    for other in reversed(earlier):
        if other.landed is not None and other.landed.uid == uid:
            chain.append(other)
            uid = other.request.uid
    if chain and send.t - chain[0].t < rules.rest - SLACK_SECONDS:
        yield f"{send.t - chain[0].t:.0f} s after it took the place of {chain[0].key}; it rests for {rules.rest:.0f} s"
    recent = [other for other in chain if send.t - other.t < DAY_SECONDS - SLACK_SECONDS]
    if rules.per_day and len(recent) >= rules.per_day:
        yield f"for the {len(recent) + 1}th time in a day; {rules.per_day} are allowed"


def _waits(send: Send, earlier: Sequence[Send], policy: Policy) -> Iterator[str]:
    rules = policy.disruption.back_off
    misses, last = 0, 0.0
    for other in earlier:
        if other.node != send.node or other.landed is None or other.closed_at is None or not other.to_node:
            continue
        if other.landed.node_name == other.to_node:
            misses = 0
        else:
            misses, last = misses + 1, other.closed_at
    wait = min(rules.first * 2.0 ** max(0, misses - 1), rules.longest)
    if misses and send.t - last < wait - SLACK_SECONDS:
        yield (
            f"away from {send.node} {send.t - last:.0f} s after the last of {misses} moves from there came to nothing; "
            f"it waits for {wait:.0f} s"
        )
