"""Where evictions are written down: the ledger of a live cluster, this machine's history, and what both tell."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from typing import NamedTuple

from rescheduler.adapters.history_file import history_path
from rescheduler.adapters.history_store import HistoryStore, Place, read_kept_ledger
from rescheduler.adapters.kubernetes.cluster_identity import cluster_identity
from rescheduler.adapters.kubernetes.connection import Connection
from rescheduler.adapters.kubernetes.ledger import ConfigMapLedger
from rescheduler.adapters.shared_or_local_ledger import SharedOrLocalLedger
from rescheduler.execution.books import BookRules
from rescheduler.execution.debts import settled
from rescheduler.extension_points import (
    NOTHING_EARLIER,
    AuditLog,
    Clock,
    ClusterError,
    LedgerReading,
    LedgerStore,
    StoreError,
)
from rescheduler.model.cluster import Cluster
from rescheduler.policy.models import Guidance, Policy
from rescheduler.policy.remembering import counted_seconds, keep_seconds, needs_ledger
from rescheduler.wiring.cluster_source import ClusterOptions, connected


class Ledgers(NamedTuple):
    """What a run that evicts writes down, for everybody and for this machine."""

    shared: LedgerStore
    audit: AuditLog | None


def ledgers_of(connection: Connection, policy: Policy, clock: Clock, tell: Callable[[str], None]) -> Ledgers:
    """The ledger of a live cluster as a policy wants it kept. Raises ClusterError.

    Under ``guidance: Predict`` nothing is written on the cluster but evictions, so the ledger is on this machine.
    """
    place = Place(cluster_identity(connection), connection.server)
    local = HistoryStore(lambda: history_path(os.environ), place, clock, tell)
    store = SharedOrLocalLedger(
        config_map_ledger(connection, policy),
        local,
        is_local=policy.guidance is Guidance.PREDICT,
        is_needed=needs_ledger(policy),
        tell=tell,
    )
    return Ledgers(store, local)


def earlier_evictions(
    options: ClusterOptions, policy: Policy, cluster: Cluster, tell: Callable[[str], None]
) -> LedgerReading:
    """What is known of earlier evictions in the cluster that was read, and the mark that stops others; writes nothing.

    Of a recording nothing is known. What cannot be read is told of, and counts as nothing.
    """
    if options.filenames:
        return NOTHING_EARLIER
    connection = connected(options, read_only=True)
    try:
        reading = config_map_ledger(connection, policy).read()
    except ClusterError as error:
        tell(f"earlier evictions are not known: {error}")
        reading = NOTHING_EARLIER
    if policy.guidance is Guidance.PREDICT:
        try:
            place = Place(cluster_identity(connection))
            reading = reading._replace(ledger=read_kept_ledger(history_path(os.environ), place))
        except (ClusterError, StoreError) as error:
            tell(f"earlier evictions are not known: {error}")
    ledger = settled(reading.ledger, cluster, lambda reference: cluster.pod_by_key.get(reference.key))
    return reading._replace(ledger=ledger)


def book_rules(policy: Policy) -> BookRules:
    """How long a run's ledger keeps what, and who we are."""
    holder = f"rescheduler on {platform.node() or 'an unnamed machine'}, process {os.getpid()}"
    return BookRules(holder, keep_seconds(policy), counted_seconds(policy))


def config_map_ledger(connection: Connection, policy: Policy) -> ConfigMapLedger:
    """The ledger in the cluster itself."""
    return ConfigMapLedger(connection, policy.hold.namespace, policy.ledger.name, keep_seconds=keep_seconds(policy))
