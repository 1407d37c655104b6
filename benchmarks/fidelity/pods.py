"""Random pods with any mix of constraints, to be placed by any of the profiles."""

from __future__ import annotations

from benchmarks.fidelity import terms
from benchmarks.fidelity.containers import containers
from benchmarks.fidelity.draw import Draw, Manifest
from benchmarks.fidelity.nodes import EFFECTS

PRIORITIES = {"fidelity-low": 10, "fidelity-high": 1000}
"""Classes whose pods never preempt others; a pod without a class has priority 0."""
GATE = "example.com/not-yet"


def pod(draw: Draw, name: str, nodes: list[str], *, scheduler: str, home: str | None = None) -> Manifest:
    """A pod bound to ``home``, or pending behind a gate."""
    spec: Manifest = {**containers(draw), "schedulerName": scheduler, "terminationGracePeriodSeconds": 1000}
    spec |= {"nodeName": home} if home else {"schedulingGates": [{"name": GATE}]}
    affinity = {
        "nodeAffinity": terms.node_affinity(draw, nodes),
        "podAffinity": terms.pod_affinity(draw, 12),
        "podAntiAffinity": terms.pod_affinity(draw, 25),
    }
    spec["affinity"] = {name: found for name, found in affinity.items() if found}
    spec["tolerations"] = draw.some(lambda: toleration(draw), 3, 70)
    spec["topologySpreadConstraints"] = terms.spread_constraints(draw)
    if draw.seldom(10):
        spec["nodeSelector"] = {terms.RACK: draw.one("123")}
    if draw.chance(20):
        spec["priorityClassName"] = draw.one(tuple(PRIORITIES))
    metadata = {"name": name, "namespace": draw.one(terms.NAMESPACES), "labels": terms.pod_labels(draw)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def toleration(draw: Draw) -> Manifest:
    """A toleration, of the forms that the API allows."""
    key = draw.one(("", "k", "k", "m"))
    operator = draw.one(("Exists", "Equal", "")) if key else "Exists"
    found = {"key": key, "operator": operator, "effect": draw.one(("", *EFFECTS))}
    if operator != "Exists":
        found["value"] = draw.one(("", "v"))
    return {name: value for name, value in found.items() if value}


def priority_classes() -> list[Manifest]:
    """The classes, as objects."""
    head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "preemptionPolicy": "Never"}
    return [{**head, "metadata": {"name": name}, "value": value} for name, value in PRIORITIES.items()]
