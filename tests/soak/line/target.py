"""The cluster as a process under test reaches it: through its wire."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from rescheduler.adapters.kubernetes.client.failures import OutcomeUnknownError
from rescheduler.adapters.kubernetes.eviction import evictor
from rescheduler.adapters.simulated.simulated_cluster import as_read
from rescheduler.adapters.simulated.taints import SimulatedNodeTaints
from rescheduler.adapters.vicinity import NarrowReads, read_vicinity
from rescheduler.extension_points import (
    ClusterError,
    EvictionAnswer,
    ExecutionTarget,
    HoldRequest,
)
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.endpoints import ServiceEndpoints
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget, Workload
from rescheduler.model.plan.detachment import Detachment
from rescheduler.model.plan.plan import Move, PodReference
from rescheduler.model.plan.vicinity import Vicinity
from tests.soak.line.http_wire import BUDGET, HttpCall, HttpRequest, connection_of, status
from tests.soak.line.request import DETACH, GIVE_BACK
from tests.soak.line.wire import HttpAnswer, Struck, Wire
from tests.soak.trace import LookEvent, Request

T = TypeVar("T")


def written(answer: EvictionAnswer) -> HttpAnswer:
    """The answer of an API server that has decided so."""
    if answer.kind == "Accepted":
        return HttpAnswer(201, b'{"kind":"Status","status":"Success"}', meaning="Accepted")
    codes = {"Gone": 404, "Conflict": 409, "TwoBudgets": 500, "BudgetExhausted": 429, "BudgetNotObserved": 429}
    wait = "" if answer.retry_after_seconds is None else f"{answer.retry_after_seconds:.0f}"
    causes = [BUDGET] if answer.kind.startswith("Budget") else []
    code = codes.get(answer.kind, 403)
    return status(code, answer.message, meaning=answer.kind, causes=causes, retry_after=wait)


class ProcessTarget(ExecutionTarget, NarrowReads):
    """One process's connection to the cluster."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._taints = SimulatedNodeTaints(wire.world.store, wire.world.settings)
        self._connection = connection_of(wire, self._routed)

    def _call(self, site: str, verb: str, resource: str, act: Callable[[], T], **fields: Any) -> T:
        """Any call but an eviction: what goes wrong is a ClusterError, for a write maybe one of unknown outcome."""
        request = Request(0.0, 0, self._wire.name, verb, resource, **fields)
        try:
            return self._wire.call(site, request, act)
        except Struck as struck:
            if struck.is_known or not request.is_write:
                raise ClusterError(f"{struck.fault.kind} ({struck.fault.status})") from None
            raise OutcomeUnknownError(f"{struck.fault.kind}", is_timeout="timeout" in struck.fault.kind) from None

    def _read(self, site: str, request: Request, truth: Callable[[], T], views: dict[str, Callable[[float], Any]]) -> T:
        """A read that may be shown something else than the truth."""
        wire = self._wire
        holder: list[float] = []

        def look() -> T:
            kind, seconds = request.fault, wire.random.uniform(1.0, 600.0)
            if kind in views:
                when, shown = views[kind](seconds)
                holder.append(when)
                return shown  # type: ignore[no-any-return]
            if kind == "one after the other":
                return self._one_after_the_other()  # type: ignore[return-value]
            if kind == "expired list":
                raise ClusterError("the list expired between two pages (410 Gone)")
            return truth()

        try:
            return wire.call(site, request, look, holder)
        except Struck as struck:
            raise ClusterError(f"{struck.fault.kind} ({struck.fault.status})") from None

    def read(self) -> Cluster:
        """A snapshot; ``taken_at`` is the API server's time, as a reader takes it from the answer."""
        past, now = self._wire.past, self._wire.clock.now
        request = Request(0.0, 0, self._wire.name, "list", "cluster")
        return self._read(
            "read", request, lambda: as_read(replace(self._wire.world.store.snapshot(), taken_at=now())),
            {"stale": lambda ago: past.stale(ago, now()),
             "mixed": lambda ago: past.mixed(ago, now(), self._wire.random)},
        )  # fmt: skip

    def _one_after_the_other(self) -> Cluster:
        """A snapshot whose lists were read in turn, while the world went on; it says when the last one came."""
        wire = self._wire
        kinds = ["nodes", "pods", "workloads", "budgets"]
        wire.random.shuffle(kinds)
        shown = {}
        for kind in kinds:
            shown[kind] = getattr(wire.world.store.snapshot(), kind)
            wire.clock.sleep(wire.random.uniform(0.1, 4.0))
            wire.check()
        return as_read(replace(wire.world.store.snapshot(), **shown, taken_at=wire.clock.now()))

    def read_pod(self, namespace: str, name: str) -> Pod | None:
        """One pod."""
        key = f"{namespace}/{name}"
        request = Request(0.0, 0, self._wire.name, "get", "pods", namespace, name)
        return self._read(
            "get pod", request, lambda: self._wire.world.read_pod(namespace, name),
            {"stale": lambda ago: self._wire.past.pod(key, ago)},
        )  # fmt: skip

    def read_pods(self, namespace: str, selector: LabelSelector | None) -> Sequence[Pod]:
        """Pods of a namespace."""
        request = Request(0.0, 0, self._wire.name, "list", "pods", namespace, body=selector)
        return self._read("list pods", request, lambda: self._wire.world.read_pods(namespace, selector), {})

    def pods_on(self, node: str) -> Sequence[Pod]:
        """Pods of a node."""
        return self._look("list", "pods", lambda: self._wire.world.pods_on(node), body=node)

    def budgets_in(self, namespace: str) -> Sequence[DisruptionBudget]:
        """PodDisruptionBudgets of a namespace."""
        kind = "poddisruptionbudgets"
        return self._look("list", kind, lambda: self._wire.world.budgets_in(namespace), namespace=namespace)

    def read_node(self, name: str) -> Node | None:
        """One node."""
        return self._look("get", "nodes", lambda: self._wire.world.read_node(name), name=name)

    def read_workload(self, known: Workload) -> Workload | None:
        """One owner."""
        return self._look("get", "workloads", lambda: self._wire.world.read_workload(known), name=known.key)

    def read_vicinity(self, move: Move, cluster: Cluster) -> Vicinity:
        """All of these that one move depends on; any of them may fail."""
        asked_at = self._wire.clock.monotonic()
        found = read_vicinity(self, move, cluster)
        self._wire.trace.tell(LookEvent(self._wire.clock.monotonic(), self._wire.name, asked_at, move, found))
        return found

    def _look(self, verb: str, resource: str, act: Callable[[], T], **fields: Any) -> T:
        return self._call("look", verb, resource, act, **fields)

    def evict(self, pod: PodReference, resource_version: str, *, dry_run: bool) -> EvictionAnswer:
        """An eviction by the product's own adapter; the API server, or the network, answers in bytes."""
        return evictor.evict(self._connection, pod, resource_version, dry_run=dry_run)

    def _routed(self, asked: HttpRequest) -> HttpCall:
        """The call that a POST of an eviction is."""
        namespace, name = asked.path.split("/")[4], asked.path.split("/")[6]
        preconditions = asked.body["deleteOptions"]["preconditions"]
        uid, version = preconditions.get("uid", ""), preconditions.get("resourceVersion", "")
        dry_run = asked.params.get("dryRun") == "All"
        request = Request(0.0, 0, self._wire.name, "create", "pods/eviction", namespace, name, uid, version, dry_run)
        standing = self._wire.world.store.pods.get(f"{namespace}/{name}")
        request.is_last_step = not dry_run and standing is not None and SURGE in standing.annotations

        def act() -> HttpAnswer:
            reference = PodReference(namespace, name, uid)
            return written(self._wire.world.evict_now(reference, version, dry_run=dry_run))

        return HttpCall("dry run" if dry_run else "evict", request, act)

    def hold(self, requests: Sequence[HoldRequest]) -> None:
        """Placeholders; a fault may strike half-way."""
        self._many("hold", "create", "jobs", self._wire.world.hold, requests)

    def release(self, names: Sequence[str]) -> None:
        """Placeholders away."""
        self._many("release", "delete", "jobs", self._wire.world.release, names)

    def taint(self, nodes: Sequence[str], plan_id: str, deadline_seconds: int) -> None:
        """Taints on."""
        self._many("taint", "patch", "nodes", lambda some: self._taints.put(some, plan_id, deadline_seconds), nodes)

    def untaint(self, nodes: Sequence[str]) -> None:
        """Taints off."""
        self._many("untaint", "patch", "nodes", self._taints.take_off, nodes)

    def _many(self, site: str, verb: str, resource: str, act: Callable[[Sequence[Any]], None], items: Any) -> None:
        request = Request(0.0, 0, self._wire.name, verb, resource, body=tuple(items))

        def do() -> bool:
            is_half = request.fault == "half done"
            act(tuple(items)[: len(items) // 2] if is_half else items)
            return is_half

        try:
            if self._wire.call(site, request, do):
                raise ClusterError("half of it was done")
        except Struck as struck:
            if struck.is_known:
                raise ClusterError(struck.fault.kind) from None
            raise OutcomeUnknownError(struck.fault.kind) from None

    def renew(self, requests: Sequence[HoldRequest]) -> Sequence[str]:
        """Placeholders for longer."""
        return self._call("renew", "patch", "jobs", lambda: self._wire.world.renew(requests), body=tuple(requests))

    def can_hold(self) -> str | None:
        """Whether there can be placeholders."""
        return self._call("can hold", "get", "resources", self._wire.world.can_hold)

    def nominate(self, pod: PodReference, node: str) -> bool:
        """Lead a pod to a node."""
        return self._call(
            "nominate", "patch", "pods/status", lambda: self._wire.world.nominate(pod, node), namespace=pod.namespace,
            name=pod.name, uid=pod.uid, body=node,
        )  # fmt: skip

    def withdraw_nomination(self, pod: PodReference, node: str) -> bool:
        """Take a nomination off."""
        return self._call(
            "withdraw nomination", "patch", "pods/status", lambda: self._wire.world.withdraw_nomination(pod, node),
            namespace=pod.namespace, name=pod.name, uid=pod.uid, body="",
        )  # fmt: skip

    def can_gate(self) -> str | None:
        """Whether pods can be gated."""
        return self._call("can gate", "get", "resources", self._wire.world.can_gate)

    def gate_replacements(self, owners: Sequence[str], plan_id: str, deadline_seconds: int) -> None:
        """Gate new pods of these owners."""
        world = self._wire.world
        self._call(
            "gate", "update", "configmaps", lambda: world.gate_replacements(owners, plan_id, deadline_seconds),
            body=tuple(owners),
        )  # fmt: skip

    def ungate(self, pod: PodReference) -> bool:
        """Take our gate off."""
        return self._call(
            "ungate", "patch", "pods", lambda: self._wire.world.ungate(pod), namespace=pod.namespace, name=pod.name,
            uid=pod.uid,
        )  # fmt: skip

    def can_surge(self) -> str | None:
        """Whether pods can be taken out."""
        return self._call("can gate", "get", "resources", self._wire.world.can_surge)

    def detach(self, pod: PodReference, resource_version: str, detachment: Detachment) -> bool:
        """A pod out of its ReplicaSet."""
        world = self._wire.world
        return self._call(
            "detach", "patch", "pods", lambda: world.detach(pod, resource_version, detachment), namespace=pod.namespace,
            name=pod.name, uid=pod.uid, resource_version=resource_version, body=DETACH,
        )  # fmt: skip

    def give_back(self, pod: PodReference) -> bool:
        """And back."""
        return self._call(
            "give back", "patch", "pods", lambda: self._wire.world.give_back(pod), namespace=pod.namespace,
            name=pod.name, uid=pod.uid, body=GIVE_BACK,
        )  # fmt: skip

    def read_endpoints(self, namespace: str) -> Sequence[ServiceEndpoints]:
        """Who answers for Services."""
        return self._look("list", "endpointslices", lambda: self._wire.world.read_endpoints(namespace))

    def can_taint(self) -> str | None:
        """Whether nodes can be tainted."""
        return self._call("can taint", "get", "resources", self._wire.world.can_taint)

    def leftovers(self) -> Sequence[str]:
        """Placeholders that stand."""
        return self._call("leftovers", "list", "jobs", self._wire.world.leftovers)

    def record(self, pod: PodReference, reason: str, message: str) -> None:
        """An Event; it never fails, since nobody waits for it."""
        with suppress(ClusterError):
            self._call(
                "event", "create", "events", lambda: self._wire.world.record(pod, reason, message),
                namespace=pod.namespace, name=pod.name, uid=pod.uid, body=(reason, message),
            )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        """Whatever else the product may ask of a target is answered by the world, without faults."""
        self._wire.check()
        return getattr(self._wire.world, name)
