"""The checker's predicates beside the planner's filters: two implementations of the same rules must agree."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.checker.checker import check_plan
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import (
    LabelSelector,
    NodeAffinityRules,
    NodeSelectorTerm,
    PodAffinityTerm,
    Requirement,
    Toleration,
    TopologySpreadConstraint,
    Volume,
)
from rescheduler.model.objects.storage import (
    CsiDriver,
    CsiNode,
    CsiStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from rescheduler.model.objects.workload import Namespace
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import NOW, cluster, node, pod, taint
from tests.unit.checker.cases import anything_goes, move, place, plan, reference

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
KEYS = st.sampled_from([ZONE, HOST, "rack"])
OPERATORS = st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"])


def few(items: st.SearchStrategy[Any], most: int = 1) -> st.SearchStrategy[tuple[Any, ...]]:
    """Mostly none, sometimes some."""
    return st.one_of(st.just(()), st.just(()), st.lists(items, min_size=1, max_size=most).map(tuple))


def rules(keys: list[str], operators: st.SearchStrategy[str] = OPERATORS) -> st.SearchStrategy[Requirement]:
    """One rule of a selector; values only where the operator takes them."""
    drawn = st.builds(Requirement, st.sampled_from(keys), operators, st.sampled_from([("1",), ("1", "2"), ("x",)]))
    return drawn.map(lambda rule: rule if "xist" not in rule.operator else Requirement(rule.key, rule.operator))


SELECTORS = st.one_of(st.none(), st.lists(rules(["app", "rev"]), max_size=2).map(lambda r: LabelSelector(tuple(r))))
SPACES = st.one_of(
    st.none(),
    st.lists(rules(["team", "kubernetes.io/metadata.name"]), max_size=1).map(lambda r: LabelSelector(tuple(r))),
)
TERMS = st.builds(PodAffinityTerm, KEYS, SELECTORS, few(st.sampled_from(["default", "other"])), SPACES)
SPREADS = st.builds(
    TopologySpreadConstraint,
    KEYS,
    st.integers(1, 2),
    st.sampled_from(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
    SELECTORS,
    st.integers(1, 3),
    few(st.sampled_from(["rev", "none"])),
    st.booleans(),
    st.booleans(),
)
NODE_RULES = rules(["rack", "size"], st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]))
NODE_TERMS = st.builds(
    NodeSelectorTerm,
    few(NODE_RULES, 2),
    few(st.builds(Requirement, st.just("metadata.name"), st.sampled_from(["In", "NotIn"]), st.just(("n1",)))),
)
TOLERATIONS = st.builds(
    Toleration,
    st.sampled_from(["", "t", "node.kubernetes.io/unschedulable"]),
    st.sampled_from(["Exists", "Equal", ""]),
    st.sampled_from(["", "1"]),
    st.sampled_from(["", "NoSchedule", "NoExecute"]),
)
VOLUMES = st.one_of(
    st.sampled_from(["c0", "c1", "c2", "c3", "c9"]).map(lambda name: Volume("PersistentVolumeClaim", claim=name)),
    st.builds(
        Volume, st.sampled_from(["GCEPersistentDisk", "AWSElasticBlockStore"]), st.just(""), st.just("d"), st.booleans()
    ),
)
NODES = st.fixed_dictionaries(
    {
        "cpu": st.sampled_from(["2", "4"]),
        "pods": st.integers(1, 5),
        "zone": st.sampled_from([None, "a", "b"]),
        "labels": st.sampled_from([{}, {"rack": "1", "size": "1"}, {"rack": "2", "size": "x"}]),
        "taints": few(
            st.sampled_from([taint("t", "1"), taint("t", "", "NoExecute"), taint("t", "1", "PreferNoSchedule")])
        ),
        "is_unschedulable": st.sampled_from([False, False, False, True]),
        "is_ready": st.sampled_from([True, True, True, False]),
    }
)
PODS = st.fixed_dictionaries(
    {
        "cpu": st.sampled_from(["0", "1", "2"]),
        "namespace": st.sampled_from(["default", "other"]),
        "labels": st.sampled_from([{}, {"app": "1"}, {"app": "x", "rev": "1"}, {"app": "1", "rev": "2"}]),
        "affinity": few(TERMS, 2),
        "anti_affinity": few(TERMS, 2),
        "topology_spread": few(SPREADS, 2),
        "node_selector": few(st.just(("rack", "1"))),
        "node_affinity": st.one_of(st.none(), st.builds(NodeAffinityRules, st.one_of(st.none(), few(NODE_TERMS, 2)))),
        "tolerations": few(TOLERATIONS),
        "ports": st.sampled_from([(), (), (80,)]),
        "volumes": few(VOLUMES, 2),
    }
)
IN_A = (NodeSelectorTerm((Requirement(ZONE, "In", ("a",)),)),)


@st.composite
def storage(draw: st.DrawFn) -> dict[str, Any]:
    """Claims bound, unbound and exclusive, with their volumes, classes and drivers."""
    modes = st.sampled_from([("ReadWriteOnce",), ("ReadWriteOncePod",)])
    bound = {"is_bound": True, "phase": "Bound"}
    kinds = [
        StorageClass("made", "csi", True, draw(st.sampled_from([None, IN_A]))),
        StorageClass("static", "kubernetes.io/no-provisioner", True),
        StorageClass("now", "csi", False),
    ]
    claims = [
        PersistentVolumeClaim("default", "c0", volume_name="v0", access_modes=draw(modes), **bound),  # type: ignore[arg-type]
        PersistentVolumeClaim("default", "c1", volume_name="v1", is_terminating=draw(st.booleans()), **bound),  # type: ignore[arg-type]
        PersistentVolumeClaim(
            "default", "c2", storage_class=draw(st.sampled_from(["made", "static", "now", "none"])), requested_bytes=5,
            selected_node=draw(st.sampled_from([None, None, "n1"])),
        ),
        PersistentVolumeClaim("default", "c3", storage_class="made", requested_bytes=3),
    ]  # fmt: skip
    labels = draw(st.sampled_from([{}, {ZONE: "a"}, {ZONE: "b__c"}]))
    kept_for = draw(st.sampled_from([None, ("default", "c2", "")]))
    volumes = [
        PersistentVolume("v0", driver="csi", handle="h0", node_affinity=draw(st.sampled_from([None, IN_A]))),
        PersistentVolume("v1", driver="csi", handle="h1", labels=labels),
        PersistentVolume(
            "v2", storage_class=draw(st.sampled_from(["made", "static"])), capacity_bytes=draw(st.integers(4, 6)),
            node_affinity=draw(st.sampled_from([None, IN_A])), claim=kept_for,
        ),
    ]  # fmt: skip
    return {
        "claims": tuple(claims),
        "volumes": tuple(volumes),
        "storage_classes": tuple(kinds),
        "csi_nodes": (CsiNode("n1", (("csi", draw(st.sampled_from([None, 1, 2]))),)),),
        "csi_drivers": draw(st.sampled_from([(), (CsiDriver("csi", True),)])),
        "csi_capacities": draw(st.sampled_from([(), (CsiStorageCapacity("s", "c", "made", LabelSelector(), 4),)])),
        "attachments": draw(st.sampled_from([(), (VolumeAttachment("x", "csi", "n1", "v1"),)])),
    }


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """A small cluster with one pod to move and one to place."""
    nodes = [node(f"n{number}", **draw(NODES)) for number in range(1, draw(st.integers(2, 4)) + 1)]
    names = [item.name for item in nodes]
    running = [
        pod(
            f"run-{number}",
            node=draw(st.sampled_from(names)),
            deletion_at=draw(st.sampled_from([None, None, NOW])) if number else None,
            **draw(PODS),
        )
        for number in range(draw(st.integers(1, 5)))
    ]
    spaces = (Namespace("default"), Namespace("other", {"team": "1"}))
    return cluster(*nodes, *running, pod("new-0", **draw(PODS)), namespaces=spaces, **draw(storage()))


@settings(max_examples=200, deadline=None)
@given(clusters())
def test_checker_and_filters_agree_on_every_node(world: Cluster) -> None:
    """For a pending pod, and for a running one that moves: same nodes, whatever the rules in play."""
    model = SchedulerModel(columns_of(world))
    placement = Placement(model.columns)
    for index, subject in enumerate(world.pods):
        if subject.name not in ("new-0", "run-0"):
            continue
        feasible = model.feasible(index, placement)
        for number, target in enumerate(world.nodes):
            if target.name == subject.node_name:
                continue
            named = reference(subject.name, subject.namespace)
            step = (
                place(subject.name, target.name, pod=named)
                if subject.node_name is None
                else move(subject.name, subject.node_name, target.name, pod=named)
            )
            violations = check_plan(world, plan(step), anything_goes(world))
            assert (not violations) == bool(feasible[number]), (subject.name, target.name, violations)
