"""Where the pods of a history stand, and what becomes of them when the archive's next snapshot comes. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from msgspec import structs

from rescheduler.batch.backtest.replay.departures import exchanged
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import Workload

_KEEPS_NAMES: Final = "StatefulSet"


class Stay(NamedTuple):
    """Where a pod of the history stands (None: pending), and since when it is the pod that it is there.

    ``as_recorded``: its state is the archive's, since nothing but the archive has touched it. ``uid``: which it has in
    the history, None where it is the archive's.
    """

    node: str | None
    as_recorded: bool = True
    created_at: float | None = None
    started_at: float | None = None
    scheduled_at: float | None = None
    ready_at: float | None = None
    uid: str | None = None


@dataclass
class History:
    """What one history remembers. Pods are known by their uids in the archive.

    ``recorded``: the archive at the last time, None before the first; ``known``: its pods. ``same_as``: the uid of the
    first pod of which a pod is a successor; ``moved``: such uids of pods that were moved.
    """

    stays: dict[str, Stay] = field(default_factory=dict)
    known: dict[str, Pod] = field(default_factory=dict)
    same_as: dict[str, str] = field(default_factory=dict)
    moved: set[str] = field(default_factory=set)
    recorded: Cluster | None = None

    @property
    def is_begun(self) -> bool:
        """Whether it has come through its first time."""
        return self.recorded is not None

    def at(self, recorded: Cluster) -> Cluster:
        """The history's cluster once the archive's next snapshot has come; new pods and those without node wait."""
        if self.recorded is None:
            return recorded
        self._exchange(self.recorded, recorded)
        self._succeed(recorded)
        pods = (self._standing(pod, recorded) for pod in recorded.pods)
        return replace(recorded, pods=tuple(pod for pod in pods if pod is not None))

    def settle(self, recorded: Cluster, stays: Mapping[str, Stay], evicted: Iterable[str]) -> int:
        """What stands where after a time, by uid; how many of the evicted had been moved at an earlier time."""
        self.recorded = recorded
        self.known = {pod.uid: pod for pod in recorded.pods}
        self.stays = dict(stays)
        roots = [self.same_as.get(uid, uid) for uid in evicted]
        again = sum(root in self.moved for root in roots)
        self.moved.update(roots)
        self.same_as = {uid: root for uid, root in self.same_as.items() if uid in self.known}
        return again

    def _standing(self, pod: Pod, recorded: Cluster) -> Pod | None:
        """A pod of the archive as the history has it; None for one that leaves before it ever stood anywhere."""
        stay = self.stays.get(pod.uid)
        if pod.is_finished or (stay is None and pod.belongs_to_its_node):
            return pod
        if stay is None or stay.node is None or stay.node not in recorded.node_by_name:
            return None if pod.is_terminating else waiting(pod)
        if stay.as_recorded and pod.node_name == stay.node:
            return pod
        return standing(pod, stay)

    def _exchange(self, earlier: Cluster, recorded: Cluster) -> None:
        """Let those leave that a controller would choose here: pods of the archive change places, and who they were."""
        stood = {uid: _stood(self.known[uid], stay, recorded) for uid, stay in self.stays.items() if uid in self.known}
        places = exchanged(earlier, stood, recorded)
        self.stays |= {uid: _stay_of(stood[place]) for uid, place in places.items()}
        self.same_as |= {uid: self.same_as.get(place, place) for uid, place in places.items()}

    def _succeed(self, recorded: Cluster) -> None:
        """Pair pods that departed with new ones of the same owner."""
        present = {pod.uid for pod in recorded.pods}
        gone: dict[str, list[Pod]] = defaultdict(list)
        new: dict[str, list[Pod]] = defaultdict(list)
        for pod in self.known.values():
            if pod.uid not in present and pod.controller is not None:
                gone[pod.controller.uid].append(pod)
        for pod in recorded.pods:
            if pod.uid not in self.known and pod.controller is not None:
                new[pod.controller.uid].append(pod)
        for owner, arrivals in new.items():
            for old, young in _pairs(gone.get(owner, []), arrivals):
                self.same_as[young.uid] = self.same_as.get(old.uid, old.uid)


def _stood(pod: Pod, stay: Stay, recorded: Cluster) -> Pod:
    """A pod of the archive at the last time as the history had it; on a node that went since it stands no more."""
    pod = pod if stay.uid is None else structs.replace(pod, uid=stay.uid)
    if stay.node is None or stay.node not in recorded.node_by_name:
        return waiting(pod)
    return pod if stay.as_recorded and pod.node_name == stay.node else standing(pod, stay)


def _stay_of(pod: Pod) -> Stay:
    return Stay(pod.node_name, False, pod.created_at, pod.started_at, pod.scheduled_at, pod.ready_at, pod.uid)


def _pairs(gone: list[Pod], new: list[Pod]) -> Iterable[tuple[Pod, Pod]]:
    if any(pod.controller is not None and pod.controller.kind == _KEEPS_NAMES for pod in new):
        by_name = {pod.key: pod for pod in gone}
        return [(by_name[pod.key], pod) for pod in new if pod.key in by_name]
    return zip(sorted(gone, key=_age), sorted(new, key=_age), strict=False)


def _age(pod: Pod) -> tuple[float, str]:
    return pod.created_at or 0.0, pod.name


def waiting(pod: Pod) -> Pod:
    """A pod of the archive that has no node in the history."""
    return structs.replace(
        pod, node_name=None, nominated_node=None, phase="Pending", is_ready=False, started_at=None, scheduled_at=None,
        ready_at=None, held=None, trouble="",
    )  # fmt: skip


def standing(pod: Pod, stay: Stay) -> Pod:
    """A pod of the archive that stands elsewhere in the history: it runs there."""
    return structs.replace(
        pod,
        node_name=stay.node,
        nominated_node=None,
        phase="Running",
        is_ready=pod.is_ready or pod.node_name is None,
        created_at=pod.created_at if stay.created_at is None else stay.created_at,
        started_at=stay.started_at,
        scheduled_at=stay.scheduled_at,
        ready_at=stay.ready_at if pod.is_ready or pod.node_name is None else None,
        scheduling_gates=(),
        trouble="" if pod.node_name is None else pod.trouble,
        unscheduled="",
        unscheduled_at=None,
    )


def placed(cluster: Cluster, nodes: Mapping[str, str]) -> Cluster:
    """The cluster with pending pods put on nodes, by ``NAMESPACE/NAME``: they have been running there since now."""
    at = cluster.taken_at
    return replace(
        cluster,
        pods=tuple(
            standing(pod, Stay(nodes[pod.key], False, None, at, at, at)) if pod.key in nodes else pod
            for pod in cluster.pods
        ),
    )


def owners_recounted(cluster: Cluster) -> Cluster:
    """The cluster with its workloads' ready replicas as the history's pods have them."""
    found: dict[str, int] = defaultdict(int)
    for pod in cluster.pods:
        workload, owner = cluster.workload_of(pod), cluster.owner_of(pod)
        if pod.is_ready and pod.is_active:
            for uid in {one.uid for one in (workload, owner) if one is not None}:
                found[uid] += 1
    return replace(cluster, workloads=tuple(_recounted(one, found) for one in cluster.workloads))


def _recounted(workload: Workload, ready: Mapping[str, int]) -> Workload:
    if workload.ready_replicas is None:
        return workload
    return structs.replace(workload, ready_replicas=ready.get(workload.uid, 0))
