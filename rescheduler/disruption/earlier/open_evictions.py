"""Evictions that were sent and whose replacements are not there yet: they count as missing pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster, names_as_controller
from rescheduler.model.plan.plan import PodReference


def with_debts(cluster: Cluster, sent: Iterable[PodReference]) -> Cluster:
    """The cluster with every pod whose eviction was sent taken as terminating, whatever the snapshot says."""
    pods = ((reference, cluster.pod_by_key.get(reference.key)) for reference in sent)
    return cluster.with_pods(
        {
            pod.key: msgspec.structs.replace(pod, deletion_at=cluster.taken_at)
            for reference, pod in pods
            if pod is not None and pod.uid == reference.uid and not pod.is_terminating
        }
    )


def indebted(cluster: Cluster, ledger: Ledger) -> Cluster:
    """The cluster with the pods of every open debt taken as terminating."""
    return with_debts(cluster, [entry.pod for entry in ledger.debts])


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
        uid: sum(not pod.is_terminating and names_as_controller(pod, uid) for pod in cluster.pods_by_owner_uid[uid])
        for uid in cluster.pods_by_owner_uid.keys() - cluster.workload_by_uid.keys()
    }
    return {uid: max(before.get(uid, 0), now.get(uid, 0)) for uid in {*before, *now}}
