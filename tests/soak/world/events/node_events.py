"""What happens to nodes, and what others than us do to the pods on them."""

from __future__ import annotations

from msgspec import structs

from rescheduler.model.objects.constraints import Taint
from tests.soak.world.events.choosing import Choosing
from tests.soak.world.scenery import (
    ZONE,
    new_node,
)
from tests.soak.world.world import DELETED_SOON

DEDICATED = Taint("dedicated", "others", "NoSchedule")


class NodeEvents(Choosing):
    """As WorkloadEvents."""

    def _node_added(self) -> tuple[str, str]:
        self._number += 1
        zones = sorted({node.labels.get(ZONE, "z0") for node in self._world.store.nodes.values()}) or ["z0"]
        name = f"new-node-{self._number}"
        self._world.add_node(new_node(name, self._random.choice(zones), self._world.clock.now()))
        return name, ""

    def _node_drained_and_removed(self) -> tuple[str, str] | None:
        name = self._node()
        if name is None:
            return None
        self._world.mark_for_removal(name)
        self._later(5, 40, lambda: self._drain(name))
        self._later(60, 240, lambda: self._vanish(name))
        return name, DELETED_SOON

    def _drain(self, name: str) -> None:
        for pod in [pod for pod in self._world.store.pods.values() if pod.node_name == name]:
            if not pod.belongs_to_its_node:
                self._world.evict_by_others(pod)

    def _vanish(self, name: str) -> None:
        if name in self._world.store.nodes:
            self._world.vanish(name)
            self._tell("node removed unmarked", name, "at the end of a drain")

    def _node_removed_unmarked(self) -> tuple[str, str] | None:
        name = self._node()
        if name is not None:
            self._world.vanish(name)
        return None if name is None else (name, "")

    def _node_down(self, low: float = 60, high: float = 1800) -> tuple[str, str] | None:
        name = self._node()
        if name is None:
            return None
        self._world.take_down(name)
        seconds = self._later(low, high, lambda: self._world.bring_up(name))
        return name, f"for {seconds:.0f} s"

    def _node_flaps(self) -> tuple[str, str] | None:
        return self._node_down(5, 45)

    def _zone_down(self) -> tuple[str, str] | None:
        zone = self._random.choice(["z0", "z1", "z2"])
        names = [node.name for node in self._world.store.nodes.values() if node.labels.get(ZONE) == zone]
        for name in names:
            self._world.take_down(name)
            self._later(120, 2400, lambda name=name: self._world.bring_up(name))
        return (zone, f"{len(names)} nodes") if names else None

    def _foreign_eviction(self) -> tuple[str, str] | None:
        pod = self._pod()
        return None if pod is None else (pod.key, self._world.evict_by_others(pod))

    def _foreign_deletion(self) -> tuple[str, str] | None:
        pod = self._pod()
        if pod is not None:
            self._world.delete_pod(pod.namespace, pod.name)
        return None if pod is None else (pod.key, "")

    def _foreign_drain(self) -> tuple[str, str] | None:
        name = self._node()
        if name is None:
            return None
        node = self._world.store.nodes[name]
        self._world.put(structs.replace(node, is_unschedulable=True))
        self._drain(name)
        self._later(300, 1800, lambda: self._uncordon(name))
        return name, "by a person"

    def _uncordon(self, name: str) -> None:
        node = self._world.store.nodes.get(name)
        if node is not None:
            self._world.put(structs.replace(node, is_unschedulable=False))

    def _node_dedicated(self) -> tuple[str, str] | None:
        """Kept for pods that tolerate it, as only a DaemonSet's do; what runs there stays."""
        name = self._node()
        if name is None:
            return None
        node = self._world.store.nodes[name]
        if DEDICATED not in node.taints:
            self._world.put(structs.replace(node, taints=(*node.taints, DEDICATED)))
        seconds = self._later(300, 3600, lambda: self._give_back(name))
        return name, f"for {seconds:.0f} s"

    def _give_back(self, name: str) -> None:
        node = self._world.store.nodes.get(name)
        if node is not None and DEDICATED in node.taints:
            self._world.put(structs.replace(node, taints=tuple(item for item in node.taints if item != DEDICATED)))
