"""Back-off: what was moved in vain is left alone for longer each time, and what was just moved rests. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rescheduler.model.daemon.ledger import SENT, EntryState, Ledger, LedgerEntry
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.printable import printable
from rescheduler.policy.fields.daemon.safety import DAY_SECONDS, BackOffPolicy
from rescheduler.policy.fields.values import format_duration

CLOCK_SLACK_SECONDS = 1.0
"""Creation times are whole seconds, so a replacement may seem to be older than its eviction by this."""
MOST_DOUBLINGS = 1023
"""As often as a number can be doubled; whatever the first wait is, the longest is reached sooner."""


class EvictionBackOff:
    """What earlier evictions say about pods of the same workload. Workloads are named by uid."""

    def __init__(self, ledger: Ledger, rules: BackOffPolicy, now: float) -> None:
        """Sort the entries by workload; those without one say nothing."""
        self._rules = rules
        self._now = now
        self._sent: defaultdict[str, list[LedgerEntry]] = defaultdict(list)
        self._refused: defaultdict[str, list[LedgerEntry]] = defaultdict(list)
        for entry in ledger.entries:
            if entry.state in SENT and entry.workload:
                self._sent[entry.workload].append(entry)
                self._refused.pop(entry.workload, None)
            elif entry.failure and entry.workload and entry.state in (EntryState.REFUSED, EntryState.NOT_EVICTED):
                self._refused[entry.workload].append(entry)

    def objection(self, pod: Pod, workload: str) -> str | None:
        """Why a pod of a workload is left alone for now; None: no earlier move speaks against it."""
        left = self._refusal_seconds_left(workload)
        if left > 0:
            last = self._refused[workload][-1]
            is_refused = last.state is EntryState.REFUSED
            is_own = last.method is MoveMethod.MIGRATE
            in_vain = f"were moved by {'whoever owns them' if is_own else 'surge'} in vain"
            what = "the API server would not evict" if is_refused else in_vain
            why = printable(last.message if is_refused else last.failure, 120)
            return (
                f"belongs to a workload whose pods {what} ({why}); it is left alone for another "
                f"{format_duration(float(round(left)))} (policy: disruption.backOff)"
            )
        entries = self._sent.get(workload)
        if entries is None or pod.node_name is None:
            return None
        left = self.seconds_left(workload, pod.node_name)
        if left > 0:
            return (
                f"belongs to a workload whose last moves away from {pod.node_name} came to nothing; it is left alone "
                f"for another {format_duration(float(round(left)))} (policy: disruption.backOff)"
            )
        return self._rests(pod, entries)

    def seconds_left(self, workload: str, node: str) -> float:
        """How long no pod of the workload may be moved away from a node; 0 or less: it may.

        A replacement that came back, or landed elsewhere than predicted, counts for its (workload, node); one that
        did not work counts for the whole workload. A move that went well sets the count back.
        """
        misses: list[LedgerEntry] = []
        for entry in self._sent.get(workload, ()):
            is_failed = entry.state is EntryState.FAILED or entry.failure
            if is_failed or (entry.from_node == node and _is_stray(entry)):
                misses.append(entry)
            elif entry.from_node == node and entry.state is EntryState.REPAID:
                misses.clear()
        return self._left(misses)

    def _refusal_seconds_left(self, workload: str) -> float:
        """The same for a workload whose evictions were refused, or surges undone for what became of them, since one
        was last granted: plans go around it."""
        return self._left(self._refused.get(workload, ()))

    def _left(self, misses: Sequence[LedgerEntry]) -> float:
        """What is left of the wait after so many misses, which begins when the last of them was known."""
        if not misses:
            return 0.0
        last = misses[-1].at if misses[-1].closed_at is None else misses[-1].closed_at
        doubled = 2.0 ** min(len(misses) - 1, MOST_DOUBLINGS)
        return last + min(self._rules.first * doubled, self._rules.longest) - self._now

    def _rests(self, pod: Pod, entries: Sequence[LedgerEntry]) -> str | None:
        """Whether the pod has taken the place of a moved one too recently, or too often."""
        created = self._now if pod.created_at is None else pod.created_at
        before = [entry for entry in entries if entry.at <= created + CLOCK_SLACK_SECONDS]
        mine = [entry for entry in before if entry.landed_on in (None, pod.node_name)]
        left = self._took_place_at(mine[-1], created) + self._rules.rest - self._now if mine else 0.0
        if left > 0:
            return (
                f"took the place of {mine[-1].pod.name} and rests for another {format_duration(float(round(left)))} "
                "(policy: disruption.backOff.rest)"
            )
        moves = self._moves(pod.node_name, before)
        if self._rules.per_day and moves >= self._rules.per_day:
            return f"was moved {moves} times within 24h already (policy: disruption.backOff.perDay)"
        return None

    def _took_place_at(self, entry: LedgerEntry, created: float) -> float:
        """When the pod came: a process may be stopped for minutes between what it announces and what it sends."""
        repaid_at = self._now if entry.closed_at is None else entry.closed_at
        return max(entry.at, created) if created <= repaid_at else entry.at

    def _moves(self, node: str | None, entries: Sequence[LedgerEntry]) -> int:
        """The most moves within a day that may have led to a pod on the node, one replacement after the other."""
        recent = [entry for entry in entries if self._now - entry.at < DAY_SECONDS]
        moves: list[int] = []
        for number, entry in enumerate(recent):
            led_here = [
                moves[earlier] for earlier in range(number) if recent[earlier].landed_on in (None, entry.from_node)
            ]
            moves.append(1 + max(led_here, default=0))
        return max((moves[i] for i, entry in enumerate(recent) if entry.landed_on in (None, node)), default=0)


def _is_stray(entry: LedgerEntry) -> bool:
    return entry.landed_on is not None and entry.landed_on != entry.to_node
