"""Nodes and pods as they stand, and what the comparison asks of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rescheduler.model.objects.resources import parse_quantity
from tests.cluster.api import Api, Manifest

RESOURCES = ("cpu", "memory", "pods")
NAMESPACE = "default"

Amounts = npt.NDArray[np.float64]


class StandingPod(NamedTuple):
    """One pod of the scene; amounts are float64[R] in the order of RESOURCES (cores, bytes, count)."""

    name: str
    uid: str
    owner: str
    """Uid of its controller."""
    node: str
    """Empty while it has none."""
    is_daemon: bool
    amounts: Amounts


@dataclass(frozen=True)
class State:
    """One look at the cluster."""

    capacity: dict[str, Amounts]
    """What each node offers, by its name."""
    pods: tuple[StandingPod, ...]

    @property
    def pending(self) -> tuple[StandingPod, ...]:
        """Pods without a node."""
        return tuple(pod for pod in self.pods if not pod.node)

    def movable_on(self, node: str) -> list[StandingPod]:
        """A node's pods but its DaemonSets'."""
        return [pod for pod in self.pods if pod.node == node and not pod.is_daemon]

    def daemons_on(self, node: str) -> list[StandingPod]:
        """The pods that stay with their node."""
        return [pod for pod in self.pods if pod.node == node and pod.is_daemon]

    def empty_nodes(self) -> set[str]:
        """Nodes on which only pods of DaemonSets run, or none."""
        return self.capacity.keys() - {pod.node for pod in self.pods if not pod.is_daemon}

    def asked(self, node: str) -> Amounts:
        """What a node's pods ask for together."""
        return total(pod.amounts for pod in self.pods if pod.node == node)

    def overload(self, mark: float) -> float:
        """What is asked for above this fraction of a node, summed over resources and nodes; 1.0 is a whole node."""
        return sum(
            float(np.maximum(self.asked(name) / offered - mark, 0).sum()) for name, offered in self.capacity.items()
        )


def read_state(api: Api) -> State:
    """Look at all nodes and the scene's pods; pods that are going or gone do not count."""
    capacity = {node["metadata"]["name"]: _offered(node) for node in api.list("nodes")}
    return State(capacity, tuple(map(_pod, _staying(api.list("pods", NAMESPACE)))))


def total(amounts: Iterable[Amounts]) -> Amounts:
    """The sum, zeros for nothing."""
    start: Amounts = np.zeros(len(RESOURCES))
    return sum(amounts, start)


def _staying(pods: Sequence[Manifest]) -> list[Manifest]:
    return [
        pod for pod in pods
        if "deletionTimestamp" not in pod["metadata"] and pod["status"].get("phase") in ("Pending", "Running")
    ]  # fmt: skip


def _offered(node: Manifest) -> Amounts:
    return np.array([float(parse_quantity(node["status"]["allocatable"][name])) for name in RESOURCES])


def _pod(pod: Manifest) -> StandingPod:
    metadata = pod["metadata"]
    owner: Manifest = next((one for one in metadata.get("ownerReferences", ()) if one.get("controller")), {})
    asked = [container["resources"].get("requests", {}) for container in pod["spec"]["containers"]]
    amounts = [sum(float(parse_quantity(one.get(name, "0"))) for one in asked) for name in RESOURCES[:-1]]
    return StandingPod(
        metadata["name"], metadata["uid"], owner.get("uid", ""), pod["spec"].get("nodeName", ""),
        owner.get("kind") == "DaemonSet", np.array([*amounts, 1.0]),
    )  # fmt: skip
