"""What was moved in a cluster: its ledger, and what this machine remembers."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.sqlite.history_store import (
    Place,
    history_path,
    read_history,
    read_kept_ledger,
    read_kept_plans,
)
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.eviction.live_pods import read_pod
from rescheduler.adapters.kubernetes.identity import cluster_identity
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.composition.live.cluster_source import ClusterOptions, connected
from rescheduler.composition.live.ledgers import config_map_ledger
from rescheduler.execution.ledger.open_evictions import settled
from rescheduler.execution.run.resuming import made_at
from rescheduler.extension_points import ClusterError, StoreError
from rescheduler.model.daemon.ledger import EntryState, Ledger, LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.policy import Policy

Tell = Callable[[str], None]
Settle = Callable[[Connection, Ledger], Ledger]


def past(
    options: ClusterOptions, policy: Policy, *, since_seconds: float | None, namespaces: Sequence[str], tell: Tell
) -> list[LedgerEntry]:
    """Evictions not older than ``since_seconds`` (None: all that is kept), from ``namespaces`` (none: from all).

    Without a cluster what this machine remembers is all, which ``tell`` is told. Raises ClusterError where a
    kubeconfig or context was named that cannot be used, StoreError.
    """
    return _past(options, policy, since_seconds, namespaces, tell, _settled_by_all)


def _past(
    options: ClusterOptions,
    policy: Policy,
    since_seconds: float | None,
    namespaces: Sequence[str],
    tell: Tell,
    settle: Settle,
) -> list[LedgerEntry]:
    connection = _connection(options, tell)
    place, ledger = (None, Ledger()) if connection is None else _from_cluster(connection, policy, tell, settle)
    now = SystemClock().now() if connection is None else connection.server_time or SystemClock().now()
    since = float("-inf") if since_seconds is None else now - since_seconds
    known = {(entry.pod.uid, entry.at): entry for entry in _from_here(place, since, tell)}
    known.update({(entry.pod.uid, entry.at): entry for entry in ledger.entries})
    return [
        entry for entry in known.values() if entry.at >= since and (not namespaces or entry.pod.namespace in namespaces)
    ]


def kept_plans(options: ClusterOptions) -> Mapping[int, Callable[[], bytes]]:
    """Plans of this cluster that were begun from this machine, as JSON by number. Raises ClusterError, StoreError."""
    connection = connected(options, read_only=True)
    return read_kept_plans(history_path(os.environ), Place(cluster_identity(connection), connection.server))


def was_begun(plan: Plan, options: ClusterOptions, policy: Policy, tell: Tell) -> bool:
    """Whether any of a plan's pods was evicted, or asked for, since it was made. Raises ClusterError, StoreError.

    Only pods of the plan whose eviction may not have taken effect are looked at, each by itself.
    """
    pods, since = frozenset(move.pod.uid for move in plan.moves), made_at(plan)
    return any(
        entry.pod.uid in pods and entry.at >= since and entry.state not in (EntryState.REFUSED, EntryState.NOT_EVICTED)
        for entry in _past(options, policy, None, (), tell, partial(_settled_by_pods, pods))
    )


def _connection(options: ClusterOptions, tell: Tell) -> Connection | None:
    try:
        return connected(options, read_only=True)
    except ClusterError as error:
        if options.kubeconfig is not None or options.context is not None:
            raise
        tell(f"{error}; what this machine remembers of any cluster is shown")
        return None


def _settled_by_all(connection: Connection, ledger: Ledger) -> Ledger:
    """With every debt closed that the whole cluster proves to be over. Raises ClusterError."""
    if not ledger.debts:
        return ledger
    cluster = LiveReader(connection).read()
    return settled(ledger, cluster, lambda reference: cluster.pod_by_key.get(reference.key))


def _settled_by_pods(pods: Container[str], connection: Connection, ledger: Ledger) -> Ledger:
    """The entries of these pods alone (by uid), told apart as far as the pods themselves do. Raises ClusterError.

    Those that have left have left: whether replacements work is not asked, so nobody else has to be read.
    """
    own = replace(ledger, entries=tuple(entry for entry in ledger.entries if entry.pod.uid in pods))
    is_open = (entry for entry in own.entries if entry.may_stand or entry.state is EntryState.SURGING)
    asked = {entry.pod.key: entry.pod for entry in is_open}
    found = (read_pod(connection, pod.namespace, pod.name) for pod in asked.values())
    pods_now = tuple(pod for pod in found if pod is not None)
    cluster = Cluster(pods=pods_now, taken_at=connection.server_time or SystemClock().now())
    return settled(own, cluster, lambda pod: cluster.pod_by_key.get(pod.key))


def _from_cluster(connection: Connection, policy: Policy, tell: Tell, settle: Settle) -> tuple[Place, Ledger]:
    """Which cluster it is, and its ledger as ``settle`` makes it of what it holds."""
    try:
        place = Place(cluster_identity(connection), connection.server)
    except ClusterError as error:
        tell(f"{error}; what this machine remembers of this cluster is shown")
        return Place("", connection.server), Ledger()
    try:
        ledger = settle(connection, config_map_ledger(connection, policy).read().ledger)
    except ClusterError as error:
        tell(f"{error}; what this machine remembers of this cluster is shown")
        ledger = Ledger()
    return place, ledger


def _from_here(place: Place | None, since: float, tell: Tell) -> list[LedgerEntry]:
    """Lines of this machine, and the ledger that it keeps where the cluster has none."""
    try:
        path = history_path(os.environ)
        lines = read_history(path, place, since, tell)
        kept = read_kept_ledger(path, place) if place is not None and place.cluster else Ledger()
    except StoreError as error:
        tell(str(error))
        return []
    return [*lines, *kept.entries]
