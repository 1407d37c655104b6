"""Which debts are over, by proof alone: the pod still stands, or a replacement works; pure but for one live look."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Final, NamedTuple

from msgspec import structs

from rescheduler.model.daemon.ledger import EntryState, Ledger, LedgerEntry
from rescheduler.model.daemon.ledger_changes import closed
from rescheduler.model.objects.annotations import EVICTION_IN_PROGRESS
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import Workload, kind_and_group
from rescheduler.model.plan.detachment import detachment_of
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import PodReference, reference_to

READY_SECONDS: Final = 30.0
"""A replacement that has been Ready for so long works: one that crashes as it starts is Ready for a moment only. No
field of the policy, since with less a workload could lose its pods one by one to replacements that never worked."""
DOUBT_SECONDS: Final = 90.0
"""An eviction whose answer was lost may take effect so much later (a request waits up to 60 s in the API server, and
up to 30 s for its budget). No field of the policy, since with less one pod could be evicted on two accounts."""
SENT_WITHIN_SECONDS: Final = 10.0
"""From its announcement to the moment when an eviction is sent, at most: later it is given up."""
REQUEST_SECONDS: Final = 35.0
"""The longest that one request is waited for: to connect, and for its answer."""
UNWANTED_SECONDS: Final = 120.0
"""A workload that was scaled down, and has what it wants, is given this long to make a replacement after all. Shorter
than ``breaker.repayWithin`` is by default: that nobody wants a replacement any more is no failure."""
ASKED_SECONDS: Final = 3600.0
"""Whoever was asked to move a pod, and does not say that he does, is not asked for it again for so long."""
FORGOTTEN_SECONDS: Final = 86400.0
"""A debt that nothing can prove any more, since its workload cannot be seen, ends after so long."""

Look = Callable[[PodReference], Pod | None]
"""The pod of that name as it stands now (a live read), or None."""


def settled(ledger: Ledger, cluster: Cluster, look: Look) -> Ledger:
    """The ledger with every debt closed that is proven to be over, on a snapshot taken just now.

    Refusals are not found here: whoever was refused notes it. What is not proven stays open.
    """
    debts = ledger.debts
    is_surging = any(entry.state is EntryState.SURGING for entry in ledger.entries)
    if not debts and not is_surging:
        return ledger
    states = _states_of(cluster, debts)
    claimed: set[str] = set()
    entries = tuple(
        _settled(entry, cluster, states, look, claimed) if entry.is_debt else _surge_settled(entry, look, cluster)
        for entry in ledger.entries
    )
    return structs.replace(ledger, entries=entries)


def _surge_settled(entry: LedgerEntry, look: Look, cluster: Cluster) -> LedgerEntry:
    """A surge or migration whose run has ended without a word; one that may still go on stays as it is."""
    now = cluster.taken_at
    if entry.state is not EntryState.SURGING or now - entry.at < DOUBT_SECONDS:
        return entry
    pod = look(entry.pod)
    if not _stands(pod, entry):
        node = _moved_to(entry, cluster)
        return closed(entry, EntryState.REPAID, now, "the pod is gone, and nobody is missing", landed_on=node)
    assert pod is not None
    if entry.method is MoveMethod.MIGRATE:
        is_open = EVICTION_IN_PROGRESS in pod.annotations or now - entry.at < ASKED_SECONDS
        return entry if is_open else closed(entry, EntryState.NOT_EVICTED, now, "its owner has not moved it")
    if detachment_of(pod) is not None:
        return entry
    return closed(entry, EntryState.NOT_EVICTED, now, "given back after its run had ended")


def _moved_to(entry: LedgerEntry, cluster: Cluster) -> str | None:
    """The node of the pod that was made in place of one that its owner moved, as far as one is there."""
    if entry.method is not MoveMethod.MIGRATE or not entry.workload:
        return entry.landed_on
    found = (pod.node_name for pod in cluster.pods_of(entry.workload) if _came_after(pod, entry))
    return next((node for node in found if node is not None), entry.landed_on)


def doubt_ends_at(entry: LedgerEntry) -> float:
    """When a pod that still stands is proven not to have been evicted. Seconds since the epoch."""
    ended_at = entry.ended_at if entry.ended_at is not None else entry.at + SENT_WITHIN_SECONDS + REQUEST_SECONDS
    return ended_at + DOUBT_SECONDS


class _WorkloadState(NamedTuple):
    """A workload and those of its pods that are not on their way out."""

    workload: Workload | None
    members: Sequence[Pod]

    @property
    def ready(self) -> int:
        return len(self._ready)

    def whole_at(self, wanted: int) -> float:
        """Since when at least so many of those that are ready now have been.

        One of which that is not told was so since it was made: the API server always tells.
        """
        times = sorted(pod.created_at or 0.0 if pod.ready_at is None else pod.ready_at for pod in self._ready)
        return times[wanted - 1] if wanted else 0.0

    @property
    def _ready(self) -> Sequence[Pod]:
        return [pod for pod in self.members if pod.is_ready and pod.node_name is not None]


def _settled(
    entry: LedgerEntry, cluster: Cluster, states: dict[str, _WorkloadState], look: Look, claimed: set[str]
) -> LedgerEntry:
    now = cluster.taken_at
    if entry.may_stand:
        if _stands(look(entry.pod), entry):
            # Any of two readings may be of the past: one that no more shows the pod is right, whichever it is.
            if now < doubt_ends_at(entry) or not _stands(cluster.pod_by_key.get(entry.pod.key), entry):
                return entry
            return closed(entry, EntryState.NOT_EVICTED, now, "the pod still stands", is_in_doubt=False)
        # When it was granted nobody knows: where the answer was lost, the time is that of giving up on it.
        entry = structs.replace(entry, state=EntryState.OPEN, is_in_doubt=False, ended_at=None)
    over = _replaced(entry, cluster, states, look, claimed) or _without_workload(entry, cluster, states)
    return over or entry


def _stands(pod: Pod | None, entry: LedgerEntry) -> bool:
    return pod is not None and pod.uid == entry.pod.uid and pod.is_active


def _replaced(
    entry: LedgerEntry, cluster: Cluster, states: dict[str, _WorkloadState], look: Look, claimed: set[str]
) -> LedgerEntry | None:
    """The entry if its workload is as complete as it was, by a pod that came after it and works; else None.

    A list may be older than it seems, and show as working what has crashed since: the pod itself is looked at.
    """
    state = states.get(entry.workload)
    if state is None or state.workload is None:
        return None
    now = cluster.taken_at
    wanted = min(_desired(state, entry), entry.ready)
    working = [pod for pod in state.members if _came_after(pod, entry) and _works(pod, now)]
    if not working or state.ready < wanted:
        return None
    found = next(
        (pod for pod in _likeliest_first(entry, working, claimed) if _works_now(look(reference_to(pod)), pod, now)),
        None,
    )
    if found is None:
        return None
    claimed.add(found.uid)
    node = entry.landed_on or found.node_name
    if node == entry.from_node != entry.to_node:
        return closed(entry, EntryState.FAILED, now, f"its replacement came back to {node}", landed_on=node)
    whole_at = state.whole_at(wanted)
    return closed(entry, EntryState.REPAID, _worked_at(entry, found, whole_at, now), landed_on=node)


def _worked_at(entry: LedgerEntry, replacement: Pod, whole_at: float, now: float) -> float:
    """When the debt was over: however much later somebody looks, the replacement took no longer than this."""
    proven_at = now if replacement.ready_at is None else replacement.ready_at + READY_SECONDS
    return min(now, max(proven_at, whole_at, _sent_at(entry)))


def _sent_at(entry: LedgerEntry) -> float:
    return entry.at if entry.ended_at is None else max(entry.at, entry.ended_at)


def _without_workload(entry: LedgerEntry, cluster: Cluster, states: dict[str, _WorkloadState]) -> LedgerEntry | None:
    """The entry if nobody wants a replacement any more, or if nobody can ever tell; else None.

    What nobody wants was not late, whenever somebody looks: it counts as over since the pod went.
    """
    now = cluster.taken_at
    went_at = min(now, _sent_at(entry))
    pod = cluster.pod_by_key.get(entry.pod.key)
    if pod is not None and pod.uid == entry.pod.uid and not pod.is_finished:
        return None
    state = states.get(entry.workload, _WorkloadState(None, ()))
    if not entry.workload:
        return closed(entry, EntryState.REPAID, went_at, "nothing recreates this pod")
    if state.workload is None and cluster.would_hold(*kind_and_group(entry.workload_key)):
        return closed(entry, EntryState.REPAID, went_at, "its workload is gone")
    is_smaller = state.workload is not None and _desired(state, entry) < entry.desired
    if is_smaller and state.ready >= _desired(state, entry) and now - entry.at > UNWANTED_SECONDS:
        return closed(entry, EntryState.REPAID, went_at, "its workload wants fewer pods now, and has them")
    if now - entry.at > FORGOTTEN_SECONDS:
        return closed(entry, EntryState.FAILED, now, "it was not replaced within a day")
    return None


def _desired(state: _WorkloadState, entry: LedgerEntry) -> int:
    """Replicas that are wanted now; of an owner that is known by its pods alone, those that were there before."""
    workload = state.workload
    if workload is None or workload.desired_replicas is None or workload.is_inferred:
        return entry.desired
    return workload.desired_replicas


def _came_after(pod: Pod, entry: LedgerEntry) -> bool:
    """Whether a pod was made after an eviction was announced."""
    return pod.uid != entry.pod.uid and pod.is_made_since(entry.at)


def _works(pod: Pod, now: float) -> bool:
    return pod.is_ready and pod.ready_at is not None and now - pod.ready_at >= READY_SECONDS


def _works_now(seen: Pod | None, listed: Pod, now: float) -> bool:
    return seen is not None and seen.uid == listed.uid and not seen.is_terminating and _works(seen, now)


def _likeliest_first(entry: LedgerEntry, pods: Sequence[Pod], claimed: set[str]) -> Sequence[Pod]:
    """Replacements, as far as pods of one workload can be told apart: first who stands where one was expected.

    Long may pass from the announcement to the eviction, where a process is stopped between them: who came before it
    was answered was more likely made for another reason, as when the workload was scaled up meanwhile.
    """
    free = [pod for pod in pods if pod.uid not in claimed] or list(pods)
    sent_at = _sent_at(entry)

    def unlikeliness(pod: Pod) -> tuple[bool, bool, float, str]:
        return not pod.is_made_since(sent_at), pod.node_name != entry.to_node, pod.created_at or 0.0, pod.uid

    return sorted(free, key=unlikeliness)


def _states_of(cluster: Cluster, debts: Iterable[LedgerEntry]) -> dict[str, _WorkloadState]:
    """Workloads of these debts as they stand, by uid."""
    wanted = {entry.workload for entry in debts if entry.workload}
    namespaces = sorted({entry.pod.namespace for entry in debts})
    members: dict[str, list[Pod]] = defaultdict(list)
    workloads = {workload.uid: workload for workload in cluster.workloads if workload.uid in wanted}
    for pod in chain.from_iterable(cluster.pods_by_namespace.get(name, ()) for name in namespaces):
        if pod.is_active:
            workload = cluster.workload_of(pod)
            if workload is not None and workload.uid in wanted:
                workloads.setdefault(workload.uid, workload)
                members[workload.uid].append(pod)
    return {uid: _WorkloadState(workload, members[uid]) for uid, workload in workloads.items()}
