"""Evictions that were sent and whose replacements are not there yet: they count as missing pods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster, names_as_controller


def with_debts(cluster: Cluster, sent: frozenset[str]) -> Cluster:
    """The cluster with every pod whose eviction was sent (by uid) taken as terminating, whatever the snapshot says."""
    if not any(pod.uid in sent and not pod.is_terminating for pod in cluster.pods):
        return cluster
    pods = tuple(
        msgspec.structs.replace(pod, deletion_at=cluster.taken_at)
        if pod.uid in sent and not pod.is_terminating
        else pod
        for pod in cluster.pods
    )
    return replace(cluster, pods=pods)


def indebted(cluster: Cluster, ledger: Ledger) -> Cluster:
    """The cluster with the pods of every open debt taken as terminating."""
    debts = frozenset(entry.pod.uid for entry in ledger.debts)
    return with_debts(cluster, debts) if debts else cluster


def replicas_with_debts(remembered: Mapping[str, int], ledger: Ledger) -> Mapping[str, int]:
    """Desired replicas by uid of owners that are known by their pods alone, no fewer than when a debt was opened.

    A pod that is gone would otherwise not be missed. Only such owners are looked up here.
    """
    wanted = dict(remembered)
    for entry in ledger.debts:
        if entry.workload:
            wanted[entry.workload] = max(entry.desired, wanted.get(entry.workload, 0))
    return wanted


def most_replicas(before: Mapping[str, int], cluster: Cluster) -> dict[str, int]:
    """The larger of what is remembered and what is there, of every owner that the snapshot does not hold."""
    now = {
        uid: sum(not pod.is_terminating and names_as_controller(pod, uid) for pod in pods)
        for uid, pods in cluster.pods_by_owner_uid.items()
        if uid not in cluster.workload_by_uid
    }
    return {uid: max(before.get(uid, 0), now.get(uid, 0)) for uid in {*before, *now}}
