"""What people and autoscalers do to workloads: scaling, rollouts, new ones, old ones."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.objects.resources import CPU
from rescheduler.model.objects.workload import Workload
from tests.soak.world.conditions import ILLNESSES
from tests.soak.world.events.choosing import Choosing
from tests.soak.world.events.rollouts import Rollout
from tests.soak.world.scenery import (
    NODE_MILLICORES,
    Shape,
    template_of,
    workloads_of,
)


class WorkloadEvents(Choosing):
    """Each method lets one event happen, and says to what, and how; None: there is nothing that it can happen to."""

    def _scale(self, change: Callable[[int], int]) -> tuple[str, str] | None:
        top = self._top()
        if top is None:
            return None
        number = change(top.desired_replicas or 0)
        self._world.scale(top.uid, number)
        return top.key, f"{top.desired_replicas} -> {number}"

    def _scale_up(self) -> tuple[str, str] | None:
        return self._scale(lambda now: min(20, now + self._random.randint(1, 3)))

    def _scale_down(self) -> tuple[str, str] | None:
        return self._scale(lambda now: max(1, now - self._random.randint(1, 3)))

    def _scale_to_zero(self) -> tuple[str, str] | None:
        return self._scale(lambda _: 0)

    def _rollout(self, illness: str = "") -> tuple[str, str] | None:
        top = self._top(is_deployment=True)
        if top is None or not self._world.children(top.uid):
            return None
        self._number += 1
        child = self._world.add_revision(top, 100 + self._number)
        if illness:
            self._world.conditions.illness[child.uid] = illness
        rollout = self._rollouts[top.uid] = Rollout(self._world, top.uid, child.uid)
        if illness:
            self._later(120, 2400, lambda: self._turn_back(top, rollout))
        return top.key, illness or child.name

    def _stalled_rollout(self) -> tuple[str, str] | None:
        return self._rollout(self._random.choice(ILLNESSES))

    def _turn_back(self, top: Workload, rollout: Rollout) -> None:
        children = self._world.children(top.uid)
        if children and not rollout.is_over:
            rollout.turn_to(children[0].uid)
            self._tell("roll back", top.key, "of a stalled rollout")

    def _roll_back(self) -> tuple[str, str] | None:
        for uid, rollout in self._rollouting().items():
            rollout.turn_to(self._world.children(uid)[0].uid)
            return uid, ""
        return None

    def _arrives(self, kind: str, replicas: int, sizes: tuple[int, ...] = (250, 500, 1000, 2000)) -> tuple[str, str]:
        self._number += 1
        namespace = self._random.choice(["shop", "pay", "search"])
        shape = Shape(f"new{self._number}", namespace, kind, replicas, self._random.choice(sizes))
        owners = workloads_of(shape)
        direct = OwnerReference(owners[0].kind, owners[0].name, owners[0].uid)
        owners = [structs.replace(owner, ready_replicas=0) for owner in owners]
        self._world.add_workload(owners, template_of(shape, direct, self._random))
        return shape.key, f"{kind} of {replicas}"

    def _pod_arrives(self) -> tuple[str, str]:
        return self._arrives("Deployment", self._random.choice([1, 2, 3]))

    def _large_pod_arrives(self) -> tuple[str, str]:
        """One that fits nowhere unless others make room; it ends after a while, and makes way for the next."""
        free = dict.fromkeys(self._world.store.nodes, NODE_MILLICORES)
        for pod in self._world.store.pods.values():
            if pod.node_name in free and not pod.is_finished:
                free[pod.node_name] -= dict(pod.spec.requests).get(CPU, 0)
        most = max(free.values(), default=0)
        name, detail = self._arrives("Deployment", 1, (most + 100, most + 300, most + 600))
        uid = f"Deployment-{name}"
        self._later(1800, 7200, lambda: uid in self._world.store.workloads and self._world.remove_workload(uid))
        return name, detail

    def _job_arrives(self) -> tuple[str, str]:
        return self._arrives("Job", self._random.choice([1, 1, 2, 4]))

    def _huge_labels(self) -> tuple[str, str] | None:
        """A tenant writes what nobody else needs on a pod of his: 60 kB that cannot be compressed away."""
        pod = self._pod()
        if pod is None:
            return None
        labels = {f"tenant/{number}": f"{self._random.getrandbits(240):060x}" for number in range(800)}
        self._world.store.put_pod(structs.replace(pod, labels={**pod.labels, **labels}))
        return pod.key, ""

    def _one_out(self) -> Pod | None:
        """A pod that was taken out of its ReplicaSet."""
        pods = [pod for pod in self._world.store.pods.values() if SURGE in pod.annotations and not pod.is_terminating]
        return self._random.choice(pods) if pods else None

    def _owner_of_one_out_scaled(self) -> tuple[str, str] | None:
        pod = self._one_out()
        owner = None if pod is None else self._world.store.workloads.get(pod.owners[0].uid)
        top = owner if owner is None or owner.owner is None else self._world.store.workloads.get(owner.owner.uid)
        if top is None or top.is_terminating or top.uid in self._rollouting():
            return None
        number = max(0, (top.desired_replicas or 0) + self._random.choice((-1, 1)))
        self._world.scale(top.uid, number)
        return top.key, f"{top.desired_replicas} -> {number}"

    def _one_out_labelled(self) -> tuple[str, str] | None:
        """A user writes a label of his own."""
        pod = self._one_out()
        if pod is None:
            return None
        self._number += 1
        self._world.store.put_pod(structs.replace(pod, labels={**pod.labels, "user/note": f"{self._number}"}))
        return pod.key, f"{self._number}"

    def _one_out_deleted(self) -> tuple[str, str] | None:
        pod = self._one_out()
        if pod is None:
            return None
        self._world.delete_pod(pod.namespace, pod.name)
        return pod.key, ""

    def _job_pod_ends(self) -> tuple[str, str] | None:
        pod = self._pod("Job")
        if pod is None:
            return None
        self._world.finish(pod)
        return pod.key, ""

    def _workload_goes(self) -> tuple[str, str] | None:
        top = self._top()
        if top is None:
            return None
        self._world.remove_workload(top.uid)
        return top.key, ""

    def _namespace_deleted(self) -> tuple[str, str]:
        namespace = self._random.choice(["pay", "search"])
        for item in list(self._world.store.workloads.values()):
            if item.namespace == namespace and item.owner is None and not item.is_terminating:
                self._world.remove_workload(item.uid)
        for key in [key for key in self._world.store.budgets if key.startswith(f"{namespace}/")]:
            self._world.remove_budget(key)
        return namespace, ""
