"""The side-by-side comparison looks only when the cluster is at rest: nothing that is under way escapes it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from benchmarks.side_by_side.settling import Look
from tests.cluster.api import Manifest


def pod(name: str, node: str, app: str, owner: str) -> Manifest:
    """A pod that runs and is ready, or without a node one that the scheduler has refused."""
    condition = {"type": "Ready", "status": "True"} if node else {"type": "PodScheduled", "status": "False"}
    owners = [{"uid": owner, "controller": True}]
    return {
        "metadata": {"name": name, "uid": name, "labels": {"app": app}, "ownerReferences": owners},
        "spec": {"nodeName": node} if node else {},
        "status": {"phase": "Running" if node else "Pending", "conditions": [condition]},
    }  # fmt: skip


def at_rest() -> Look:
    """Two nodes: a ReplicaSet under a budget with one of three pods waiting, and a DaemonSet."""
    budget = {
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {"currentHealthy": 2},
    }
    return Look(
        pods=[
            pod("web-1", "a", "web", "rs"), pod("web-2", "b", "web", "rs"), pod("web-3", "", "web", "rs"),
            pod("agent-1", "a", "agent", "ds"), pod("agent-2", "b", "agent", "ds"),
        ],
        replicated=[{"metadata": {"name": "web", "uid": "rs"}, "spec": {"replicas": 3}}],
        daemon_sets=[{"metadata": {"name": "agent", "uid": "ds"}, "spec": {}}],
        budgets=[budget],
        nodes=2,
    )  # fmt: skip


def test_a_refused_pod_waits_and_is_at_rest() -> None:
    """It is the cluster's last word until something changes; whoever waits for rest has to wait for its back-off."""
    assert at_rest().unrest() == ""
    assert at_rest().has_waiting_pods


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("pods", 0, "metadata", "deletionTimestamp"), "now", "web-1"),
        (("pods", 0, "status", "conditions", 0, "status"), "False", "web-1"),
        (("pods", 2, "status", "conditions"), [], "web-3"),
        (("replicated", 0, "spec", "replicas"), 4, "web has 3 of 4"),
        (("pods", 4, "metadata", "ownerReferences"), [], "agent has 1 of 2"),
        (("budgets", 0, "status", "currentHealthy"), 3, "budget web"),
        (("budgets", 0, "status", "disruptedPods"), {"web-0": "now"}, "budget web"),
        (("budgets", 0, "status"), {}, "budget web"),
    ],
    ids=str,
)
def test_what_is_under_way_is_named(path: tuple[Any, ...], value: object, words: str) -> None:
    """A pod that goes, starts or was not looked at yet; pods to come; a budget that has not counted."""
    look = copy.deepcopy(at_rest())
    found = getattr(look, path[0])
    for step in path[1:-1]:
        found = found[step]
    found[path[-1]] = value
    assert words in look.unrest()


def test_a_pod_that_moved_is_seen() -> None:
    """By its uid and its node."""
    other = copy.deepcopy(at_rest())
    other.pods[0]["spec"]["nodeName"] = "b"
    assert other.places != at_rest().places == copy.deepcopy(at_rest()).places
