"""The ramp-up: a daemon starts with few evictions an hour, and is allowed twice as many with each clean day.

What only makes sense whole is one step: the evictions that one pending pod waits for, or those that empty one node.
Steps are let go in order, each as soon as the window has room for it; while nothing was sent in its window, one goes
whole, however many evictions it takes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, inf, nextafter
from typing import Final, NamedTuple

from msgspec.structs import replace

from rescheduler.model.daemon.ledger import SENT, EntryState, Ledger, LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import Move, Plan, Refusal, reference_to
from rescheduler.model.times import rfc3339
from rescheduler.policy.fields.daemon.safety import RampUpPolicy
from rescheduler.policy.fields.policy import Disruption

RULE: Final = "RampUp"
MOST_DOUBLINGS = 30
LAST_MOMENT: Final = 253_402_300_799
"""The last second of the year 9999."""


class Allowance(NamedTuple):
    """Evictions in one sliding window: how many are allowed, and how many of them are left."""

    allowed: int
    left: int


def allowance(ledger: Ledger, rules: RampUpPolicy, now: float) -> Allowance:
    """What the ramp-up allows at ``now``."""
    allowed = _allowed(rules, clean_since(ledger, now), now)
    return Allowance(allowed, max(0, allowed - len(sent_in_window(ledger, rules, now))))


def sent_in_window(ledger: Ledger, rules: RampUpPolicy, now: float) -> list[LedgerEntry]:
    """Evictions that count in the window now."""
    return [entry for entry in ledger.entries if entry.state in SENT and entry.at > now - rules.window]


def has_ended(ledger: Ledger, disruption: Disruption, now: float) -> bool:
    """Whether there is no ramp-up, or it has reached the evictions an hour that the policy allows in the long run."""
    rules, per_hour = disruption.ramp_up, disruption.rates.per_hour
    return rules is None or (per_hour is not None and _allowed(rules, clean_since(ledger, now), now) >= per_hour)


def _allowed(rules: RampUpPolicy, began: float, now: float) -> int:
    return rules.start << min(MOST_DOUBLINGS, int((max(now, began) - began) // rules.double_every))


def clean_since(ledger: Ledger, now: float) -> float:
    """Since when nothing went wrong: from the first round in Execute on, which ``ledger.clean_since`` remembers, from
    the newest eviction that came to nothing, or from the breaker's last opening or closing. It may be about to begin.
    """
    began = now if ledger.clean_since is None else ledger.clean_since
    failed = (entry.at if entry.closed_at is None else entry.closed_at for entry in ledger.entries if _failed(entry))
    return max(began, ledger.breaker.opened_at or began, ledger.breaker.since, *failed)


def remembering(ledger: Ledger, rules: RampUpPolicy | None, now: float, *, begins: bool) -> Ledger:
    """The ledger with what the ramp-up must not forget; it is to be kept. Without a ramp-up nothing is changed.

    ``begins``: this is a round in Execute, of which the first begins it. A time in the future is that of a clock that
    was wrong.
    """
    if rules is None or (ledger.clean_since is None and not begins):
        return ledger
    return replace(ledger, clean_since=min(now, clean_since(ledger, now)))


def _failed(entry: LedgerEntry) -> bool:
    return entry.state is EntryState.FAILED or (bool(entry.failure) and entry.state in SENT)


# When the ramp-up lets the evictions of a plan go.

BY_NODE: Final = frozenset({"EmptyNodes", "Defragment"})
"""Objectives that gain nothing by a part of what is to leave a node."""


def let_go_at(
    plan: Plan, cluster: Cluster, disruption: Disruption, ledger: Ledger, together: Iterable[Sequence[int]] = ()
) -> dict[str, float]:
    """When each pod that the plan moves is let go, by uid; from the snapshot's own time on.

    ``together``: pods (indices) that move together or not at all.
    """
    now = cluster.taken_at
    if disruption.ramp_up is None or has_ended(ledger, disruption, now):
        return {move.pod.uid: now for move in plan.moves}
    steps = steps_of(plan, cluster, together)
    times = _times(disruption, disruption.ramp_up, ledger, now, [len(step) for step in steps])
    return {move.pod.uid: at for step, at in zip(steps, times, strict=True) for move in step}


def marked(plan: Plan, times: Mapping[str, float], now: float) -> Plan:
    """The plan with the moves that are held back until a later time marked so."""
    held = {uid: _written(at) for uid, at in times.items() if at > now}
    moves = tuple(replace(move, not_before=held[move.pod.uid]) if move.pod.uid in held else move for move in plan.moves)
    return replace(plan, moves=moves) if held else plan


def without_held_back(eligibility: Eligibility, times: Mapping[str, float], cluster: Cluster) -> Eligibility:
    """Of what may be moved only what the ramp-up lets go now; the others are told until when they stay."""
    go = {uid for uid, at in times.items() if at <= cluster.taken_at}
    movable = tuple(index for index in eligibility.movable if cluster.pods[index].uid in go)
    refusals = dict(eligibility.refusals)
    for index in eligibility.movable:
        pod = cluster.pods[index]
        if pod.uid in times and pod.uid not in go:
            until = f"until {_written(times[pod.uid])}"
            message = f"{pod.key} is held back by the ramp-up {until} (policy: disruption.rampUp)"
            refusals[index] = Refusal(RULE, message, pod=reference_to(pod))
    return replace(eligibility, movable=movable, refusals=refusals)


def _written(moment: float) -> str:
    """RFC 3339, as far as the calendar goes."""
    return rfc3339(min(ceil(moment), LAST_MOMENT))


def _times(
    disruption: Disruption, rules: RampUpPolicy, ledger: Ledger, now: float, sizes: Sequence[int]
) -> Iterator[float]:
    """When steps of so many evictions go, each no earlier than the one before."""
    began, per_hour = clean_since(ledger, now), disruption.rates.per_hour
    sent = sorted(entry.at for entry in sent_in_window(ledger, rules, now))
    moment = now
    for size in sizes:
        while True:
            allowed = _allowed(rules, began, moment)
            used = sent[bisect_right(sent, moment - rules.window) :]
            if not used or len(used) + size <= allowed or (per_hour is not None and allowed >= per_hour):
                break
            doubles = began + (int((moment - began) // rules.double_every) + 1) * rules.double_every
            moment = max(nextafter(moment, inf), min(used[0] + rules.window, doubles))
        sent = sorted([*used, *[moment] * size])
        yield moment


def steps_of(plan: Plan, cluster: Cluster, together: Iterable[Sequence[int]] = ()) -> list[list[Move]]:
    """What only makes sense whole, in the order in which it is to go; each move is in one of them.

    First what pending pods wait for, by their priority; then node by node, or move by move, in the plan's order.
    """
    needs = _Needs(plan.moves, cluster, together)
    left = {move.pod.uid: move for move in plan.moves}
    steps: list[list[Move]] = []
    for seed in (*_for_pending_pods(plan, cluster), *_others(plan)):
        step = [move for move in needs.all_of(seed) if left.pop(move.pod.uid, None) is not None]
        steps += [step] if step else []
    return steps


def _for_pending_pods(plan: Plan, cluster: Cluster) -> Iterator[list[Move]]:
    """What leaves the node of each placement until its room is there."""

    def urgency(number: int) -> tuple[int, int]:
        pod = cluster.pod_by_key.get(plan.placements[number].pod.key)
        return -(0 if pod is None else pod.spec.priority), plan.placements[number].wave

    leaving: defaultdict[str, list[Move]] = defaultdict(list)
    for move in plan.moves:
        leaving[move.from_node].append(move)
    for number in sorted(range(len(plan.placements)), key=urgency):
        place = plan.placements[number]
        yield [move for move in leaving.get(place.node, ()) if move.wave <= place.wave]


def _others(plan: Plan) -> Iterator[list[Move]]:
    units: defaultdict[tuple[str, str], list[Move]] = defaultdict(list)
    for move in plan.moves:
        units[move.objective, move.from_node if move.objective in BY_NODE else move.pod.uid].append(move)
    yield from units.values()


class _Needs:
    """What has to go before or with a move: whoever makes room for it, changes places with it, or moves with it."""

    def __init__(self, moves: Sequence[Move], cluster: Cluster, together: Iterable[Sequence[int]]) -> None:
        self._order = {move.pod.uid: number for number, move in enumerate(moves)}
        self._leaving: defaultdict[str, list[Move]] = defaultdict(list)
        self._swapping: defaultdict[int, list[Move]] = defaultdict(list)
        self._fellows: dict[str, list[Move]] = {}
        by_uid: Mapping[str, Move] = {move.pod.uid: move for move in moves}
        for move in moves:
            self._leaving[move.from_node].append(move)
            if move.evict_first:
                self._swapping[move.wave].append(move)
        for group in together:
            uids = [cluster.pods[index].uid for index in group]
            found = [by_uid[uid] for uid in uids if uid in by_uid]
            self._fellows.update((move.pod.uid, found) for move in found)

    def all_of(self, seed: Sequence[Move]) -> list[Move]:
        """The seed with everything that it needs, in the plan's order."""
        found: dict[str, Move] = {}
        waiting = list(seed)
        while waiting:
            move = waiting.pop()
            if move.pod.uid not in found:
                found[move.pod.uid] = move
                waiting += [other for other in self._leaving[move.to_node] if other.wave < move.wave]
                waiting += self._swapping[move.wave] if move.evict_first else []
                waiting += self._fellows.get(move.pod.uid, [])
        return sorted(found.values(), key=lambda move: self._order[move.pod.uid])
