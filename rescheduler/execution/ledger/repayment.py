"""Waits for debts: those of earlier plans whose outcome nobody knows, and one's own between two waves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.ledger.ledger_writer import LedgerWriter
from rescheduler.execution.ledger.open_evictions import READY_SECONDS, doubt_ends_at, settled
from rescheduler.execution.stopping import Waiter
from rescheduler.extension_points import ExecutionTarget
from rescheduler.model.daemon.ledger import Ledger, LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move, Plan, PodReference

REPAID_PAUSE_SECONDS: Final = 5.0
USUAL_SECONDS: Final = READY_SECONDS + 15.0
"""From an eviction until its replacement is proven to work, as a rule."""


class OpenEvictions:
    """Closes debts in the ledger of one process as they are proven to be over; it is written with the next write."""

    def __init__(self, writer: LedgerWriter, target: ExecutionTarget, fresh: FreshCluster, waiter: Waiter) -> None:
        self._writer = writer
        self._target = target
        self._fresh = fresh
        self._waiter = waiter

    def settle(self) -> Ledger:
        """The ledger as it was read last, with what the newest snapshot proves."""
        before = self._writer.ledger
        after = settled(before, self._fresh.now, self.look)
        for old, new in zip(before.entries, after.entries, strict=True):
            if old != new:
                fields = {name: getattr(new, name) for name in new.__struct_fields__}
                changed = {name: value for name, value in fields.items() if value != getattr(old, name)}
                self._writer.note(old.pod.uid, old.at, **changed)
        return self._writer.ledger

    def await_doubts(self, moves: Sequence[Move], check: Callable[[], None]) -> None:
        """Read the ledger, and wait while nobody knows whether one of these pods was evicted.

        ``check`` is called after each reading, and raises where the wait is to end. Raises ClusterError, and
        PlanStoppedError when the plan's time is over.
        """
        uids = {move.pod.uid for move in moves}
        while True:
            self._writer.read()
            check()
            doubts = [entry for entry in self.settle().debts if entry.pod.uid in uids and entry.may_stand]
            if not doubts:
                return
            self._wait_for(doubts, check)
            self._fresh.read()

    def owing(self, moves: Iterable[Move]) -> Sequence[Move]:
        """Those whose workloads owe a replacement by the newest snapshot."""
        debts = {entry.workload for entry in self.settle().debts}
        pods, workload_of = self._fresh.now.pod_by_key, self._fresh.now.workload_of
        found = [(move, workload_of(pods[move.pod.key])) for move in moves if move.pod.key in pods]
        return [move for move, workload in found if workload is not None and workload.uid in debts]

    def await_repaid(self, choose: Callable[[], Sequence[Move]]) -> None:
        """Wait until the workloads of the moves that are chosen, anew after each look, owe nothing."""
        while self.owing(choose()):
            self._waiter.pause(REPAID_PAUSE_SECONDS)
            self._fresh.read()

    def await_half(self, plan: int | None, check: Callable[[], None]) -> None:
        """Wait until half of a plan's open evictions are over, so that the ledger takes others."""
        before = sum(entry.plan == plan for entry in self._writer.ledger.debts)
        while 2 * sum(entry.plan == plan for entry in self.settle().debts) > before:
            self._waiter.pause(REPAID_PAUSE_SECONDS)
            self._writer.read()
            check()
            self._fresh.read()

    def look(self, reference: PodReference) -> Pod | None:
        """The pod of that name as it stands now."""
        return self._target.read_pod(reference.namespace, reference.name)

    def _wait_for(self, doubts: Sequence[LedgerEntry], check: Callable[[], None]) -> None:
        """Until the first of these evictions is in doubt no more, or takes effect meanwhile."""
        until = min(doubt_ends_at(entry) for entry in doubts)
        for _ in self._waiter.polls(max(until - self._fresh.time, 0.0) + 1.0):
            check()
            if any((pod := self.look(entry.pod)) is None or pod.is_terminating for entry in doubts):
                return


def seconds_to_repay(plan: Plan, cluster: Cluster) -> float:
    """How long a plan takes, as a rule, whose workloads lose one pod after the other, each when the last is repaid.

    The first of them may have to wait for an earlier plan's.
    """
    pods = (cluster.pod_by_key.get(move.pod.key) for move in plan.moves)
    workloads = (cluster.workload_of(pod) for pod in pods if pod is not None)
    most = max(Counter(workload.uid for workload in workloads if workload is not None).values(), default=0)
    return USUAL_SECONDS * (most + 1) if most else 0.0


def when_repaid(
    rest: Plan,
    next_of: Callable[[Plan, Cluster], Sequence[Move]],
    await_repaid: Callable[[Callable[[], Sequence[Move]]], None],
    fresh: FreshCluster,
    look_again: Callable[[Plan], Plan],
) -> Plan:
    """The rest of a plan once the workloads of its next moves owe nothing; what took time is proven anew.

    Raises PlanStoppedError.
    """
    while rest.moves:
        before = fresh.now
        await_repaid(partial(next_of, rest, before))
        if fresh.now is before:
            break
        rest = look_again(rest)
    return rest
