"""Earlier evictions as one budget counts them: pods on the move, pods that nobody sees any more, and slots of rates."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from rescheduler.disruption.budgets.coverage import Coverage, Population
from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.model.daemon.ledger import SENT, LedgerEntry
from rescheduler.model.objects.pod import Pod
from rescheduler.policy.fields.budgets import Per

CLOCK_TOLERANCE_SECONDS = 5.0
"""By how much the API server's clock may be behind ours before a replacement seems older than its eviction."""


def moving(coverage: Coverage, debts: Iterable[LedgerEntry]) -> IntArray:
    """Open debts in each instance, int64[I]."""
    return _counted(coverage, debts)


def unseen(coverage: Coverage, population: Population, debts: Sequence[LedgerEntry], per: Per) -> IntArray:
    """Open debts in each instance whose pod is gone and whose replacement is not among the pods yet, int64[I].

    A replacement that is there, but does not work yet, is counted as an unready pod already. One of another node or
    zone is not looked for: what this node has lost stays lost until the debt is closed.
    """
    gone = [entry for entry in debts if not _stands(population.cluster.pod_by_key.get(entry.pod.key), entry)]
    number = _counted(coverage, gone)
    if per not in (Per.NODE, Per.ZONE) and gone:
        number -= _replaced(coverage, population, gone)
    return number


def _stands(pod: Pod | None, entry: LedgerEntry) -> bool:
    """Whether this is the evicted pod itself, and it has not finished."""
    return pod is not None and pod.uid == entry.pod.uid and not pod.is_finished


def sent_since(coverage: Coverage, entries: Iterable[LedgerEntry], since: float) -> dict[int, list[float]]:
    """When evictions of each instance (by place) were sent after a moment, ascending; a refused one is none."""
    found: defaultdict[int, list[float]] = defaultdict(list)
    for entry in entries:
        if entry.state in SENT and entry.at > since:
            place = coverage.place_of_entry(entry)
            if place != NOWHERE:
                found[place].append(entry.at)
    return {place: sorted(times) for place, times in found.items()}


def _counted(coverage: Coverage, entries: Iterable[LedgerEntry]) -> IntArray:
    number = np.zeros(len(coverage.instances), dtype=np.int64)
    for place, count in Counter(map(coverage.place_of_entry, entries)).items():
        if place != NOWHERE:
            number[place] += count
    return number


def _replaced(coverage: Coverage, population: Population, gone: Sequence[LedgerEntry]) -> IntArray:
    """Gone pods for which an unready pod of the same workload, made after the eviction, stands; int64[I]."""
    waiting: defaultdict[tuple[int, str], list[float]] = defaultdict(list)
    for entry in gone:
        place = coverage.place_of_entry(entry)
        if place != NOWHERE and entry.workload:
            waiting[(place, entry.workload)].append(entry.at)
    number = np.zeros(len(coverage.instances), dtype=np.int64)
    if not waiting:
        return number
    kinds, cluster = population.kind_of, population.cluster
    unready = ~population.is_ready & population.is_counted
    for index in np.flatnonzero(unready[kinds] & (coverage.instance_of != NOWHERE)).tolist():
        pod = cluster.pods[index]
        workload = cluster.workload_of(pod)
        times = waiting.get((int(coverage.instance_of[index]), "" if workload is None else workload.uid))
        if times and pod.created_at is not None and pod.created_at >= min(times) - CLOCK_TOLERANCE_SECONDS:
            times.remove(min(times))
            number[coverage.instance_of[index]] += 1
    return number
