"""Pods that nobody should move: of custom controllers, with forged owners, of the cluster itself, not Ready."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import structs

from rescheduler.model.objects.pod import OwnerReference, Pod
from tests.soak.world.components import with_ready
from tests.soak.world.events.choosing import Choosing
from tests.soak.world.scenery import Shape, template_of, workloads_of

CUSTOM: Final = (
    ("kubeflow.org", "PyTorchJob"), ("apps.kruise.io", "CloneSet"), ("example.com", "ReplicaSet"),
    ("ray.io", "RayCluster"),
)  # fmt: skip
INVENTED_EVERY: Final = 4
SYSTEM: Final = ("kube-system", "kube-public", "kube-node-lease", "rescheduler-system")


class OddPods(Choosing):
    """As WorkloadEvents."""

    def _create(
        self, template: Pod, count: int, low: float, high: float, *, is_replaced: bool = False, **fields: object
    ) -> None:
        """Pods of one template, which are gone again after a while; until then others take their places, or none."""
        for number in range(count):
            name = f"{template.name}-y{number}"
            if is_replaced:
                self._replaced(template, name, fields)
            now = self._world.clock.now()
            pod = structs.replace(template, name=name, uid=f"{template.namespace}/{name}", created_at=now, **fields)
            self._world.store.put_pod(pod)
            self._later(low, high, lambda pod=pod: self._remove(pod))  # type: ignore[misc]

    def _replaced(self, template: Pod, name: str, fields: Mapping[str, object]) -> None:
        """Whenever the pod of this name is gone, a controller of whom the cluster knows nothing makes it anew."""
        ends_at = self._world.clock.monotonic() + 7200.0

        def look(old: Pod | None, new: Pod | None) -> None:
            is_gone = old is not None and new is None and (old.namespace, old.name) == (template.namespace, name)
            if is_gone and not self._is_over and self._world.clock.monotonic() < ends_at:
                self._world.clock.after(1.0, again, is_background=True)

        def again() -> None:
            if f"{template.namespace}/{name}" not in self._world.store.pods:
                self._number += 1
                uid = f"{template.namespace}/{name}-{self._number}"
                now = self._world.clock.now()
                self._world.store.put_pod(structs.replace(template, name=name, uid=uid, created_at=now, **fields))

        self._world.store.on_pod_change(look)

    def _remove(self, pod: Pod) -> None:
        now = self._world.store.same(pod)
        if now is not None:
            self._world.delete_pod(now.namespace, now.name)

    def _custom_owner_arrives(self) -> tuple[str, str]:
        """Its pods are made by somebody of whom the cluster does not know anything; some are made again, some not."""
        self._number += 1
        group, kind = self._random.choice(CUSTOM)
        shape = Shape(
            f"odd{self._number}", self._random.choice(["shop", "pay"]), kind, 3, self._random.choice((100, 250))
        )
        owner = OwnerReference(kind, shape.name, f"{kind}-{shape.key}", group=group)
        template = template_of(shape, owner, self._random)
        restart = self._random.choice(("Always", "Always", "OnFailure"))
        spec = structs.replace(template.spec, restart_policy=restart)
        is_replaced = self._random.random() < 0.5
        given = structs.replace(template, spec=spec)
        self._create(given, self._random.choice((2, 3, 5)), 1800, 14_400, is_replaced=is_replaced)
        return shape.key, f"{kind} of {group}, restartPolicy {restart}" + (", replaced" if is_replaced else "")

    def _forged_pods_arrive(self) -> tuple[str, str] | None:
        """Somebody who may create pods writes another's ReplicaSet into their references, or one that never was."""
        victim = self._direct()
        if victim is None:
            return None
        self._number += 1
        labels: Mapping[str, str] = self._world.templates[victim.uid].labels
        namespace = self._random.choice([name for name in ("shop", "pay", "search") if name != victim.namespace])
        if self._random.random() < 0.4:
            namespace, labels = victim.namespace, {"app": f"other{self._number}"}
        shape = Shape(f"forged{self._number}", namespace, "ReplicaSet", 2, 100)
        owner, told = OwnerReference(victim.kind, victim.name, victim.uid), victim.key
        if self._number % INVENTED_EVERY == 0:
            owner = OwnerReference("ReplicaSet", f"none{self._number}", f"none-{self._number}")
            told = f"{owner.written}, which is not there"
        template = template_of(shape, owner, self._random)
        self._create(template, self._random.choice((1, 2, 4)), 900, 7200, labels=dict(labels))
        return shape.key, f"as if of {told}"

    def _system_workload_arrives(self) -> tuple[str, str]:
        """Something that keeps the cluster alive."""
        self._number += 1
        shape = Shape(f"sys{self._number}", self._random.choice(SYSTEM), "Deployment", self._random.choice((2, 3)), 100)
        owners = workloads_of(shape)
        direct = OwnerReference(owners[0].kind, owners[0].name, owners[0].uid)
        owners = [structs.replace(owner, ready_replicas=0) for owner in owners]
        self._world.add_workload(owners, template_of(shape, direct, self._random))
        uid = owners[-1].uid
        self._later(3600, 14_400, lambda: uid in self._world.store.workloads and self._world.remove_workload(uid))
        return shape.key, f"Deployment of {shape.replicas}"

    def _pod_not_ready(self) -> tuple[str, str] | None:
        """Its readiness probe fails for a while."""
        pod = self._pod()
        if pod is None or not pod.is_ready:
            return None
        self._world.store.put_pod(with_ready(pod, 0.0, is_ready=False))
        seconds = self._later(20, 900, lambda: self._ready_again(pod))
        return pod.key, f"for {seconds:.0f} s"

    def _ready_again(self, pod: Pod) -> None:
        now = self._world.store.same(pod)
        node = None if now is None else self._world.store.nodes.get(now.node_name or "")
        if now is not None and node is not None and node.is_ready and not now.is_terminating and now.phase == "Running":
            self._world.store.put_pod(with_ready(now, self._world.clock.now(), is_ready=True))
