"""The entries of one plan in the ledger, as this process knows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.model.columns.spread import ZONE
from rescheduler.model.daemon.ledger import EntryState, Ledger, LedgerEntry
from rescheduler.model.daemon.ledger_changes import closed, repaid
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.attempts import NO_EARLIER_ATTEMPTS, EarlierAttempts
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Move, PodReference


class AnnouncedEvictions:
    """Own entries by pod, the newest of each; ``number`` is given by the ledger and not known here."""

    def __init__(self, label_keys: Iterable[str] = (), earlier: EarlierAttempts = NO_EARLIER_ATTEMPTS) -> None:
        """``label_keys``: of the labels that are written down; ``earlier``: attempts of the same run."""
        self._label_keys = tuple(sorted(label_keys))
        self._earlier = earlier
        self._entries: dict[PodReference, LedgerEntry] = {}
        self._complete: set[PodReference] = set()

    @property
    def all(self) -> Sequence[LedgerEntry]:
        """In the order in which they were announced."""
        return tuple(self._entries.values())

    def of(self, pod: PodReference) -> LedgerEntry | None:
        """The newest entry of a pod."""
        return self._entries.get(pod)

    def put(self, entry: LedgerEntry) -> None:
        """A new entry, or one as it is now. It takes the place of an older one of the same pod, which was refused."""
        self._entries[entry.pod] = entry

    def forget(self, entry: LedgerEntry) -> None:
        """It was never written."""
        self._entries.pop(entry.pod, None)

    def complete(self, pods: Iterable[PodReference]) -> None:
        """The replacements of these pods are Ready."""
        self._complete.update(pods)

    @property
    def ready(self) -> frozenset[PodReference]:
        """Pods whose replacements are Ready."""
        return frozenset(self._complete)

    def without_complete(self, ledger: Ledger, now: float) -> Ledger:
        """The ledger with own debts as repaid whose replacements are Ready."""
        ledger = repaid(ledger, self._earlier.ready, now)
        ours = {(entry.pod, entry.at) for entry in self._entries.values() if entry.pod in self._complete}
        if not ours:
            return ledger
        entries = tuple(
            closed(entry, EntryState.REPAID, now) if entry.is_debt and (entry.pod, entry.at) in ours else entry
            for entry in ledger.entries
        )
        return structs.replace(ledger, entries=entries)

    def entry(self, move: Move, pod: Pod, plan: int, fresh: FreshCluster) -> LedgerEntry:
        """A new entry for the eviction of ``pod``, announced now."""
        cluster = fresh.now
        workload = cluster.workload_of(pod)
        node = cluster.node_by_name.get(move.from_node)
        return LedgerEntry(
            number=0,
            plan=plan,
            pod=move.pod,
            from_node=move.from_node,
            to_node=move.to_node,
            at=round(fresh.time, 3),
            workload="" if workload is None else workload.uid,
            workload_key="" if workload is None else workload.key,
            desired=0 if workload is None else workload.desired_replicas or 0,
            ready=0 if workload is None else sum(map(_is_ready, cluster.pods_of(workload.uid))),
            zone="" if node is None else node.labels.get(ZONE, ""),
            labels={key: pod.labels[key] for key in self._label_keys if key in pod.labels},
            label_keys=self._label_keys,
            grace_seconds=pod.spec.termination_grace_seconds,
            objective=move.objective,
            reason=move.reason,
            method=move.method,
            attempt=self._earlier.attempt,
            state=EntryState.INTENDED if move.method is MoveMethod.EVICT else EntryState.SURGING,
        )


def _is_ready(pod: Pod) -> bool:
    return pod.is_ready and pod.node_name is not None and not pod.is_terminating
