"""Tests of HorizontalPodAutoscalers as the API tells them."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.workload import PodAutoscaler
from tests.unit.adapters.api_objects import CREATED, api_object, list_of, node_object, read

TARGET = {"scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}}


def seen_with(spec: Any = TARGET, status: Any = None, version: str = "autoscaling/v2") -> Cluster:
    """A cluster of one node and one autoscaler."""
    found = api_object("HorizontalPodAutoscaler", "web", namespace="default", version=version, spec=spec, status=status)
    return read(list_of(node_object(), found))


@pytest.mark.parametrize("version", ["autoscaling/v2", "autoscaling/v1"])
def test_an_autoscaler_is_read(version: str) -> None:
    """With its target, its numbers and the time of its last change, in every version of the API."""
    status = {"currentReplicas": 2, "desiredReplicas": 3, "lastScaleTime": "2026-01-01T00:00:00Z"}
    seen = seen_with(status=status, version=version)
    assert seen.autoscalers == (PodAutoscaler("default", "web", "Deployment", "web", 2, 3, 1767225600.0),)
    assert seen.autoscalers_by_target[None, "Deployment", "default", "web"] == seen.autoscalers
    assert not seen.warnings


@pytest.mark.parametrize(
    ("version", "group"),
    [
        ("apps/v1", None),
        (None, None),
        ("extensions/v1beta1", None),
        (7, None),
        ("example.com/v1", "example.com"),
        ("apps.kruise.io/v1beta1", "apps.kruise.io"),
    ],
)
def test_the_group_of_what_is_scaled_is_read(version: Any, group: str | None) -> None:
    """As in references: None for Kubernetes' own, whichever of its API versions the autoscaler names."""
    target = {"kind": "Deployment", "name": "web", "apiVersion": version}
    assert seen_with({"scaleTargetRef": target}).autoscalers[0].target_group == group


def test_one_without_a_status_tells_nothing() -> None:
    """It has not begun."""
    assert seen_with().autoscalers == (PodAutoscaler("default", "web", "Deployment", "web"),)


@pytest.mark.parametrize(
    ("spec", "status", "told"),
    [
        ({"scaleTargetRef": "web"}, None, "spec.scaleTargetRef names no workload"),
        ({}, None, "spec.scaleTargetRef names no workload"),
        ({"scaleTargetRef": {"kind": "Deployment", "name": 7}}, None, "spec.scaleTargetRef names no workload"),
        (TARGET, {"currentReplicas": -1}, "status.currentReplicas is not a number of replicas"),
        (TARGET, {"desiredReplicas": "three"}, "status.desiredReplicas is not a number of replicas"),
        (TARGET, {"desiredReplicas": True}, "status.desiredReplicas is not a number of replicas"),
        (TARGET, {"desiredReplicas": 2**40}, "status.desiredReplicas is not a number of replicas"),
    ],
)
def test_a_broken_one_is_named_and_costs_nothing_else(spec: Any, status: Any, told: str) -> None:
    """The rest of the cluster is read."""
    seen = seen_with(spec, status)
    assert len(seen.nodes) == 1
    assert any(text.startswith(f"HorizontalPodAutoscaler default/web: {told}") for text in seen.warnings)


def test_a_time_that_is_none_is_not_told() -> None:
    """Like a missing one."""
    assert seen_with(status={"lastScaleTime": 5}).autoscalers[0].last_scale_at is None
    assert seen_with(status={"lastScaleTime": "soon"}).autoscalers[0].last_scale_at is None
    assert seen_with(status={"lastScaleTime": CREATED}).autoscalers[0].last_scale_at is not None
