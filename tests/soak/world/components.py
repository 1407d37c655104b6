"""Kubelets, owners and scheduler of the simulated world, which fail in the ways that real ones do."""

from __future__ import annotations

from typing import ClassVar

from msgspec import structs

from rescheduler.adapters.simulated.components.kubelet import Kubelet
from rescheduler.adapters.simulated.components.owners import OwnerControllers
from rescheduler.adapters.simulated.components.scheduler import SimulatedScheduler
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import Workload
from tests.soak.world.conditions import CRASHES, NO_IMAGE, Conditions

FAILED_POD_STAYS_SECONDS = 60.0
RETRY_SECONDS = 20.0
CRASH_CYCLE = (20.0, 40.0, 80.0, 160.0, 300.0)


def with_ready(pod: Pod, now: float, *, is_ready: bool) -> Pod:
    """The pod as Ready since now, or as not Ready."""
    since = (pod.ready_at or now) if is_ready else None
    return structs.replace(pod, is_ready=is_ready, ready_at=since)


class WorldKubelet(Kubelet):
    """Kubelets that stand still while their node is down, refuse pods, and restart those that crash."""

    @property
    def _conditions(self) -> Conditions:
        return self._settings.conditions  # type: ignore[attr-defined,no-any-return]

    def _take_over(self, pod: Pod) -> None:
        if pod.node_name in self._conditions.refusing and not pod.is_terminating and pod.phase == "Pending":
            refused = self._conditions.refusals.get(pod.node_name, 0)
            self._conditions.refusals[pod.node_name] = refused + 1
            # Nothing in Kubernetes slows this loop down; here the world's budget of time does.
            self._store.clock.after(min(60.0, 0.5 * 2.0 ** min(refused, 10)), lambda: self._refuse(pod))
        else:
            super()._take_over(pod)

    def _refuse(self, pod: Pod) -> None:
        now = self._store.same(pod)
        if now is not None and not now.is_terminating:
            self._store.put_pod(structs.replace(now, phase="Failed", is_ready=False, ready_at=None, trouble="OutOfcpu"))
            self._store.event("OutOfcpu", now, "the kubelet refuses the pod")
            self._store.clock.after(FAILED_POD_STAYS_SECONDS, lambda: self._forget(pod), is_background=True)

    def _forget(self, pod: Pod) -> None:
        if self._store.same(pod) is not None:
            self._store.remove_pod(pod.key)

    def _is_down(self, pod: Pod) -> bool:
        node = self._store.nodes.get(pod.node_name or "")
        return node is not None and not node.is_ready

    def _start(self, pod: Pod, *, is_ready: bool) -> None:
        if self._is_down(pod):
            self._store.clock.after(RETRY_SECONDS, lambda: self._start(pod, is_ready=is_ready), is_background=True)
        elif self._conditions.illness_of(pod) == NO_IMAGE:
            now = self._store.same(pod)
            if now is not None and not now.is_terminating and not now.is_finished:
                self._store.put_pod(structs.replace(now, trouble="ErrImagePull"))
        else:
            super()._start(pod, is_ready=is_ready)
            if self._conditions.illness_of(pod) == CRASHES:
                self._crash_later(pod, 0)

    def _crash_later(self, pod: Pod, number: int) -> None:
        seconds = CRASH_CYCLE[min(number, len(CRASH_CYCLE) - 1)]

        def crash() -> None:
            if self._set_ready(pod, is_ready=False, restarted=True):
                self._store.clock.after(seconds, come_back, is_background=True)

        def come_back() -> None:
            if self._set_ready(pod, is_ready=True):
                self._crash_later(pod, number + 1)

        self._store.clock.after(15.0, crash, is_background=True)

    def _set_ready(self, pod: Pod, *, is_ready: bool, restarted: bool = False) -> bool:
        now = self._store.same(pod)
        if now is None or now.is_terminating or now.is_finished:
            return False
        up = is_ready and not self._is_down(now)
        trouble = "" if is_ready or not restarted else "CrashLoopBackOff"
        changed = with_ready(now, self._store.clock.now(), is_ready=up)
        restarts = now.restart_count + restarted
        self._store.put_pod(structs.replace(changed, restart_count=restarts, trouble=trouble))
        return True

    def _end(self, pod: Pod) -> None:
        if self._is_down(pod) and self._store.same(pod) is not None:
            self._store.clock.after(RETRY_SECONDS, lambda: self._end(pod), is_background=True)
        else:
            super()._end(pod)

    def recover(self, node: str) -> None:
        """A node is up again: its pods answer their probes."""
        for pod in [pod for pod in self._store.pods.values() if pod.node_name == node]:
            if pod.phase == "Running" and self._settings.startup_of(pod) is not None:
                self._set_ready(pod, is_ready=True)


class WorldOwners(OwnerControllers):
    """Controllers whose new pods may be refused, and that scale. ``templates``: a pod for each direct owner's uid."""

    templates: ClassVar[dict[str, Pod]] = {}
    delete: Kubelet

    @property
    def _conditions(self) -> Conditions:
        return self._settings.conditions  # type: ignore[attr-defined,no-any-return]

    def _replace(self, pod: Pod) -> None:
        owner = self._store.owner_of(pod)
        if owner is not None and owner.uid in self._conditions.blocked and not owner.is_terminating:
            self._store.event("FailedCreate", pod, f"{owner.key}: exceeded quota")
            self._tell_failure(owner, "FailedCreate")
            self._store.clock.after(RETRY_SECONDS, lambda: self._replace(pod), is_background=True)
        elif owner is None or owner.kind != "DaemonSet" or pod.node_name in self._store.nodes:
            super()._replace(pod)
            if owner is not None and owner.failure:
                self._tell_failure(owner, "")

    def _tell_failure(self, owner: Workload, failure: str) -> None:
        """Set or end the condition ReplicaFailure, on the owner and on the Deployment above it."""
        above = "" if owner.owner is None else owner.owner.uid
        for uid in (owner.uid, above):
            found = self._store.workloads.get(uid)
            if found is not None and found.failure != failure:
                self._store.put_workload(structs.replace(found, failure=failure))

    def reconcile(self, owner: Workload, template: Pod, kubelet: Kubelet) -> None:
        """Make or delete pods until there are as many as a direct owner wants."""
        if owner.is_terminating:
            return
        pods = [pod for pod in self._store.members(owner.uid) if not pod.is_terminating and not pod.is_finished]
        wanted = owner.desired_replicas or 0
        is_set = owner.kind == "StatefulSet"
        for pod in _leaving(pods, len(pods) - wanted, is_set=is_set):
            kubelet.delete(pod)
        if owner.uid in self._conditions.blocked:
            if wanted > len(pods):
                self._tell_failure(owner, "FailedCreate")
            return
        if owner.failure:
            self._tell_failure(owner, "")
        for _ in range(wanted - len(pods)):
            name = self._next_ordinal(owner, wanted) if is_set else f"{owner.name}-{self._identity.suffix()}"
            if name is not None:
                self._store.put_pod(self._copy(template, name, owner))

    def _next_ordinal(self, owner: Workload, wanted: int) -> str | None:
        names = (f"{owner.name}-{number}" for number in range(wanted))
        return next((name for name in names if f"{owner.namespace}/{name}" not in self._store.pods), None)


def _leaving(pods: list[Pod], number: int, *, is_set: bool) -> list[Pod]:
    """Pods that a scale-down takes: the highest ordinals, or those of least use first, then the youngest."""
    if number <= 0:
        return []
    if is_set:
        return sorted(pods, key=lambda pod: -int(pod.name.rpartition("-")[2]))[:number]
    return sorted(pods, key=lambda pod: (pod.node_name is not None, pod.is_ready, -(pod.created_at or 0.0)))[:number]


class WorldScheduler(SimulatedScheduler):
    """A scheduler that may pause, pass pods over, or choose the worst of the nodes that will do."""

    @property
    def _conditions(self) -> Conditions:
        return self._settings.conditions  # type: ignore[attr-defined,no-any-return]

    def _is_mine(self, pod: Pod) -> bool:
        is_stuck = pod.controller is not None and pod.controller.uid in self._conditions.stuck
        return not is_stuck and super()._is_mine(pod)

    def _run(self) -> None:
        if self._conditions.scheduler == "paused":
            self._store.clock.after(RETRY_SECONDS / 4, self._run, is_background=True)
        else:
            super()._run()

    def look_again(self) -> None:
        """Pods that were passed over are looked at again."""
        for pod in self._store.pods.values():
            if self._is_mine(pod) and not self._queue.holds(pod):
                self._queue.add(pod)

    def _best(self, model, placement, index):  # type: ignore[no-untyped-def]
        if self._conditions.scheduler != "worst":
            return super()._best(model, placement, index)
        totals = model.totals(index, placement)
        feasible = [(int(total), number) for number, total in enumerate(totals) if total >= 0]
        return model.columns.cluster.nodes[min(feasible)[1]].name if feasible else None
