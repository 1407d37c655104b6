"""The cluster as the simulated scheduler sees it: arrays kept in step, rebuilt only when they cannot be."""

from __future__ import annotations

from rescheduler.model.arrays import NOWHERE
from rescheduler.model.placement import Placement
from rescheduler.model.pod import Pod
from rescheduler.scheduling.scheduler_model import SchedulerModel
from rescheduler.scheduling.schedulers import Schedulers
from rescheduler.simulation.object_store import ObjectStore


class SchedulingView:
    """One prediction model, nominations counted, with its placement.

    Pods that are bound or gone only change the placement. A pod that the arrays do not know, and any change of what
    they hold (labels, nominations, nodes), makes them stale; they are rebuilt at the next look.
    """

    def __init__(self, store: ObjectStore, schedulers: Schedulers) -> None:
        self._store = store
        self._schedulers = schedulers
        self._is_stale = True
        self._model: SchedulerModel
        self._placement: Placement
        self._pods: dict[str, tuple[str, int]] = {}
        store.on_pod_change(self._pod_changed)
        store.on_node_change(self._mark_stale)

    def look(self, pod: Pod) -> tuple[SchedulerModel, Placement, int]:
        """The model, the placement as it stands, and the index of the pod."""
        if self._is_stale or self._index(pod) is None:
            self._rebuild()
        return self._model, self._placement, self._pods[pod.key][1]

    def _index(self, pod: Pod) -> int | None:
        uid, index = self._pods.get(pod.key, ("", NOWHERE))
        return index if uid == pod.uid and index != NOWHERE else None

    def _rebuild(self) -> None:
        cluster = self._schedulers.configured(self._store.snapshot())
        self._model = self._schedulers.model(cluster, counts_nominated=True)
        self._placement = Placement(self._model.columns)
        self._pods = {pod.key: (pod.uid, index) for index, pod in enumerate(cluster.pods)}
        self._is_stale = False

    def _mark_stale(self) -> None:
        self._is_stale = True

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        before, after = _node(old), _node(new)
        if self._is_stale or (old is None and after is None):
            return
        index = self._index(old) if old is not None else None
        if index is None or not self._is_followed(index, old, new):
            self._is_stale = True
        elif before != after:
            self._follow(index, before, after)

    def _is_followed(self, index: int, old: Pod | None, new: Pod | None) -> bool:
        """True if the change is one of node alone.

        The model would count a nominated pod that is gone as one that still waits for its node.
        """
        if new is None or new.is_finished:
            return self._model.columns.cluster.pods[index].nominated_node is None
        return old is not None and old.uid == new.uid and _looks_alike(old, new)

    def _follow(self, index: int, before: str | None, after: str | None) -> None:
        if before is not None:
            self._placement.forget(index)
        node = None if after is None else self._model.columns.node_index.get(after)
        if node is not None:
            self._placement.assume(index, node)


def _node(pod: Pod | None) -> str | None:
    """Where the pod holds room."""
    return None if pod is None or pod.is_finished else pod.node_name


def _looks_alike(old: Pod, new: Pod) -> bool:
    """True if nothing changed that the arrays hold, the node apart; a binding ends a nomination."""
    return (
        old.spec is new.spec
        and old.labels == new.labels
        and old.held == new.held
        and old.volumes == new.volumes
        and old.scheduling_gates == new.scheduling_gates
        and old.is_terminating == new.is_terminating
        and (old.nominated_node == new.nominated_node or new.node_name is not None)
    )
