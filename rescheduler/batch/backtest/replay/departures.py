"""Who leaves a history when a ReplicaSet shrinks: where its pods stand otherwise than in the archive, those that its
controller would delete there. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.scale_down_order import first_to_go
from rescheduler.model.objects.workload import Workload

_CHOOSING: Final = ("ReplicaSet", "ReplicationController")
"""Kinds whose controller chooses among pods that are alike. All others let certain pods go: those of the highest
numbers, of a node, or that have done their work. Which these are the archive knows."""


def exchanged(earlier: Cluster, stood: Mapping[str, Pod], recorded: Cluster) -> dict[str, str]:
    """By uid, whose place in the history a pod of the archive takes, where that is another's.

    A pod that leaves the archive takes the place of the one that its controller would delete in the history, and that
    one, which stays in the archive, takes the other's. ``earlier`` and ``recorded``: the archive at the last time and
    now; ``stood``: its pods, by uid, as they stood in the history after the last time, with the uids that they had
    there.
    """
    members = _members(earlier, stood)
    now = {pod.uid: pod for pod in recorded.pods}
    found: dict[str, str] = {}
    for owner in recorded.workloads:
        pods = members.get(owner.uid, [])
        if not _chooses(owner) or all(_is_untouched(pod, stood[pod.uid]) for pod in pods):
            continue
        leave = [pod for pod in pods if pod.uid not in now or now[pod.uid].is_terminating]
        stay = [pod for pod in pods if pod.uid in now and now[pod.uid].is_active]
        at = _changed_at(owner, earlier.taken_at, recorded.taken_at)
        company = [pod for uid in _of_one_deployment(owner, recorded.workloads) for pod in members.get(uid, [])]
        too_many = min(len(leave) + len(stay) - (owner.desired_replicas or 0), len(leave))
        taken = first_to_go(leave, too_many, company, at)
        # Others that leave were deleted one by one: they leave the history too, wherever they stand in it.
        left = {stood[pod.uid].uid: pod for pod in (*taken, *stay)}
        chosen = first_to_go(
            [stood[pod.uid] for pod in left.values()], too_many, [stood[pod.uid] for pod in company], at
        )
        found |= _swaps(taken, [left[pod.uid] for pod in chosen])
    return found


def _members(earlier: Cluster, stood: Mapping[str, Pod]) -> dict[str, list[Pod]]:
    """Active pods of the archive that the history has too, by the uid of their controller."""
    found: dict[str, list[Pod]] = defaultdict(list)
    for pod in earlier.pods:
        if pod.controller is not None and pod.is_active and pod.uid in stood:
            found[pod.controller.uid].append(pod)
    return found


def _chooses(owner: Workload) -> bool:
    return owner.kind in _CHOOSING and owner.desired_replicas is not None and not owner.is_terminating


def _is_untouched(recorded: Pod, stands: Pod) -> bool:
    return (stands.node_name, stands.uid) == (recorded.node_name, recorded.uid)


def _changed_at(owner: Workload, earliest: float, latest: float) -> float:
    """When the number of replicas was changed, as far as anybody says."""
    return latest if owner.scaled_at is None else max(earliest, min(owner.scaled_at, latest))


def _of_one_deployment(owner: Workload, workloads: Iterable[Workload]) -> list[str]:
    """Uids of the ReplicaSets of the same Deployment; of one that nobody controls not even its own."""
    return [one.uid for one in workloads if owner.owner is not None and one.owner == owner.owner]


def _swaps(taken: Iterable[Pod], chosen: Iterable[Pod]) -> dict[str, str]:
    """In the order of the controller; whoever is among both keeps its place."""
    leave, wanted = [pod.uid for pod in taken], [pod.uid for pod in chosen]
    pairs = zip([uid for uid in leave if uid not in wanted], [uid for uid in wanted if uid not in leave], strict=True)
    return {uid: place for one, other in pairs for uid, place in ((one, other), (other, one))}
