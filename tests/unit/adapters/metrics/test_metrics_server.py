"""MetricsServerProvider: the contract, and what only this source does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rescheduler.adapters.metrics.metrics_server import MetricsServerArguments, MetricsServerProvider, use_from_cluster
from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.measured_use import MeasuredUse
from rescheduler.model.usage.samples import MetricsSample, PodKey
from tests.builders import NOW, node
from tests.loopback_server import Answer, json_answer, loopback_server
from tests.metrics.contract import ProviderContract
from tests.metrics.scenes import TIMEOUT_SECONDS
from tests.unit.adapters.metrics.kubernetes_worlds import KubernetesWorld, connection_to, resource_metrics, stamp

ARGUMENTS = MetricsServerArguments.model_validate({"timeout": f"{TIMEOUT_SECONDS}s"})
NODES = "/apis/metrics.k8s.io/v1beta1/nodes"


class TestContract(ProviderContract):
    """Every promise of a provider."""

    @pytest.fixture
    def world(self, tmp_path: Path) -> Iterator[KubernetesWorld]:
        """A loopback API server."""
        with ExitStack() as stack:
            make = lambda connection: MetricsServerProvider(ARGUMENTS, connection)  # noqa: E731
            yield KubernetesWorld(tmp_path, stack, make, resource_metrics, has_pods=True)


def node_metrics(name: str, cpu: Any, memory: Any = "1Gi", at: str | None = None) -> dict[str, Any]:
    """One NodeMetrics."""
    usage = {"cpu": cpu, "memory": memory}
    return {"metadata": {"name": name}, "timestamp": at or stamp(NOW), "window": "20s", "usage": usage}


def sampled(folder: Path, *items: dict[str, Any], pods: Answer | None = None) -> MetricsSample:
    """The sample of node n1 (4 cpus, 16Gi) that an API with these NodeMetrics gives."""
    nodes = json_answer({"items": list(items)})
    answer = pods or json_answer({"items": []})
    with loopback_server(lambda request: nodes if request.route == NODES else answer) as server:
        provider = MetricsServerProvider(ARGUMENTS, connection_to(server.address, folder))
        return provider.sample([node("n1")], now=NOW, with_pods=pods is not None)


def test_capacity_counts_and_not_allocatable(tmp_path: Path) -> None:
    """Use of the whole machine is a share of the whole machine."""
    small = node("n1", "2")
    whole = type(small)(name="n1", allocatable=small.allocatable, capacity=node("n1", "4").capacity)
    answer = json_answer({"items": [node_metrics("n1", "1")]})
    with loopback_server(lambda _: answer) as server:
        provider = MetricsServerProvider(ARGUMENTS, connection_to(server.address, tmp_path))
        found = provider.sample([whole], now=NOW, with_pods=False)
    assert found.nodes.values[CPU].tolist() == [[0.25]]


def test_a_node_without_capacity_is_unknown(tmp_path: Path) -> None:
    """Nothing is divided by zero."""
    bare = type(node("n1"))(name="n1")
    with loopback_server(lambda _: json_answer({"items": [node_metrics("n1", "1")]})) as server:
        provider = MetricsServerProvider(ARGUMENTS, connection_to(server.address, tmp_path))
        found = provider.sample([bare], now=NOW, with_pods=False)
    assert np.isnan(found.nodes.values[CPU]).all()


def test_impossible_values_are_passed_on(tmp_path: Path) -> None:
    """Negative use and use above capacity are for the analyser to judge."""
    found = sampled(tmp_path, node_metrics("n1", "-513m", "32Gi")).nodes
    assert found.values[CPU].tolist() == [[-513 / 4000]]
    assert found.values[MEMORY].tolist() == [[2.0]]


@pytest.mark.parametrize("cpu", ["18446744073709551591", "NaN", "lots", "", None, 3, "1e400"])
def test_what_is_no_quantity_is_unusable(tmp_path: Path, cpu: Any) -> None:
    """And the reason names what was found; the node's memory is not used either."""
    found = sampled(tmp_path, node_metrics("n1", cpu))
    assert found.unusable["n1"].startswith("cpu: ")
    assert all(np.isnan(values).all() for values in found.nodes.values.values())


@pytest.mark.parametrize("at", ["yesterday", "2026-01-01T00:00:00", "0"])
def test_a_value_without_a_time_is_unknown(tmp_path: Path, at: str) -> None:
    """Nobody can say how old it is."""
    found = sampled(tmp_path, node_metrics("n1", "1", at=at)).nodes
    assert np.isnan(found.values[CPU]).all()
    assert np.isnan(found.measured_at).all()


def test_the_same_node_twice_with_one_value_is_fine(tmp_path: Path) -> None:
    """Only contradictions are unusable."""
    found = sampled(tmp_path, node_metrics("n1", "1"), node_metrics("n1", "1"))
    assert found.unusable == {}
    assert found.nodes.values[CPU].tolist() == [[0.25]]


def test_pods_that_cannot_be_read_leave_the_nodes(tmp_path: Path) -> None:
    """The sample says what is missing."""
    found = sampled(tmp_path, node_metrics("n1", "1"), pods=Answer(b"no", 503))
    assert found.nodes.values[CPU].tolist() == [[0.25]]
    assert found.pods is None
    assert "pods" in found.warnings[0]


def test_a_container_that_cannot_be_read_makes_its_pod_unknown(tmp_path: Path) -> None:
    """A sum over the others would be too small."""
    usages = [{"cpu": "100m", "memory": "1Mi"}, {"cpu": "x", "memory": "1Mi"}]
    pod = {
        "metadata": {"namespace": "a", "name": "p"},
        "timestamp": stamp(NOW),
        "containers": [{"usage": usage} for usage in usages],
    }
    found = sampled(tmp_path, pods=json_answer({"items": [pod, {**pod, "containers": []}]})).pods
    assert found is not None
    assert found.pods[0] == PodKey("a", "p")
    assert isnan(found.values[CPU][0])
    assert found.values[MEMORY][0] == 2 * 2**20
    assert np.isnan(found.values[CPU][1])


def test_a_cluster_without_the_api_says_so(tmp_path: Path) -> None:
    """404 names the group that is missing."""
    with loopback_server(lambda _: Answer(b"404 page not found", 404)) as server:
        provider = MetricsServerProvider(ARGUMENTS, connection_to(server.address, tmp_path))
        with pytest.raises(MetricsError, match=r"MetricsServer: .*does not serve nodes in API group metrics\.k8s\.io"):
            provider.sample([node("n1")], now=NOW, with_pods=False)


def test_expired_credentials_are_read_anew(tmp_path: Path) -> None:
    """One 401 is asked again with what the kubeconfig says now."""
    answers = [Answer(b"{}", 401)]
    good = json_answer({"items": [node_metrics("n1", "1")]})
    with loopback_server(lambda _: answers.pop() if answers else good) as server:
        provider = MetricsServerProvider(ARGUMENTS, connection_to(server.address, tmp_path))
        found = provider.sample([node("n1")], now=NOW, with_pods=False)
    assert found.nodes.values[CPU].tolist() == [[0.25]]


def test_history_is_none(tmp_path: Path) -> None:
    """The API keeps none."""
    provider = MetricsServerProvider(ARGUMENTS, connection_to("http://127.0.0.1:1", tmp_path))
    assert provider.history([node("n1")], start=0, end=NOW, step_seconds=60) is None


def used_now(folder: Path, nodes: Answer, pods: Answer) -> MeasuredUse:
    """What is read of an API that answers so."""
    with loopback_server(lambda request: nodes if request.route == NODES else pods) as server:
        return use_from_cluster(connection_to(server.address, folder))


def listed(*items: dict[str, Any]) -> Answer:
    """A list of the metrics API."""
    return json_answer({"items": list(items)})


def test_amounts_are_whole_millicores_and_bytes_rounded_up(tmp_path: Path) -> None:
    """Containers of a pod are added up before anything is rounded."""
    node = {"metadata": {"name": "n1"}, "usage": {"cpu": "1500000001n", "memory": "1Ki"}}
    usages = [{"usage": {"cpu": "400500u", "memory": "1"}}, {"usage": {"cpu": "500u", "memory": "1"}}]
    pod = {"metadata": {"name": "web", "namespace": "team"}, "containers": usages}
    found = used_now(tmp_path, listed(node), listed(pod))
    assert found.nodes == {"n1": {CPU: 1501, MEMORY: 1024}}
    assert found.pods == {"team/web": {CPU: 401, MEMORY: 2}}
    assert found.problem == ""


def test_a_pod_is_unknown_whose_container_lacks_cpu_or_memory(tmp_path: Path) -> None:
    """descheduler passes over it; half of what it uses would be taken for all."""
    whole, half = {"usage": {"cpu": "1", "memory": "1"}}, {"usage": {"cpu": "1"}}
    pods = ({"metadata": {"name": name}, "containers": [whole, other]} for name, other in (("a", half), ("b", whole)))
    assert set(used_now(tmp_path, listed(), listed(*pods)).pods) == {"default/b"}


def test_where_it_tells_nothing_the_reason_is_kept(tmp_path: Path) -> None:
    """An API that is not there, and one that answers nonsense, end in words and not in an error."""
    assert "404" in used_now(tmp_path, Answer(b"{}", 404), listed()).problem
    wrong = used_now(tmp_path, listed({"metadata": {"name": "n1"}, "usage": {"cpu": "much"}}), listed())
    assert "NodeMetrics n1" in wrong.problem
    assert "'much' is not a quantity" in wrong.problem
    assert wrong.nodes == {}
