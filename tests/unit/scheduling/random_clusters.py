"""Random small clusters in which every rule has a chance to matter, and random half-way placements of their pods.

Drawn from a seed rather than by hypothesis piece by piece: a hundred times faster, so a hundred times more cases.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeVar

from hypothesis import strategies as st

from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import (
    HostPort,
    LabelSelector,
    NodeAffinityRules,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredNodeTerm,
    PreferredPodAffinityTerm,
    Requirement,
    Taint,
    Toleration,
    TopologySpreadConstraint,
)
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import Namespace, Service
from tests.builders import cluster, node, pod

ZONE = "topology.kubernetes.io/zone"
KEYS = ("kubernetes.io/hostname", ZONE, "rack")
NAMESPACES = ("default", "other")
EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")

T = TypeVar("T")


class Draw:
    """Random pieces of clusters from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.one = self.random.choice

    def chance(self, percent: int) -> bool:
        """True that often."""
        return self.random.randrange(100) < percent

    def some(self, make: Callable[[], T], most: int = 2, percent: int = 40) -> tuple[T, ...]:
        """A short tuple, most often empty."""
        return tuple(make() for _ in range(self.random.randint(1, most))) if self.chance(percent) else ()

    def labels(self) -> dict[str, str]:
        """Labels of a pod."""
        return {key: self.one("ab") for key in ("app", "tier") if self.chance(70)}

    def rule(self) -> Requirement:
        """A rule about pods."""
        operator = self.one(("In", "In", "In", "NotIn", "Exists", "DoesNotExist"))
        values = tuple({self.one("ab") for _ in range(2)}) if operator.endswith("In") else ()
        return Requirement(self.one(("app", "tier")), operator, values)

    def selector(self) -> LabelSelector | None:
        """A selector of pods, sometimes empty or absent."""
        return None if self.chance(10) else LabelSelector(self.some(self.rule, percent=85))

    def node_rule(self) -> Requirement:
        """A rule about node labels."""
        operator = self.one(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
        values = (self.one("123x"),) if operator not in ("Exists", "DoesNotExist") else ()
        return Requirement("rack" if values else self.one(KEYS), operator, values)

    def node_term(self) -> NodeSelectorTerm:
        """A term about nodes, sometimes empty."""
        return NodeSelectorTerm(
            self.some(self.node_rule, percent=80),
            self.some(lambda: Requirement("metadata.name", "NotIn", (self.one(("n0", "n1")),)), 1, 20),
        )

    def node_affinity(self) -> NodeAffinityRules | None:
        """Required and preferred node terms."""
        if self.chance(50):
            return None
        required = tuple(self.node_term() for _ in range(self.random.randint(0, 2))) if self.chance(40) else None
        wishes = self.some(lambda: PreferredNodeTerm(self.random.randint(1, 100), self.node_term()))
        return NodeAffinityRules(required, wishes)

    def term(self) -> PodAffinityTerm:
        """A term about pods."""
        everywhere = LabelSelector((Requirement("team", self.one(("NotIn", "Exists")), ("x",)),))
        return PodAffinityTerm(
            self.one(KEYS),
            self.selector(),
            self.some(lambda: self.one(NAMESPACES), 1, 30),
            self.one((None, None, LabelSelector(), everywhere)),
        )

    def wish(self) -> PreferredPodAffinityTerm:
        """A preferred term about pods."""
        return PreferredPodAffinityTerm(self.random.randint(1, 100), self.term())

    def constraint(self) -> TopologySpreadConstraint:
        """A spread constraint."""
        return TopologySpreadConstraint(
            topology_key=self.one(KEYS),
            max_skew=self.random.randint(1, 2),
            when_unsatisfiable=self.one(("DoNotSchedule", "ScheduleAnyway")),
            selector=self.selector(),
            min_domains=self.random.randint(1, 3),
            match_label_keys=self.some(lambda: "tier", 1),
            honors_node_affinity=self.chance(60),
            honors_node_taints=self.chance(40),
        )

    def toleration(self) -> Toleration:
        """A toleration."""
        operator = self.one(("Exists", "Equal", ""))
        return Toleration(self.one(("", "k")), operator, self.one(("", "v")), self.one(("", *EFFECTS)))

    def port(self) -> HostPort:
        """A host port."""
        return HostPort(self.one((80, 81)), self.one(("TCP", "UDP", "")), self.one(("", "0.0.0.0", "10.0.0.1", "::")))

    def node(self, name: str) -> Node:
        """A node that may lack labels, be tainted, cordoned or small."""
        return node(
            name,
            cpu=self.one(("2", "4")),
            pods=self.one((1, 3, 110)),
            labels={key: self.one("12x") for key in (ZONE, "rack") if self.chance(75)},
            taints=self.some(lambda: Taint("k", self.one(("", "v")), self.one(EFFECTS)), percent=30),
            extended=self.one(({}, {"example.com/gpu": "2"})),
            is_unschedulable=self.chance(10),
            images=self.some(lambda: (self.one(("a:latest", "b:1")), self.random.randint(10, 900) << 20)),
        )

    def pod(self, name: str, homes: tuple[str, ...]) -> Pod:
        """A pod on one of the nodes, or pending, with any mix of constraints."""
        home = self.one((None, *homes))
        return pod(
            name,
            cpu=self.one(("0", "500m", "1", "3")),
            memory=self.one(("0", "1Gi", "3Gi")),
            node=home,
            namespace=self.one(("default", "default", "other")),
            labels=self.labels(),
            extended=self.one(({}, {}, {"example.com/gpu": "1"})),
            node_selector=self.some(lambda: ("rack", self.one("12")), 1, 20),
            node_affinity=self.node_affinity(),
            tolerations=self.some(self.toleration),
            affinity=self.some(self.term, percent=25),
            anti_affinity=self.some(self.term, percent=35),
            preferred_affinity=self.some(self.wish),
            preferred_anti_affinity=self.some(self.wish),
            topology_spread=self.some(self.constraint, percent=50),
            host_ports=self.some(self.port, percent=25),
            images=self.some(lambda: self.one(("a", "b:1", "c"))),
            deletion_at=5.0 if home and self.chance(15) else None,
            held=(("cpu", 700), ("memory", 1 << 30)) if home and self.chance(15) else None,
        )

    def cluster(self) -> Cluster:
        """A cluster of up to five nodes and ten pods."""
        names = tuple(f"n{number}" for number in range(self.random.randint(1, 5)))
        return cluster(
            *(self.node(name) for name in names),
            *(self.pod(f"p{number}-0", names) for number in range(self.random.randint(1, 10))),
            namespaces=(Namespace("default", {"team": "x"}),) if self.chance(50) else (),
            services=(Service("default", "s", {"app": "a"}),) if self.chance(50) else (),
        )


def random_placement(seed: int) -> Placement:
    """A placement in which some pods have moved, some still leave, and some pending ones were assumed."""
    draw = Draw(seed)
    columns = columns_of(draw.cluster())
    placement = Placement(columns)
    for number in draw.random.sample(range(columns.pod_count), min(4, columns.pod_count)):
        target = draw.random.randrange(columns.node_count)
        if placement.node_of[number] == NOWHERE:
            placement.assume(number, target)
        elif placement.node_of[number] != target and placement.leaving[number] == NOWHERE:
            placement.move(number, target)
            if draw.chance(25):
                placement.settle()
    return placement


placements = st.integers(0, 2**63).map(random_placement)
