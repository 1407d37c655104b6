"""The simulated kube-scheduler: our own filters and scores behind its queue, with nominations honoured."""

from __future__ import annotations

from typing import Final

import numpy as np
from msgspec import structs

from rescheduler.adapters.simulated.components.scheduling_queue import SchedulingQueue
from rescheduler.adapters.simulated.object_store import ObjectStore
from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.pod import Pod
from rescheduler.scheduling.scheduler_model import SchedulerModel
from rescheduler.scheduling.schedulers import Schedulers

# The cluster as the simulated scheduler sees it: arrays kept in step, rebuilt only when they cannot be.


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


UNSCHEDULABLE: Final = "Unschedulable"
"""What the condition of a pod says that was tried in vain."""


class SimulatedScheduler:
    """Tries one pod at a time. It never preempts; an attempt that might have is only reported.

    A pod nominated to a node counts there against pods of equal and lower priority, gated or not. Its own attempt
    tries that node first; an attempt that fails clears the nomination. Pods of schedulers that are not among
    ``schedulers`` are left alone.
    """

    def __init__(
        self,
        store: ObjectStore,
        settings: SimulationSettings,
        schedulers: Schedulers,
        random: np.random.Generator,
    ) -> None:
        self._store = store
        self._settings = settings
        self._random = random
        self.ties: dict[str, tuple[str, ...]] = {}
        self._is_due = False
        self._view = SchedulingView(store, schedulers)
        self._names = schedulers.names
        self._queue = SchedulingQueue(store.clock, settings, self._run_soon)
        store.on_pod_change(self._pod_changed)
        store.on_node_change(self._queue.wake)
        waiting = (pod for pod in store.pods.values() if self._is_mine(pod))
        for pod in sorted(waiting, key=lambda pod: pod.created_at or 0.0):
            self._queue.add(pod)

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        if old is not None and (new is None or new.uid != old.uid or not self._is_mine(new)):
            self._queue.remove(old)
        if new is not None and self._is_mine(new) and not self._queue.holds(new):
            self._queue.add(new)
        self._wake(old, new)

    def _is_mine(self, pod: Pod) -> bool:
        return pod.is_pending and not pod.scheduling_gates and pod.spec.scheduler_name in self._names

    def _wake(self, old: Pod | None, new: Pod | None) -> None:
        """Let events that free room, or bring company, reach the pods that wait."""
        if old is not None and old.node_name is not None and (new is None or new.is_finished):
            self._queue.wake()
        elif old is not None and _gives_up_nomination(old, new):
            self._queue.wake(lambda pod: pod.spec.priority <= old.spec.priority and pod.uid != old.uid)
        if new is not None and new.node_name is not None and (old is None or old.node_name is None):
            self._queue.wake(lambda pod: bool(pod.spec.affinity or pod.spec.topology_spread))

    def _run_soon(self) -> None:
        if not self._is_due:
            self._is_due = True
            self._store.clock.after(self._settings.attempt_seconds, self._run)

    def _run(self) -> None:
        self._is_due = False
        queued = self._queue.pop()
        if queued is None:
            return
        pod = self._store.pods[queued.key]
        model, placement, index = self._view.look(pod)
        node = self._best(model, placement, index)
        if node is None:
            self._fail(pod, model.explain_failure(index, placement))
        else:
            self._bind(pod, node)
        self._run_soon()

    def _bind(self, pod: Pod, node: str) -> None:
        at = self._store.clock.now()
        bound = structs.replace(pod, node_name=node, nominated_node=None, scheduled_at=at)
        self._store.put_pod(structs.replace(bound, unscheduled="", unscheduled_at=None))
        self._store.event("Scheduled", pod, f"assigned {pod.key} to {node}")

    def _fail(self, pod: Pod, message: str) -> None:
        self._queue.failed(pod)
        if self._may_preempt(pod):
            message += " kube-scheduler would look for pods to preempt, which the embedded cluster does not."
        self._store.event("FailedScheduling", pod, message)
        if pod.nominated_node is not None or pod.unscheduled != UNSCHEDULABLE:
            since = pod.unscheduled_at if pod.unscheduled == UNSCHEDULABLE else self._store.clock.now()
            told = structs.replace(pod, nominated_node=None, unscheduled=UNSCHEDULABLE, unscheduled_at=since)
            self._store.put_pod(told)

    def _may_preempt(self, pod: Pod) -> bool:
        return pod.spec.preemption_policy != "Never" and any(
            other.spec.priority < pod.spec.priority and other.node_name is not None
            for other in self._store.pods.values()
        )

    def _best(self, model: SchedulerModel, placement: Placement, index: int) -> str | None:
        """The nominated node if it fits, else one of those that tie for the highest score, drawn by lot."""
        best = model.best_nodes(index, placement)
        if not best.size:
            return None
        nodes = model.columns.cluster.nodes
        drawn = nodes[int(best[self._random.integers(best.size)])].name
        if best.size > 1:
            self.ties[model.columns.cluster.pods[index].key] = tuple(nodes[node].name for node in best.tolist())
        return drawn


def _is_nominated(pod: Pod) -> bool:
    return pod.is_pending and pod.nominated_node is not None


def _gives_up_nomination(old: Pod, new: Pod | None) -> bool:
    if not _is_nominated(old):
        return False
    return new is None or (new.node_name is None and new.nominated_node != old.nominated_node)
