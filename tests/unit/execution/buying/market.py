"""A plan that needs machines, and a market that makes them when a test wants it to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import structs

from rescheduler.extension_points import ClusterError, MachineMarket
from rescheduler.model.daemon.capacity import AskedMachine, CapacityRequest
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.plan.plan import Plan
from rescheduler.model.plan.what_if import AddedNode, NodeReplacement, WhatIf
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.execution.worlds import plan_of

TYPE, POOL = "node.kubernetes.io/instance-type", "karpenter.sh/nodepool"
LABELS = {TYPE: "small", "karpenter.sh/capacity-type": "spot", POOL: "web"}
ROOM = {"cpu": "3900m", "memory": "4086Mi", "pods": "109"}


def machine(name: str = "added-1", **fields: Any) -> AddedNode:
    """As a plan names it."""
    given = {"instance_type": "small", "capacity_type": "spot", "node_pool": "web", "price": 10.0, **fields}
    return AddedNode(name, ROOM, **given)


def came(name: str, **fields: Any) -> Node:
    """A node that was made for one."""
    made = node(name, "3900m", "4086Mi", pods=109, labels={**LABELS, **fields.pop("labels", {})}, **fields)
    return structs.replace(made, created_at=NOW + 5)


def world(*more: Any) -> Cluster:
    """Two pods on a node that is too large for them."""
    pods = [pod(f"web-{number}", "1", node="a") for number in range(2)]
    return cluster(node("a", "32", "64Gi", labels={TYPE: "big", POOL: "web"}), *pods, workload("web", 2), *more)


def buying_plan(start: Cluster, *machines: AddedNode) -> Plan:
    """One that moves the first pod to the first machine, and so on; by default both to one."""
    machines = machines or (machine(),)
    moves = [(f"web-{number}", machines[min(number, len(machines) - 1)].name, 1) for number in range(2)]
    question = WhatIf(("a",), machines, replacement=NodeReplacement(100.0, 10.0, 10.0))
    return structs.replace(plan_of(start, moves, objective="EmptyNodes"), what_if=question)


class FakeMarket(MachineMarket):
    """``places``: where the pods that ask stand now, by number; ``failures``: what to raise next, by call."""

    def __init__(self) -> None:
        self.requests: list[CapacityRequest] = []
        self.places: dict[int, str] = {}
        self.gone: set[int] = set()
        self.others: list[str] = []
        self.failures: dict[str, list[BaseException]] = {}
        self.renewed: list[int] = []
        self.is_alive = True
        self.stands = False
        self.number = 0
        self.withdrawals = 0
        self.problem: str | None = None
        self.on_look: Callable[[], None] = lambda: None

    def cannot(self) -> str | None:
        """Whatever the test says."""
        return self.problem

    def of_others(self) -> Sequence[str]:
        """Those that the test says; each look takes one away where there are several."""
        self._fail("of_others")
        return self.others if len(self.others) < 2 else [self.others.pop()]

    def ask(self, request: CapacityRequest, number: int | None = None) -> None:
        """Remember it; a second one has the first's shapes in front."""
        if self.requests:
            assert request.shapes[: self.number] == self.requests.pop().shapes[: self.number]
        self.requests.append(request)
        self.number = len(request.shapes) if number is None else number
        self.stands = True
        self._fail("ask")

    def renew(self, seconds: int) -> bool:
        """Remember for how long."""
        self._fail("renew")
        self.renewed.append(seconds)
        return self.is_alive

    def asked(self) -> Sequence[AskedMachine]:
        """As far as the test has let them come."""
        self._fail("asked")
        self.on_look()
        return [AskedMachine(number not in self.gone, self.places.get(number)) for number in range(self.number)]

    def withdraw(self) -> None:
        """Nothing stands any more."""
        self.withdrawals += 1
        self._fail("withdraw")
        self.stands = False

    def _fail(self, call: str) -> None:
        if self.failures.get(call):
            raise self.failures[call].pop(0)


def down(times: int = 1) -> list[BaseException]:
    """So many failures of the cluster."""
    return [ClusterError("the server is down") for _ in range(times)]
