"""NetworkPolicies are read of the whole cluster, or of single namespaces where that is all that we may do."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.failures import ForbiddenError
from rescheduler.adapters.kubernetes.reading.network_policies import ReaderForSurges, completed, read_network_policies
from rescheduler.extension_points import ClusterError
from tests.builders import cluster, node
from tests.unit.adapters.kubernetes.eviction.fake_server import FakeServer

ALL = "/apis/networking.k8s.io/v1/networkpolicies"
SHOP = "/apis/networking.k8s.io/v1/namespaces/shop/networkpolicies"
FORBIDDEN = ForbiddenError("forbidden")


def listed(*selectors: dict[str, Any], name: str = "n") -> dict[str, Any]:
    """Policies of the namespace shop about these pods."""
    items = [{"metadata": {"namespace": "shop", "name": name}, "spec": {"podSelector": item}} for item in selectors]
    return {"items": items}


def test_one_list_is_enough_where_we_may_read_it() -> None:
    """With the selectors that each has."""
    server: Any = FakeServer()
    server.answer("GET", ALL, listed({"matchLabels": {"pod-template-hash": "h1"}}))
    (found,) = read_network_policies(server, ["shop"])
    assert (found.namespace, found.name) == ("shop", "n")
    assert [rule.key for selector in found.selectors for rule in selector.requirements] == ["pod-template-hash"]
    assert [request.path for request in server.asked("GET")] == [ALL]


def test_otherwise_each_namespace_is_asked() -> None:
    """And where none is named, or one may not be read either, nothing stands for what is not known."""
    server: Any = FakeServer()
    server.answer("GET", ALL, FORBIDDEN)
    server.answer("GET", SHOP, listed({}))
    assert [found.name for found in read_network_policies(server, ["shop", "shop"])] == ["n"]
    with pytest.raises(ForbiddenError):
        read_network_policies(server, [])
    server.answer("GET", SHOP, FORBIDDEN)
    with pytest.raises(ForbiddenError):
        read_network_policies(server, ["shop"])


def test_one_that_cannot_be_read_is_an_error() -> None:
    """It might be about any pod."""
    server: Any = FakeServer()
    server.answer("GET", ALL, listed({"matchLabels": 7}))
    with pytest.raises(ClusterError, match="cannot be read"):
        read_network_policies(server, ["shop"])


def test_a_snapshot_for_surges_holds_them() -> None:
    """Or is none."""
    server: Any = FakeServer()
    server.answer("GET", ALL, listed({}), FORBIDDEN)

    class Reader:
        def read(self) -> Any:
            return cluster(node("n1"))

    reader = ReaderForSurges(Reader(), partial(completed, server, ["shop"]))
    assert [found.name for found in reader.read().network_policies or ()] == ["n"]
    server.answer("GET", SHOP, FORBIDDEN)
    with pytest.raises(ClusterError):
        reader.read()
