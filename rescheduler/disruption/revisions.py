"""How far each workload is between two revisions, and what troubles the pods of each; counted once for a snapshot."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Final

from rescheduler.disruption.pod_kinds import PodKinds
from rescheduler.model.cluster import Cluster
from rescheduler.model.pod import Pod

REVISION_LABEL: Final = "controller-revision-hash"


class Revisions:
    """Looked up by uid of the workload at the top of a pod's owners."""

    def __init__(self, cluster: Cluster, kinds: PodKinds) -> None:
        """Count the pods of every workload once, kind by kind."""
        self._alive: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        self._troubles: defaultdict[tuple[str, tuple[str, str]], list[Pod]] = defaultdict(list)
        self._leaving: Counter[str] = Counter()
        for pod, number in zip(kinds.examples, kinds.sizes, strict=True):
            workload = cluster.workload_of(pod)
            if workload is None or pod.is_finished:
                continue
            if pod.is_terminating:
                self._leaving[workload.uid] += number
                continue
            self._alive[workload.uid].add(revision_of(pod))
            if pod.trouble:
                self._troubles[workload.uid, revision_of(pod)].append(pod)

    def alive(self, workload: str) -> int:
        """Revisions that have pods which are not on their way out."""
        return len(self._alive[workload])

    def leaving(self, workload: str) -> int:
        """Pods on their way out."""
        return self._leaving[workload]

    def troubled(self, workload: str, pod: Pod) -> Pod | None:
        """A pod of the same revision that cannot run, if there is one."""
        found = self._troubles.get((workload, revision_of(pod)), ())
        return min(found, key=lambda other: other.name) if found else None


def revision_of(pod: Pod) -> tuple[str, str]:
    """What tells revisions apart: the ReplicaSet of a Deployment's pod, the hash on a StatefulSet's."""
    owner = pod.controller
    return ("" if owner is None else owner.uid, pod.labels.get(REVISION_LABEL, ""))
