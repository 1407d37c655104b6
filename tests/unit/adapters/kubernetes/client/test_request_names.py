"""What a request is about, in few words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.kubernetes.client.request_names import request_name


@pytest.mark.parametrize(
    ("method", "path", "verb", "kind"),
    [
        ("GET", "/api/v1/pods", "list", "pods"),
        ("GET", "/api/v1/pods?limit=500", "list", "pods"),
        ("GET", "/api/v1/namespaces/shop/pods", "list", "pods"),
        ("GET", "/api/v1/namespaces/shop/pods/web-0", "get", "pods"),
        ("POST", "/api/v1/namespaces/shop/pods/web-0/eviction", "create", "pods/eviction"),
        ("PATCH", "/api/v1/namespaces/shop/pods/web-0/status", "patch", "pods/status"),
        ("GET", "/api/v1/namespaces", "list", "namespaces"),
        ("GET", "/api/v1/namespaces/shop", "get", "namespaces"),
        ("PATCH", "/api/v1/nodes/n0", "patch", "nodes"),
        ("DELETE", "/apis/batch/v1/namespaces/holds/jobs/hold-1", "delete", "jobs.batch"),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/b", "update", "leases.coordination.k8s.io"),
        ("GET", "/apis/metrics.k8s.io/v1beta1/nodes", "list", "nodes.metrics.k8s.io"),
        ("GET", "/version", "get", "version"),
        ("GET", "/apis", "get", "apis"),
        ("GET", "/apis/policy/v1", "get", "apis"),
        ("GET", "/", "get", ""),
        ("OPTIONS", "/api/v1/pods", "options", "pods"),
    ],
)
def test_requests_are_named_as_in_rbac(method: str, path: str, verb: str, kind: str) -> None:
    """Verb, resource with its subresource, and group; other paths by their first part."""
    assert request_name(method, path) == (verb, kind)


def test_a_stream_is_a_watch() -> None:
    """Whatever its path."""
    assert request_name("GET", "/api/v1/pods", is_stream=True) == ("watch", "pods")


def test_reads_change_nothing() -> None:
    """Everything else is a write."""
    assert request_name("GET", "/api/v1/pods").is_read
    assert request_name("GET", "/api/v1/pods", is_stream=True).is_read
    assert request_name("HEAD", "/api/v1/pods").is_read
    assert not request_name("POST", "/api/v1/pods").is_read


@given(
    namespace=st.from_regex(r"[a-z0-9-]{1,20}", fullmatch=True),
    name=st.from_regex(r"x[a-z0-9.-]{9,20}", fullmatch=True),
)
def test_no_name_of_an_object_stands_in_it(namespace: str, name: str) -> None:
    """So that there are as many kinds as the API server serves, and no more, whatever is in the cluster."""
    path = f"/api/v1/namespaces/{namespace}/pods/{name}/status"
    assert request_name("PATCH", path) == ("patch", "pods/status")
