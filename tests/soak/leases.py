"""Several processes that want to lead, each by the product's own election and lease, over a wire that fails them."""

from __future__ import annotations

from random import Random
from typing import Final

from rescheduler.adapters.kubernetes.leases import KubernetesLease
from rescheduler.daemon.leadership.leadership import Leadership
from rescheduler.policy.fields.daemon.leader_election import LeaderElectionPolicy
from tests.soak.clock import ProcessClock, Thread, WorldClock
from tests.soak.line.faults import Faults
from tests.soak.line.http_wire import HttpCall, HttpRequest, connection_of
from tests.soak.line.views import Past
from tests.soak.line.wire import Wire
from tests.soak.scenes import one_by_one
from tests.soak.trace import Request, Trace
from tests.soak.world.scenery import BEGAN, Scenery
from tests.soak.world.truth import Truth
from tests.soak.world.versioned_object import VersionedObject
from tests.soak.world.world import World

NAMESPACE: Final = "rescheduler-system"
NAME: Final = "rescheduler"
COLLECTION: Final = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
LOOK_SECONDS: Final = 0.05
RULES: Final = LeaderElectionPolicy()


class Election:
    """``most``: how many led at one moment at worst; ``leaders``: who led, one after the other."""

    def __init__(self, seed: int, processes: int, rate: float, *, kills: float = 0.0) -> None:
        self.most = 0
        self.leaders: list[str] = []
        self.lease = VersionedObject(COLLECTION, NAME)
        self.clock = WorldClock(BEGAN)
        self.faults = Faults(Random(f"leases/{seed}"), self.clock.monotonic, rate, 2.0 if rate else 0.0, deadly=0.2)
        self._random = Random(f"elections/{seed}")
        self._world = World(Scenery(one_by_one(), [], {}), self.clock, Random(1), 1)
        self._past = Past(self._world)
        self._trace = Trace(Truth(self._world.store, self.lease, None))
        self._kills = kills
        self._living: list[tuple[Wire, Leadership]] = []
        self._made = 0
        for _ in range(processes):
            self._start()
        self._look()

    def live(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.sleep(seconds)

    @property
    def leading(self) -> list[str]:
        """Who believes right now that it leads."""
        return [leadership.identity for wire, leadership in self._living if not wire.is_dead and leadership.is_leader]

    def _start(self) -> None:
        self._made += 1
        name = f"p{self._made}"
        wire = Wire(name, self._world, self._past, self.faults, self._random, self._trace)
        clock = ProcessClock(self.clock, lambda: wire.is_dead, self._random.uniform(-1e6, 1e6))
        store = KubernetesLease(
            connection_of(wire, lambda asked: self._routed(name, asked)), NAMESPACE, NAME,
            timeout_seconds=RULES.renew_deadline,
        )  # fmt: skip
        leadership = Leadership(store, RULES, clock, name)
        wire.on_death = lambda: self.clock.after(self._random.uniform(1.0, 30.0), self._start, is_background=True)
        self._living.append((wire, leadership))

        def run() -> None:
            while True:
                clock.sleep(leadership.step())

        Thread(self.clock, run, lambda _: None)

    def _routed(self, process: str, asked: HttpRequest) -> HttpCall:
        is_read = asked.method == "GET"
        request = Request(0.0, 0, process, "get" if is_read else "update", "leases")
        return HttpCall("ledger read" if is_read else "ledger write", request, lambda: self.lease.answer(asked))

    def _look(self) -> None:
        """Whoever leads at this very moment; somebody else deletes the lease, or a process dies, once in a while."""
        self._living = [(wire, leadership) for wire, leadership in self._living if not wire.is_dead]
        leading = self.leading
        self.most = max(self.most, len(leading))
        if len(leading) == 1 and self.leaders[-1:] != leading:
            self.leaders += leading
        if self.faults.is_on and self._random.random() < self._kills * LOOK_SECONDS / 3600.0:
            self.lease.remove()
        self.clock.after(LOOK_SECONDS, self._look, is_background=True)
