"""Bugs in what is remembered: debts closed without proof, entries lost, writes over those of others."""

from __future__ import annotations

from typing import Any, Final

from msgspec import structs

from rescheduler.adapters.kubernetes.ledger import ledger_layout
from rescheduler.execution.ledger import open_evictions as debts
from rescheduler.execution.ledger.ledger_entries import AnnouncedEvictions
from rescheduler.execution.ledger.ledger_writer import LedgerWriter
from rescheduler.model.daemon import ledger_changes
from rescheduler.model.daemon.ledger import EntryState, Ledger
from tests.soak.seeded_bugs.seams import SeededBug, becomes, changed, changed_everywhere

LOSSY: Final = {
    "fault_rate": 0.0, "episodes": 0.0, "kills": 0.0, "malice": 0.1,
    "forced": (("evict", "timeout before"), ("evict", "timeout, effect later"), ("evict", "reset before")) * 10,
}  # fmt: skip


def _forgetting_others(original: Any) -> Any:
    """Only the newest plan's debts are debts."""

    def settled(ledger: Ledger, *rest: Any) -> Ledger:
        found = original(ledger, *rest)
        entries = tuple(
            structs.replace(entry, state=EntryState.REPAID) if entry.is_debt and entry.plan < found.plan else entry
            for entry in found.entries
        )
        return structs.replace(found, entries=entries)  # type: ignore[no-any-return]

    return settled


def _reading_once(original: Any) -> Any:
    """The ledger is read once; later readings only bring the version, so that every write goes through."""

    def read(self: LedgerWriter) -> Ledger:
        if not self.version:
            return original(self)  # type: ignore[no-any-return]
        self.version = self._store.read().version
        return self.ledger

    return read


def _forgetting_before(original: Any) -> Any:
    """A process knows nothing of what was written before it started."""

    def read(self: LedgerWriter) -> Ledger:
        ledger: Ledger = original(self)
        newest = max((entry.at for entry in ledger.entries), default=0.0)
        began = vars(self._store).setdefault("first_seen", newest)
        self.ledger = structs.replace(ledger, entries=tuple(entry for entry in ledger.entries if entry.at > began))
        return self.ledger

    return read


def _any_that_came(entry: Any, cluster: Any, standings: Any, claimed: Any) -> Any:
    """Any pod that came after the eviction closes the debt, ready or not."""
    standing = standings.get(entry.workload)
    came = [pod for pod in standing.members if debts._came_after(pod, entry)] if standing is not None else []
    return ledger_changes.closed(entry, EntryState.REPAID, cluster.taken_at) if came else None


def _repaid_anyway(entry: Any, cluster: Any, _standings: Any) -> Any:
    return ledger_changes.closed(entry, EntryState.REPAID, cluster.taken_at)


def _with_all_labels(original: Any) -> Any:
    """Whatever stands on a pod is written down."""

    def entry(self: Any, move: Any, pod: Any, *rest: Any) -> Any:
        return structs.replace(original(self, move, pod, *rest), labels=dict(pod.labels))

    return entry


def _trimmed_soon(original: Any) -> Any:
    return lambda ledger, now, _keep: original(ledger, now, 600.0)


def _without_group(original: Any) -> Any:
    """A custom ReplicaSet is taken for Kubernetes' own."""
    return lambda key: (original(key)[0], None)


BUGS: Final = (
    SeededBug(
        "ready is enough", "a replacement closes the debt in the moment that it is Ready", ("I1",),
        changed(debts, "READY_SECONDS", becomes(0.0)),
    ),
    SeededBug(
        "unready is ready", "a replacement closes the debt whether it is Ready or not", ("I1",),
        changed(debts, "_replaced", becomes(_any_that_came)), settings={"share_ill": 0.2},
    ),
    SeededBug(
        "keys without a group", "a custom kind of the name of one of Kubernetes' own is taken for it by the ledger",
        ("I1",), changed(debts, "kind_and_group", _without_group),
        policy="ownerKinds: [{group: example.com, kind: ReplicaSet}]", settings={"world_pace": 4.0, "malice": 0.6},
    ),
    SeededBug(
        "gone is repaid", "the workload need not be as complete as it was", ("I1",),
        changed(debts, "_without_workload", becomes(_repaid_anyway)),
    ),
    SeededBug(
        "no doubt", "a pod that still stands right after a lost answer was not evicted", ("I1",),
        changed(debts, "DOUBT_SECONDS", becomes(0.0)), settings=LOSSY,
    ),
    SeededBug(
        "others' open evictions forgotten", "those of earlier plans and processes do not count", ("I1",),
        changed_everywhere(debts, "settled", _forgetting_others), settings={"kills": 6.0},
    ),
    SeededBug(
        "read once", "a plan does not read the ledger again before it writes", ("I1", "I8", "I20"),
        changed(LedgerWriter, "read", _reading_once), settings={"processes": 3, "malice": 0.1},
    ),
    SeededBug(
        "short memory", "closed entries are dropped after ten minutes", ("I1", "I2"),
        changed_everywhere(ledger_changes, "trimmed", _trimmed_soon),
    ),
    SeededBug(
        "window reset at restart", "a process that starts begins with an empty ledger", ("I1", "I2"),
        changed(LedgerWriter, "read", _forgetting_before), settings={"kills": 6.0},
    ),
    SeededBug(
        "refilled shard forgets", "a shard that is filled up loses what stood in it", ("I1", "I2"),
        changed(ledger_layout, "_without", becomes(lambda _entries, _newer: [])),
    ),
    SeededBug(
        "all labels kept", "an entry keeps every label of its pod", ("I1",),
        changed(AnnouncedEvictions, "entry", _with_all_labels), settings={"malice": 0.1},
    ),
)  # fmt: skip
