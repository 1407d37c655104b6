"""Who answers for a Service is told from all of its EndpointSlices together."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.kubernetes.eviction.endpoints import read_endpoints, slice_path
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.endpoints import ServiceEndpoints, answers_wherever
from tests.unit.adapters.kubernetes.eviction.fake_server import FakeServer

PATH = slice_path("default")


def endpoint_slice(name: str, service: str | None, kind: str, *pods: tuple[str, bool | None]) -> dict[str, Any]:
    """An EndpointSlice of these pods (uid, ready)."""
    labels = {"kubernetes.io/service-name": service} if service else {}
    endpoints = [
        {"targetRef": {"kind": "Pod", "uid": uid}, "conditions": {} if ready is None else {"ready": ready}}
        for uid, ready in pods
    ]
    return {"metadata": {"name": name, "labels": labels}, "addressType": kind, "endpoints": endpoints}


def test_slices_of_one_service_count_together() -> None:
    """By kind of address; where nothing is said of being ready, it is so; addresses without a pod are nobody."""
    server: Any = FakeServer()
    items = [
        endpoint_slice("web-a", "web", "IPv4", ("old", True)),
        endpoint_slice("web-b", "web", "IPv4", ("new", None), ("slow", False)),
        endpoint_slice("web-c", "web", "IPv6", ("old", True)),
        endpoint_slice("lone", None, "IPv4", ("old", True)),
        {"metadata": {"name": "ext"}, "endpoints": [{"conditions": {"ready": True}}]},
        {"metadata": {"name": "none"}, "endpoints": None},
    ]
    server.answer("GET", PATH, {"items": items})
    assert read_endpoints(server, "default") == [
        ServiceEndpoints("EndpointSlice lone", frozenset({"old"}), frozenset({"old"})),
        ServiceEndpoints("web (IPv4)", frozenset({"old", "new", "slow"}), frozenset({"old", "new"})),
        ServiceEndpoints("web (IPv6)", frozenset({"old"}), frozenset({"old"})),
    ]


def test_a_cluster_without_endpoint_slices_has_none() -> None:
    """What cannot be read is an error."""
    server: Any = FakeServer()
    assert read_endpoints(server, "default") == []
    server.answer("GET", PATH, {"items": 7})
    with pytest.raises(ClusterError, match="cannot be read"):
        read_endpoints(server, "default")


def test_a_replacement_has_to_answer_wherever_the_old_pod_does() -> None:
    """Services that do not know the old pod do not count; being listed is not enough."""
    web = ServiceEndpoints("web", frozenset({"old", "new"}), frozenset({"old", "new"}))
    slow = ServiceEndpoints("slow", frozenset({"old", "new"}), frozenset({"old"}))
    other = ServiceEndpoints("other", frozenset({"x"}), frozenset({"x"}))
    assert answers_wherever("new", "old", [web, other])
    assert answers_wherever("new", "old", [])
    assert not answers_wherever("new", "old", [web, slow])
