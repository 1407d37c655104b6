"""Pods that stopped working, and replicas that were suddenly wanted: what a client may not have seen when it acts."""

from __future__ import annotations

from collections import defaultdict

from rescheduler.model.objects.pod import Pod
from tests.soak.trace import NodeChanged, PodChanged
from tests.soak.world.truth import Truth


class Losses:
    """When each workload lost a pod (by whomsoever but us) or was asked for more replicas; times are true."""

    def __init__(self) -> None:
        self._lost: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
        self._desired: dict[str, int] = {}
        self._changes: defaultdict[str, list[tuple[float, int]]] = defaultdict(list)

    def pod(self, event: PodChanged, truth: Truth) -> None:
        """A pod changed."""
        if event.old is not None and _works(event.old) and (event.new is None or not _works(event.new)):
            self._lost[truth.workload_of(event.old)].append((event.t, event.old.uid))

    def node(self, event: NodeChanged, truth: Truth) -> None:
        """With a node that fails or goes, all its pods are lost."""
        if event.old is None or not event.old.is_ready or (event.new is not None and event.new.is_ready):
            return
        for pod in truth.pods.values():
            if pod.node_name == event.old.name and _works(pod):
                self._lost[truth.workload_of(pod)].append((event.t, pod.uid))

    def look(self, truth: Truth) -> None:
        """Note changed numbers of wanted replicas."""
        for uid in truth.workloads:
            wanted = truth.desired(uid)
            before = self._desired.setdefault(uid, wanted)
            if before != wanted:
                self._changes[uid].append((truth.t, before))
                self._desired[uid] = wanted

    def forgive(self, uid: str) -> None:
        """It was us: no excuse."""
        for lost in self._lost.values():
            lost[:] = [item for item in lost if item[1] != uid]

    def since(self, workload: str, t: float) -> int:
        """Pods lost at or after a time, and times that more replicas were wanted."""
        lost = {uid for at, uid in self._lost.get(workload, ()) if at >= t}
        return len(lost) + sum(at >= t for at, _ in self._changes.get(workload, ()))

    def uids_since(self, workload: str, t: float) -> set[str]:
        """Pods lost at or after a time."""
        return {uid for at, uid in self._lost.get(workload, ()) if at >= t}

    def earlier_desired(self, workload: str, t: float) -> list[int]:
        """Numbers of replicas that were wanted at some time since."""
        return [before for at, before in self._changes.get(workload, ()) if at >= t]

    def last_change(self, workload: str) -> float | None:
        """When the number of wanted replicas changed last."""
        changes = self._changes.get(workload)
        return changes[-1][0] if changes else None


def _works(pod: Pod) -> bool:
    return pod.phase == "Running" and pod.is_ready and not pod.is_terminating
