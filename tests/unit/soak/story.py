"""Traces written by hand: a small world, one process that does everything right, and means to let it do wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace as with_fields
from typing import Any

from msgspec import structs

from rescheduler.model.daemon.ledger import Breaker, EntryState, Ledger, LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, Plan, PodReference, Refusal, SnapshotSummary
from rescheduler.model.plan.vicinity import Vicinity
from tests.soak.trace import (
    Answer,
    Effect,
    GateEvent,
    LedgerWrite,
    LookEvent,
    PlanEvent,
    Request,
)
from tests.unit.soak.world_story import WorldStory


class Story(WorldStory):
    """A trace in the making. Every step takes a hundredth of a second; processes do all that is asked of them."""

    def ask(self, verb: str, resource: str, process: str = "p0", **fields: Any) -> Request:
        """A request is sent."""
        self.sleep(0.01)
        request = Request(self.t, 0, process, verb, resource, **{"plan": self.ledger.plan, **fields})
        self.trace.tell(request)
        return request

    def read(self, process: str = "p0", *, as_of: float | None = None, shown: Cluster | None = None) -> Story:
        """The cluster is read."""
        request = self.ask("list", "cluster", process)
        self.answer(request, "ok", shown or self.store.snapshot(), as_of)
        return self

    def look(self, name: str, process: str = "p0") -> Story:
        """A pod is read."""
        request = self.ask("get", "pods", process, namespace="default", name=name)
        self.answer(request, "ok", self.store.pods.get(f"default/{name}"))
        return self

    def answer(self, request: Request, kind: str, shown: Any = None, as_of: float | None = None) -> Story:
        """A request is answered."""
        request.answer, request.answered_at = kind, self.t
        self.trace.tell(Answer(self.t, request, shown, self.t if as_of is None else as_of))
        return self

    def plan(self, name: str, process: str = "p0", **fields: Any) -> Story:
        """A plan of one move is in hand."""
        given = Plan(SnapshotSummary(None, 0, 0, 0, "test"), moves=(self.move(name, "n0"),))
        self.trace.tell(PlanEvent(self.t, process, fields.get("planner", "real"), given, self.store.snapshot()))
        return self

    def move(self, name: str, to: str, **fields: Any) -> Move:
        """A move of a pod that is there."""
        found = self.store.pods.get(f"default/{name}")
        uid, origin = ("", "") if found is None else (found.uid, found.node_name or "")
        return Move(PodReference("default", name, uid), origin, to, 1, "MakeRoom", "because", **fields)

    def around(self, name: str, to: str, process: str = "p0", *, seconds: float = 0.01) -> Story:
        """What a move depends on is read; that takes ``seconds``."""
        move, shown, began = self.move(name, to), self.store.snapshot(), self.t
        pod = shown.pod_by_key.get(move.pod.key)
        counted = (item for item in shown.pods if item.node_name == to or (pod and item.controller == pod.controller))
        nodes = tuple(node for node in shown.nodes if node.name in (move.from_node, to))
        budgets = tuple(item for item in shown.budgets if item.namespace == "default")
        self.sleep(seconds)
        self.trace.tell(LookEvent(self.t, process, began, move, Vicinity(tuple(counted), budgets, nodes)))
        return self

    def gate(self, name: str, to: str, process: str = "p0", **fields: Any) -> Story:
        """The gate lets a pod go."""
        return self.gates([self.move(name, to, **fields)], process)

    def gates(self, moves: Sequence[Move], process: str = "p0", *, shown: Cluster | None = None) -> Story:
        """The gate lets several pods go together."""
        return self._verdicts(moves, tuple(Permit(move, "1") for move in moves), process, shown)

    def refuse(self, name: str, to: str, process: str = "p0") -> Story:
        """The gate refuses a pod."""
        move = self.move(name, to)
        return self._verdicts([move], (Refusal("Stop", "stays", pod=move.pod),), process, None)

    def _verdicts(
        self, moves: Sequence[Move], said: tuple[Permit | Refusal, ...], process: str, shown: Cluster | None
    ) -> Story:
        cluster = shown or self.store.snapshot()
        self.trace.tell(GateEvent(self.t, process, tuple(moves), said, cluster, self.ledger))
        return self

    def write(self, ledger: Ledger, process: str = "p0") -> Story:
        """The ledger is written."""
        self.version += 1
        self.ledger = ledger
        self.trace.tell(LedgerWrite(self.t, process, str(self.version - 1), str(self.version), True, ledger))
        return self

    def breaker(self, **fields: Any) -> Story:
        """The breaker is written."""
        return self.write(structs.replace(self.ledger, breaker=Breaker(**fields)))

    def intend(self, name: str, to: str, process: str = "p0", **fields: Any) -> Story:
        """The intent is written."""
        move = self.move(name, to)
        values = {"plan": self.ledger.plan, "objective": "MakeRoom", "reason": "because", **fields}
        number = len(self.ledger.entries) + 1
        entry = LedgerEntry(
            number=number, pod=move.pod, from_node=move.from_node, to_node=to, at=self.clock.now(), **values
        )
        return self.write(structs.replace(self.ledger, entries=(*self.ledger.entries, entry)), process)

    def close(self, name: str, state: EntryState) -> Story:
        """An entry is closed."""
        entries = [
            structs.replace(entry, state=state) if entry.pod.name == name else entry for entry in self.ledger.entries
        ]
        return self.write(structs.replace(self.ledger, entries=tuple(entries)))

    def send(
        self,
        name: str,
        to: str = "n3",
        process: str = "p0",
        *,
        without: Collection[str] = (),
        effect: str = "now",
        answer: str | None = "Accepted",
        **fields: Any,
    ) -> Request:
        """An eviction with all that goes before it, but for what is left out: read, gate, look, intent, audit."""
        steps: dict[str, Callable[[], object]] = {
            "read": lambda: self.read(process),
            "plan": lambda: self.plan(name, process),
            "look": lambda: self.look(name, process),
            "around": lambda: self.around(name, to, process),
            "gate": lambda: self.gate(name, to, process),
            "intent": lambda: self.intend(name, to, process),
            "audit": lambda: self.ask("append", "audit", process, body=(f"default/{name}",)),
        }
        for step, do in steps.items():
            if step not in without:
                do()
        found = self.store.pods.get(f"default/{name}")
        given = {"uid": found.uid if found else "", "resource_version": found.resource_version if found else ""}
        request = self.ask(
            "create", "pods/eviction", process, namespace="default", name=name,
            **{**given, **fields},
        )  # fmt: skip
        if effect == "now":
            self.take_effect(request)
        if answer is not None:
            self.sleep(0.01).answer(request, answer)
        return request

    def take_effect(self, request: Request) -> Story:
        """An eviction takes place."""
        before = self.store.pods[f"{request.namespace}/{request.name}"]
        uid = self.truth.workload_of(before)
        ready, desired = self.truth.ready(uid), self.truth.desired(uid)
        self.store.put_pod(structs.replace(before, deletion_at=self.clock.now() + 30))
        request.effect, request.effect_at = "now", self.t
        self.trace.tell(Effect(self.t, request, before, uid, ready, desired))
        return self

    def repay(self, name: str, to: str = "n3", new: str = "") -> Story:
        """The pod goes, a new one comes, and works for a while."""
        self.go(name).come(new or f"{name}-new", to).sleep(31).read()
        return self

    def show(self, **fields: Any) -> Cluster:
        """The cluster as it is, but for these fields."""
        return with_fields(self.store.snapshot(), **fields)
