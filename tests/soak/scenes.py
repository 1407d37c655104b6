"""Fault-free runs over clusters that are known to be improvable, for what must also work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from msgspec import structs

from rescheduler.adapters.simulated.scenarios import Application, ClusterDraft
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Plan
from tests.soak.invariants.catalogue import observers
from tests.soak.line.faults import Faults
from tests.soak.run import Run
from tests.soak.run_settings import RunSettings
from tests.soak.trace import Effect, Event, PlanEvent, Violation
from tests.soak.world.scenery import BEGAN, Scenery
from tests.soak.world.truth import Truth

CAREFUL = """\
apiVersion: rescheduler/v1alpha1
kind: ReschedulerPolicy
metadata: {{name: liveness}}
mode: Execute
objectives:
- name: MakeRoom
{objectives}
scope: {{namespaces: {{exclude: [kube-system]}}, minimumAge: 10m}}
limits: {{deadline: 10s}}
disruption:
  rampUp: unlimited
  unsettled: {unsettled}
  budgets:
  - {{name: at once, maxMoving: 10, rate: {{maxEvictions: 20, window: 1h}}}}
  - {{name: a day, rate: {{maxEvictions: 100, window: 24h}}}}
  - {{name: workload, per: Workload, rate: {{maxEvictions: 2, window: 1h}}}}
  - {{name: node, per: Node, maxMoving: 2}}
  - {{name: namespace, per: Namespace, maxMoving: 5}}
health: {{headRoom: {head_room}}}
guidance: {guidance}
"""


class Diary:
    """What a liveness test asks about afterwards: when pods were evicted, and the plans that were made."""

    interests = (Effect, PlanEvent)

    def __init__(self) -> None:
        self.guards: dict[str, int] = {}
        self.evicted: list[tuple[float, str]] = []
        self.plans: list[tuple[float, Plan]] = []

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Note it."""
        if isinstance(event, Effect) and event.request.is_eviction:
            self.evicted.append((event.t, f"{event.request.namespace}/{event.request.name}"))
        elif isinstance(event, PlanEvent):
            self.plans.append((event.t, event.plan))
        return ()

    def at_end(self, truth: Truth) -> Sequence[Violation]:
        """Nothing to judge."""
        return ()


class Scene:
    """A run of one daemon with the real planner over a given cluster, in which time is let pass by hand."""

    def __init__(
        self, cluster: Cluster, *, objectives: str = "", guidance: str = "Hold", round_seconds: float = 300.0,
        head_room: str = "5%", unsettled: str = "Deny",
        faults: Callable[[Callable[[], float]], Faults] | None = None, seed: int = 1,
    ) -> None:  # fmt: skip
        settings = RunSettings(
            seed=seed, planner="real", world_pace=0.0, large_pods=0.0, share_ill=0.0, fault_rate=0.0,
            episodes=0.0, kills=0.0,
            policy=CAREFUL.format(
                objectives=objectives, guidance=guidance, head_room=head_room, unsettled=unsettled
            ),
            round_seconds=round_seconds,
        )  # fmt: skip
        self.diary = Diary()
        moved = _at(cluster, BEGAN)
        templates = {uid: pod for pod in moved.pods for uid in [_owner(pod)] if uid}
        self.run = Run(settings, [self.diary, *observers()], scenery=Scenery(moved, [], templates), faults=faults)
        self.world = self.run.world

    def passes(self, hours: float) -> None:
        """So much time goes by; nothing may be violated in it."""
        until = self.run.clock.monotonic() + 3600.0 * hours
        self.run.live_until(until)
        assert not self.run.trace.violations, self.run.trace.violations[0]

    def pending(self) -> list[str]:
        """Pods that wait for a node, placeholders left out."""
        return [pod.key for pod in self.world.store.pods.values() if pod.is_pending and not pod.scheduling_gates]

    def close(self) -> None:
        """No process is left."""
        for process in self.run.processes:
            process.retire()
            process.kill()


def one_by_one(nodes: int = 5) -> Cluster:
    """A pending pod that one eviction helps, whichever node it is from; and so again for the next few like it.

    Each node of 4 cores holds a single replica of 1.7 cores that stays, and a replica of 1 core that may leave; the
    pending pod asks for 1.5 cores, and 1.3 are free everywhere.
    """
    draft = ClusterDraft(np.random.default_rng(0))
    web, big = Application("web", 1000, 1), Application("big", 1500, 1)
    for number in range(nodes):
        name = f"node-{number}"
        draft.add_node(name, 4000, f"z{number % 2}")
        draft.put(Application(f"db-{number}", 1700, 1), name)
        draft.put(web, name)
    draft.put(big, None)
    return draft.build("one by one")


def _owner(pod: Pod) -> str:
    return "" if pod.controller is None else pod.controller.uid


def _at(cluster: Cluster, when: float) -> Cluster:
    """The cluster as if it had been taken at another time."""
    shift = when - cluster.taken_at

    def moved(item: Any) -> Any:
        names = ("created_at", "started_at", "scheduled_at", "ready_at")
        later = {name: getattr(item, name) + shift for name in names if getattr(item, name, None) is not None}
        return structs.replace(item, **later)

    return replace(cluster, nodes=tuple(map(moved, cluster.nodes)), pods=tuple(map(moved, cluster.pods)), taken_at=when)
