"""Rollouts of Deployments: pods of a new revision replace the old ones, or stall, or are rolled back."""

from __future__ import annotations

from msgspec import structs

from tests.soak.world.world import World

STEP_SECONDS = 5.0
LONGEST_SECONDS = 3600.0


class Rollout:
    """One rollout of a Deployment, with a quarter of its pods as surge and a quarter as unavailable."""

    def __init__(self, world: World, uid: str, target: str) -> None:
        """``target``: uid of the ReplicaSet that is to have all pods in the end."""
        self.is_over = False
        self._world = world
        self._uid = uid
        self._target = target
        self._ends_at = world.clock.monotonic() + LONGEST_SECONDS
        deployment = world.store.workloads[uid]
        started = structs.replace(deployment, generation=deployment.generation + 1, updated_replicas=0)
        world.store.put_workload(started)
        world.clock.after(0.5, self._observe)

    def _observe(self) -> None:
        deployment = self._world.store.workloads.get(self._uid)
        if deployment is not None:
            observed = structs.replace(deployment, observed_generation=deployment.generation)
            self._world.store.put_workload(observed)
            self._step()

    def turn_to(self, target: str) -> None:
        """Another revision is to win: the rollout is rolled back."""
        self._target = target

    def _step(self) -> None:
        store, world = self._world.store, self._world
        deployment = store.workloads.get(self._uid)
        if deployment is None or deployment.is_terminating or self._target not in store.workloads:
            self.is_over = True
            return
        wanted = deployment.desired_replicas or 0
        share = -(-wanted // 4)
        children = world.children(self._uid)
        ready = sum(child.ready_replicas or 0 for child in children)
        others = [child for child in children if child.uid != self._target and child.desired_replicas]
        new = store.workloads[self._target].desired_replicas or 0
        room = max(0, wanted + share - sum(child.desired_replicas or 0 for child in others))
        world.set_direct(self._target, max(min(wanted, room), min(new, wanted)))
        spare = max(0, ready - max(0, wanted - max(1, wanted // 4)))
        for child in others:
            now = store.workloads[child.uid]
            unready = max(0, (now.desired_replicas or 0) - (now.ready_replicas or 0))
            less = min(now.desired_replicas or 0, unready + spare)
            spare -= max(0, less - unready)
            world.set_direct(child.uid, (now.desired_replicas or 0) - less)
        self._tell_status()
        self.is_over = (
            not any(store.workloads[child.uid].desired_replicas for child in others)
            and (store.workloads[self._target].ready_replicas or 0) >= wanted
        )
        if not self.is_over and world.clock.monotonic() < self._ends_at:
            world.clock.after(STEP_SECONDS, self._step)
        else:
            self.is_over = True

    def _tell_status(self) -> None:
        store = self._world.store
        deployment, target = store.workloads[self._uid], store.workloads[self._target]
        total = sum(child.desired_replicas or 0 for child in self._world.children(self._uid))
        updated = min(target.desired_replicas or 0, deployment.desired_replicas or 0)
        store.put_workload(structs.replace(deployment, updated_replicas=updated, current_replicas=total))
