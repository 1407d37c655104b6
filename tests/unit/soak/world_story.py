"""The world in which traces are written by hand, and what happens in it by other hands than ours."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Self

from msgspec import structs

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.adapters.simulated.object_store import ObjectStore
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from tests.builders import NOW, pod
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.history import History
from tests.soak.trace import (
    NodeChanged,
    PodChanged,
    PolicyEvent,
    ProcessEvent,
    Trace,
    WorldEvent,
)
from tests.soak.world.truth import Truth
from tests.unit.soak.scenes import a_policy, a_world


class WorldStory:
    """A small world, one checker, and what others do to both."""

    def __init__(self, checker: Callable[[History], Checker], world: Cluster | None = None, policy: str = "") -> None:
        self.clock = SimulatedClock(NOW)
        self.store = ObjectStore(world or a_world(), self.clock)
        self.truth = Truth(self.store, None, SimpleNamespace(has_proof=True, is_measured=True))
        self.history = History()
        self.checker = checker(self.history)
        self.trace = Trace(self.truth, [self.history, self.checker])  # type: ignore[list-item]
        self.ledger = Ledger(plan=1)
        self.version = 0
        self.store.on_pod_change(lambda old, new: self.trace.tell(PodChanged(self.t, old, new)))
        for name in ("p0", "p1"):
            self.trace.tell(PolicyEvent(0.0, name, a_policy(policy)))
        self.start("p0")

    @property
    def t(self) -> float:
        """Now."""
        return self.clock.monotonic()

    @property
    def found(self) -> list[str]:
        """Messages of violations so far."""
        assert {item.invariant for item in self.trace.violations} <= {self.checker.name}
        return [item.message for item in self.trace.violations]

    @property
    def guard(self) -> int:
        """How often the checker had something to check."""
        return self.checker.guards[self.checker.name]

    def end(self) -> list[str]:
        """The run is over."""
        self.trace.end()
        return self.found

    def sleep(self, seconds: float) -> Self:
        """Time passes."""
        self.clock.sleep(seconds)
        return self

    def pod(self, name: str) -> Pod:
        """As it stands."""
        return self.store.pods[f"default/{name}"]

    # What others do.

    def happen(self, kind: str, name: str = "", detail: str = "") -> Self:
        """Something happens in the world."""
        self.trace.tell(WorldEvent(self.t, kind, name, detail))
        return self

    def process(self, kind: str, process: str = "p0", detail: str = "") -> Self:
        """Something happens to a process."""
        self.trace.tell(ProcessEvent(self.t, process, kind, detail))
        return self

    def start(self, process: str) -> Self:
        """A process begins to live."""
        return self.process("start", process)

    def node(self, name: str, **fields: Any) -> Self:
        """A node changes; it goes if ``gone`` is given."""
        old = self.store.nodes.get(name)
        if fields.pop("gone", False):
            self.store.remove_node(name)
            self.trace.tell(NodeChanged(self.t, old, None))
            return self
        new = structs.replace(old, **fields) if old is not None else Node(name=name, **fields)
        self.store.put_node(new)
        self.trace.tell(NodeChanged(self.t, old, new))
        return self

    def set_pod(self, name: str, **fields: Any) -> Self:
        """A pod changes."""
        self.store.put_pod(structs.replace(self.pod(name), **fields))
        return self

    def come(self, name: str, node: str | None, *, owner: str = "web", **fields: Any) -> Self:
        """A new pod comes, ready if it has a node."""
        made = pod(name, node=node, owner=owner, created_at=self.clock.now(), **fields)
        self.store.put_pod(structs.replace(made, uid=f"{made.uid}-{self.t}"))
        return self

    def go(self, name: str) -> Self:
        """A pod is gone."""
        self.store.remove_pod(f"default/{name}")
        return self

    def scale(self, name: str, replicas: int) -> Self:
        """Somebody wants another number of replicas."""
        found = self.store.workloads[f"uid-default-{name}"]
        self.store.put_workload(structs.replace(found, desired_replicas=replicas, updated_replicas=replicas))
        return self.happen("scale", name)
