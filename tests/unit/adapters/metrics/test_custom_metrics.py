"""CustomMetricsProvider: the contract, and what only this source does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rescheduler.adapters.metrics.custom_metrics import CustomMetricsArguments, CustomMetricsProvider
from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.resources import CPU, MEMORY
from tests.builders import NOW, node
from tests.loopback_server import Answer, Request, json_answer, loopback_server
from tests.metrics.contract import ProviderContract
from tests.metrics.scenes import TIMEOUT_SECONDS, Scene, steady
from tests.unit.adapters.metrics.kubernetes_worlds import KubernetesWorld, connection_to, custom_metrics

TIMEOUT = {"timeout": f"{TIMEOUT_SECONDS}s"}


def provider_to(address: str, folder: Path, **arguments: Any) -> CustomMetricsProvider:
    """A provider that asks the API server at this address."""
    read = CustomMetricsArguments.model_validate({**TIMEOUT, **arguments})
    return CustomMetricsProvider(read, connection_to(address, folder))


class TestContract(ProviderContract):
    """Every promise of a provider, in both versions of the API."""

    @pytest.fixture(params=["v1beta1", "v1beta2"])
    def world(self, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[KubernetesWorld]:
        """A loopback API server."""
        with ExitStack() as stack:
            arguments = CustomMetricsArguments.model_validate(TIMEOUT)
            make = partial(CustomMetricsProvider, arguments)
            routes = partial(custom_metrics, version=request.param)
            yield KubernetesWorld(tmp_path, stack, make, routes, has_pods=False)


def routed(routes: dict[str, Any], request: Request) -> Answer:
    """The document of a route, or 404."""
    return json_answer(routes[request.route]) if request.route in routes else Answer(b"{}", 404)


def test_the_version_that_answers_is_asked_first_from_then_on(tmp_path: Path) -> None:
    """A 404 is not asked for again at each tick."""
    routes = custom_metrics(Scene({"n1": steady(NOW, 0.25, 0.5)}), [node("n1")], "v1beta2")
    with loopback_server(partial(routed, routes)) as server:
        provider = provider_to(server.address, tmp_path)
        provider.sample([node("n1")], now=NOW, with_pods=False)
        first = len(server.requests)
        provider.sample([node("n1")], now=NOW, with_pods=False)
        assert [first, len(server.requests) - first] == [3, 2]


def test_other_metric_names(tmp_path: Path) -> None:
    """The adapter's rules decide how metrics are called."""
    routes = custom_metrics(Scene({"n1": steady(NOW, 0.25, 0.5)}), [node("n1")])
    renamed = {path.replace("_usage_avg", ":use"): found for path, found in routes.items()}
    with loopback_server(partial(routed, renamed)) as server:
        provider = provider_to(server.address, tmp_path, nodeCpu="node_cpu:use", nodeMemory="node_memory:use")
        found = provider.sample([node("n1")], now=NOW, with_pods=False)
    assert found.nodes.values[CPU].tolist() == [[0.25]]
    assert found.nodes.values[MEMORY].tolist() == [[0.5]]


def test_one_metric_that_is_missing_is_a_warning(tmp_path: Path) -> None:
    """The other is kept; what is missing is unknown."""
    routes = custom_metrics(Scene({"n1": steady(NOW, 0.25, 0.5)}), [node("n1")])
    routes.pop("/apis/custom.metrics.k8s.io/v1beta1/nodes/*/node_memory_usage_avg")
    with loopback_server(partial(routed, routes)) as server:
        found = provider_to(server.address, tmp_path).sample([node("n1")], now=NOW, with_pods=False)
    assert found.nodes.values[CPU].tolist() == [[0.25]]
    assert np.isnan(found.nodes.values[MEMORY]).all()
    assert "404" in found.warnings[0]


def test_both_missing_is_an_error(tmp_path: Path) -> None:
    """It is not taken for a cluster at rest."""
    with loopback_server(partial(routed, {})) as server, pytest.raises(MetricsError, match=r"custom\.metrics\.k8s\.io"):
        provider_to(server.address, tmp_path).sample([node("n1")], now=NOW, with_pods=False)


def test_other_objects_are_passed_over(tmp_path: Path) -> None:
    """A pod that is called like a node is no node."""
    routes = custom_metrics(Scene({"n1": steady(NOW, 0.25, 0.5)}), [node("n1")])
    for found in routes.values():
        found["items"].append({**found["items"][0], "describedObject": {"kind": "Pod", "name": "n1"}, "value": "900m"})
    with loopback_server(partial(routed, routes)) as server:
        sample = provider_to(server.address, tmp_path).sample([node("n1")], now=NOW, with_pods=False)
    assert sample.unusable == {}
    assert sample.nodes.values[CPU].tolist() == [[0.25]]
