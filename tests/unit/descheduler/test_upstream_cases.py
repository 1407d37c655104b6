"""The scenarios of descheduler's own tests, read as data where they are at hand: the same victims."""

from __future__ import annotations

import json
import lzma
import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.descheduler.cycle import CycleLimits
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.measured_use import MeasuredUse, QueryAnswer
from tests.paths import ROOT
from tests.unit.descheduler.walking import walk

VARIABLE = "RESCHEDULER_DATA"
FILE = Path(os.environ.get(VARIABLE, ROOT.parent / "shared" / "data")) / "descheduler" / "cases.json.xz"
needs_cases = pytest.mark.skipif(
    not FILE.is_file(), reason=f"no upstream scenarios: {VARIABLE} names none, and none lie beside the project"
)
NOW = "2026-11-21T08:08:52Z"
"""When the scenarios were recorded, on which their ages rest."""
BOUNDS: Final = ("PerNode", "PerNamespace", "Total")
CANNOT_BE_WRITTEN: Final = {
    "its pods are terminating, which a zero time says there and nothing in a file": (
        "1_pod_in_termination;_nothing_should_be_moved",
        "no_pod_evicted_since_pod_term",
        "2_pods_in_termination;_nothing_should_be_moved",
    ),
    "a label of its nodes has no value, which the record leaves out": (
        "TestRemoveDuplicatesUniformly/Evict_pods_uniformly_respecting_RequiredDuringScheduling",
    ),
    "the fake client lets a pod of two owners be evicted twice": (
        "TestRemoveDuplicatesUniformly/Evict_pods_uniformly_with_two_replica_sets",
    ),
    "a pod without creationTimestamp, which no API server serves": ("TestCombinedFilters/failed_pod_removal_compat",),
    "upstream's own validation refuses evictableNamespaces.include": ("included_namespace",),
}


EACH_USES: Final = {"different_evictions_for_requested_and_actual_resources": 801}
"""The record lacks the samples of a metrics source: pods use what they request, and in this one so much each."""
HIGHEST_SAMPLE: Final = {"PrometheusClientNilAtCreation": ("n1", 0.57)}


@cache
def scenarios() -> list[dict[str, Any]]:
    """All of them; none where the file is not at hand."""
    return json.loads(lzma.open(FILE).read()) if FILE.is_file() else []


def why_not(case: dict[str, Any]) -> str | None:
    """Why a scenario cannot be written as a file; None: it can."""
    arguments = case.get("args") or {}
    if (arguments.get("evictableNamespaces") or {}).get("include"):
        return "upstream's own validation refuses evictableNamespaces.include"
    for reason, parts in CANNOT_BE_WRITTEN.items():
        if any(part in case["test"] for part in parts):
            return reason
    return None


def recording(case: dict[str, Any], folder: Path) -> str:
    """A scenario's world as a file, completed by what an API server would have filled in."""
    items = json.loads(json.dumps([*case["world"]["nodes"], *case["world"].get("pods", [])]))
    for item in items:
        for owner in item["metadata"].get("ownerReferences", []):
            owner.setdefault("name", "nameless")
            owner.setdefault("controller", True)
    if len(case["world"]["nodes"]) < 2:  # a cycle needs two nodes, which a plugin called by itself does not
        offers = {"cpu": "1", "memory": "1", "pods": "1"}
        spare = {"metadata": {"name": "zz-spare"}, "spec": {"unschedulable": True}, "status": {"allocatable": offers}}
        items.append({"apiVersion": "v1", "kind": "Node", **spare})
    marks = {"annotations": {"rescheduler.dev/takenAt": NOW}}
    path = folder / "world.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "metadata": marks, "items": items}))
    return str(path)


def sampled(cluster: Cluster, case: dict[str, Any]) -> Cluster:
    """With samples in place of those that the record lacks."""
    metrics = (case.get("args") or {}).get("metricsUtilization")
    if metrics is None:
        return cluster
    pods = {
        pod.key: {name: amount for name, amount in pod.spec.requests if name in (CPU, MEMORY)} for pod in cluster.pods
    }
    for amount in (amount for part, amount in EACH_USES.items() if part in case["test"]):
        pods = {key: {CPU: amount} for key in pods}
    nodes = {
        node.name: {
            name: sum(pods[pod.key].get(name, 0) for pod in cluster.pods_by_node.get(node.name, ()))
            for name in (CPU, MEMORY)
        }
        for node in cluster.nodes
    }
    shares = {node.name: min(1.0, nodes[node.name][CPU] / dict(node.allocatable)[CPU]) for node in cluster.nodes}
    shares |= dict(sample for part, sample in HIGHEST_SAMPLE.items() if part in case["test"])
    query = metrics.get("prometheus", {}).get("query", "")
    return replace(cluster, measured=MeasuredUse(nodes, pods, {query: QueryAnswer(shares)}))


@needs_cases
def test_every_scenario_that_a_file_can_express_has_upstreams_victims(tmp_path: Path) -> None:
    """Counts in all of them, names where upstream's are the same in each run."""
    different = []
    compared = 0
    for case in scenarios():
        if why_not(case) is not None:
            continue
        compared += 1
        arguments, limits = dict(case.get("args") or {}), case["world"].get("limits", {})
        if case["plugin"] == "RemoveFailedPods":
            arguments.setdefault("minPodLifetimeSeconds", None)  # called without the default that a policy has
        result = walk(
            sampled(read_recording([recording(case, tmp_path)], with_details=True), case),
            case["plugin"],
            arguments,
            evictor=case["world"]["defaultEvictor"],
            limits=CycleLimits(
                *(limits.get(f"maxNoOfPodsToEvict{name}") for name in ("PerNode", "PerNamespace", "Total"))
            ),
        )
        keys = sorted(chosen.pod.key for chosen in result.chosen)
        is_same = keys == sorted(case.get("evicted", [])) if case["names_stable"] else len(keys) in case["count"]
        if not is_same:
            different.append((case["test"], keys, case.get("evicted", [])))
    assert not different
    assert compared == 267


@needs_cases
def test_each_scenario_that_is_left_out_has_its_reason() -> None:
    """Nothing is left out but for reasons that are listed, and each reason is needed."""
    left_out = [reason for case in scenarios() if (reason := why_not(case)) is not None]
    assert len(scenarios()) == 278
    assert set(left_out) == set(CANNOT_BE_WRITTEN)
