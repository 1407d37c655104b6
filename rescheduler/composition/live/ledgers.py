"""Where evictions are written down: the ledger of a live cluster, this machine's history, and what both tell."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.sqlite.history_store import HistoryStore, Place, history_path, read_kept_ledger
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.identity import cluster_identity
from rescheduler.adapters.kubernetes.ledger.ledger_objects import ConfigMaps
from rescheduler.adapters.kubernetes.ledger.sharded_ledger import ShardedLedger
from rescheduler.composition.live.cluster_source import ClusterOptions, connected
from rescheduler.execution.ledger.ledger_rules import LedgerRules
from rescheduler.execution.ledger.open_evictions import settled
from rescheduler.execution.ledger.remembering_ledger import RememberingLedger
from rescheduler.extension_points import (
    NOTHING_EARLIER,
    AuditLog,
    Clock,
    ClusterError,
    LedgerDeniedError,
    LedgerReading,
    LedgerStore,
    StoreError,
)
from rescheduler.model.daemon.known_ledger import NOTHING_KNOWN
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.policy.fields.policy import (
    Guidance,
    Policy,
    counted_labels,
    counted_seconds,
    keep_seconds,
    needs_ledger,
)

# The ledger on the cluster where we may write it, else the one on this machine.


class SharedOrLocalLedger(LedgerStore):
    """Goes over to the local ledger, once and for all, when the shared one is denied; its stop mark counts as before.

    ``is_local``: nothing may be written on the cluster, so it begins so. ``is_needed``: the policy has budgets that
    several runs can only keep together; then it does not go over. ``tell`` is told when it does.
    """

    def __init__(
        self,
        shared: LedgerStore,
        local: LedgerStore,
        *,
        is_local: bool,
        is_needed: bool,
        tell: Callable[[str], None],
    ) -> None:
        self._shared = shared
        self._local = local
        self._is_local = is_local
        self._is_needed = is_needed
        self._tell = tell

    def read(self) -> LedgerReading:
        """The ledger in use. Raises LedgerDeniedError where it must be the shared one, ClusterError, StoreError."""
        if not self._is_local:
            try:
                return self._shared.read()
            except LedgerDeniedError as error:
                self._go_over(error)
        return self._local.read()._replace(stop=self._stop())

    def write(self, ledger: Ledger, version: str) -> str | None:
        """Replace the ledger that is in use; None also when that has just become another one: read again."""
        if self._is_local:
            return self._local.write(ledger, version)
        try:
            return self._shared.write(ledger, version)
        except LedgerDeniedError as error:
            self._go_over(error)
        return None

    def _go_over(self, error: LedgerDeniedError) -> None:
        if self._is_needed:
            raise LedgerDeniedError(
                f"{error}; rates (disruption.rates) and budgets with rate or maxMoving can only be kept with it, so "
                "nothing is evicted"
            ) from error
        self._is_local = True
        self._tell(f"{error}; evictions are written down on this machine alone, and other processes do not see them")

    def _stop(self) -> str | None:
        """Whether the shared ledger, or its namespace, carries the mark, as far as we may look."""
        try:
            return self._shared.read().stop
        except LedgerDeniedError:
            return None


class Ledgers(NamedTuple):
    """What a run that evicts writes down, for everybody and for this machine."""

    shared: LedgerStore
    audit: AuditLog | None


def ledgers_of(
    connection: Connection, policy: Policy, clock: Clock, tell: Callable[[str], None], *, is_daemon: bool = False
) -> Ledgers:
    """The ledger of a live cluster as a policy wants it kept. Raises ClusterError.

    Under ``guidance: Predict`` nothing is written on the cluster but evictions, so the ledger is on this machine.
    """
    place = Place(cluster_identity(connection), connection.server)
    local = HistoryStore(lambda: history_path(os.environ), place, clock, tell)
    store = SharedOrLocalLedger(
        RememberingLedger(config_map_ledger(connection, policy), local, _called(policy), tell),
        local,
        is_local=policy.guidance is Guidance.PREDICT,
        is_needed=needs_ledger(policy, is_daemon=is_daemon),
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


def accept_loss(
    options: ClusterOptions, policy: Policy, *, confirm: Callable[[str, Sequence[str]], bool]
) -> str | None:
    """Let the ledger go on without what is lost of it; the name of its object, None where ``confirm`` says no.

    ``confirm`` is given that name, and in words what is missing. Raises ClusterError, also where it is somebody else's.
    """
    connection, clock = connected(options, read_only=False), SystemClock()
    store, called = config_map_ledger(connection, policy), _called(policy)
    lost = [*store.losses()]
    place = Place(cluster_identity(connection), connection.server)
    memory = HistoryStore(lambda: history_path(os.environ), place, clock, lost.append)
    known = NOTHING_KNOWN
    try:
        known = memory.known(called)
    except StoreError as error:
        lost.append(f"what this machine remembers of it cannot be read: {error}")
    if not confirm(called, lost):
        return None
    store.accept_loss(connection.server_time or clock.now(), known.plan, known.accepted_at)
    return called


def _called(policy: Policy) -> str:
    return f"{policy.hold.namespace}/{policy.ledger.name}"


def book_rules(policy: Policy) -> LedgerRules:
    """How long a run's ledger keeps what, and who we are."""
    holder = f"rescheduler on {platform.node() or 'an unnamed machine'}, process {os.getpid()}"
    return LedgerRules(holder, keep_seconds(policy), label_keys=counted_labels(policy))


def config_map_ledger(connection: Connection, policy: Policy) -> ShardedLedger:
    """The ledger in the cluster itself."""
    objects = ConfigMaps(connection, policy.hold.namespace, keep_seconds=keep_seconds(policy))
    return ShardedLedger(objects, policy.ledger.name, counted_seconds=counted_seconds(policy))
