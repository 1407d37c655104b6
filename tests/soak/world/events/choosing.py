"""Who it happens to: the choices that all kinds of world events draw."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import Workload
from tests.soak.world.events.rollouts import Rollout
from tests.soak.world.world import World

TOPS = ("Deployment", "StatefulSet", "ReplicaSet")


class Choosing:
    """A world, the random numbers of its events, and whom to tell of them (kind, object, detail)."""

    def __init__(self, world: World, random: Random, tell: Callable[[str, str, str], None]) -> None:
        self._world = world
        self._random = random
        self._tell = tell
        self._number = 0
        self._rollouts: dict[str, Rollout] = {}
        self._is_over = False

    def _later(self, low: float, high: float, act: Callable[[], object]) -> float:
        seconds = self._random.uniform(low, high)
        self._world.clock.after(seconds, lambda: None if self._is_over else act(), is_background=True)
        return seconds

    def _top(self, *, is_deployment: bool = False) -> Workload | None:
        kinds = ("Deployment",) if is_deployment else TOPS
        found = [
            item for item in self._world.store.workloads.values()
            if item.kind in kinds and item.owner is None and not item.is_terminating
            and item.uid not in self._rollouting()
        ]  # fmt: skip
        return self._random.choice(found) if found else None

    def _rollouting(self) -> dict[str, Rollout]:
        self._rollouts = {uid: item for uid, item in self._rollouts.items() if not item.is_over}
        return self._rollouts

    def _direct(self) -> Workload | None:
        owners = [
            item for uid in self._world.templates
            if (item := self._world.store.workloads.get(uid)) is not None and item.desired_replicas
            and item.kind != "DaemonSet"
        ]  # fmt: skip
        return self._random.choice(owners) if owners else None

    def _pod(self, kind: str | None = None) -> Pod | None:
        pods = [
            pod for pod in self._world.store.pods.values()
            if pod.node_name and not pod.is_terminating and not pod.is_finished and pod.controller is not None
            and (kind is None or pod.controller.kind == kind) and pod.controller.kind != "DaemonSet"
        ]  # fmt: skip
        return self._random.choice(pods) if pods else None

    def _node(self, *, is_ready: bool = True) -> str | None:
        nodes = [node.name for node in self._world.store.nodes.values() if node.is_ready is is_ready]
        return self._random.choice(nodes) if len(nodes) > 2 or (nodes and not is_ready) else None
