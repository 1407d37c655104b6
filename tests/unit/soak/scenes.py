"""Policies and clusters for stories."""

from __future__ import annotations

from typing import Any

from rescheduler.daemon.plugins import parse_policy
from rescheduler.model.objects.cluster import Cluster
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node, pod, workload

EXECUTE = "apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\nmode: Execute\n"


def a_policy(text: str = "") -> Policy:
    """A policy that executes, with further lines."""
    return parse_policy(EXECUTE + text, "test.yaml")


def a_world(replicas: int = 4, nodes: int = 4, *extra: Any) -> Cluster:
    """Workload ``web`` with one pod of 1 CPU on each of its first nodes of 4 CPU."""
    pods = [pod(f"web-{number}", node=f"n{number % nodes}", owner="web") for number in range(replicas)]
    return cluster(*(node(f"n{number}", zone=f"z{number % 2}") for number in range(nodes)), *pods,
                   workload("web", replicas, generation=1, observed_generation=1), *extra)  # fmt: skip
