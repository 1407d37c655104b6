"""ElasticsearchProvider against a real OpenSearch and a real Elasticsearch, with what Metricbeat would have written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import requests

from rescheduler.adapters.metrics.elasticsearch.elasticsearch import ElasticsearchProvider, elasticsearch_headers
from rescheduler.adapters.metrics.elasticsearch.elasticsearch_arguments import ElasticsearchArguments
from rescheduler.adapters.metrics.http.http_session import http_session
from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import DISK, NETWORK
from tests.builders import NOW, node
from tests.metrics.contract import SECRET, TIMEOUT_SECONDS, Load, ProviderContract, Scene, steady
from tests.metrics.opensearch_server import ELASTICSEARCH, OPENSEARCH, Product, SearchServer, search_server

pytestmark = pytest.mark.e2e
N1 = node("n1")
INDICES = (f"metricbeat-{at}" for at in count())
FIELDS = {
    "@timestamp": "date",
    "host.hostname": "keyword",
    "host.cpu.usage": "double",
    "system.cpu.total.norm.pct": "double",
    "system.memory.actual.used.pct": "double",
    "system.network.name": "keyword",
    "system.network.in.bytes": "long",
    "system.network.out.bytes": "long",
    "system.diskio.name": "keyword",
    "system.diskio.io.time": "long",
    "kubernetes.namespace": "keyword",
    "kubernetes.pod.name": "keyword",
    "kubernetes.pod.cpu.usage.nanocores": "long",
    "kubernetes.pod.memory.working_set.bytes": "long",
}
Document = Mapping[str, Any]


def provider_at(address: str, **arguments: object) -> ElasticsearchProvider:
    """A provider that asks this address."""
    read = ElasticsearchArguments.model_validate({"address": address, **arguments})
    headers = elasticsearch_headers(read)
    return ElasticsearchProvider(
        read, http_session(read, None, provider="Elasticsearch", address=address, secret_headers=headers)
    )


def document(at: float, host: str, **fields: float | str) -> Document:
    """One document; double underscores stand for dots."""
    named = {name.replace("__", "."): value for name, value in fields.items()}
    return {"@timestamp": round(at * 1000), "host.hostname": host, **named}


def metricbeat(host: str, loads: Sequence[Load]) -> Iterator[Document]:
    """The system module's cpu and memory metricsets, a document each."""
    for at, cpu, memory in loads:
        yield document(at, host, host__cpu__usage=cpu, system__cpu__total__norm__pct=cpu)
        yield document(at, host, system__memory__actual__used__pct=memory)


def pods(scene: Scene) -> Iterator[Document]:
    """The kubernetes module's pod metricset."""
    for key, loads in scene.pods.items():
        for at, millicores, memory in loads:
            yield {
                **document(at, "n1"),
                "kubernetes.namespace": key.namespace,
                "kubernetes.pod.name": key.name,
                "kubernetes.pod.cpu.usage.nanocores": round(millicores * 1e6),
                "kubernetes.pod.memory.working_set.bytes": round(memory),
            }


def filled(server: SearchServer, documents: Sequence[Document], **types: str) -> str:
    """The name of a new index that holds these documents."""
    index = next(INDICES)
    server.create(index, {**FIELDS, **{name.replace("__", "."): kind for name, kind in types.items()}})
    server.write(index, documents)
    return index


class SearchWorld:
    """An index of its own for each scene."""

    tolerance = 1e-6
    lag = 0.01
    has_history = has_pods = has_rivals = True

    def __init__(self, server: SearchServer, folder: Path) -> None:
        self.now = NOW
        self._server = server
        self._folder = folder

    def provider(self, scene: Scene, nodes: Sequence[Node]) -> ElasticsearchProvider:
        """As World; a rival of a host is the same host under its name in full."""
        found = [one for host, loads in scene.hosts.items() for one in metricbeat(host, loads)]
        found += [one for host, loads in scene.rivals.items() for one in metricbeat(f"{host}.example.com", loads)]
        return provider_at(self._server.address, index=filled(self._server, [*found, *pods(scene)]))

    def reaching(self, address: str) -> ElasticsearchProvider:
        """As World."""
        key = self._folder / "key"
        key.write_text(SECRET)
        return provider_at(address, apiKey={"file": str(key)}, timeout=f"{TIMEOUT_SECONDS}s")


@pytest.fixture(scope="module", params=[OPENSEARCH, ELASTICSEARCH], ids=lambda product: product.name)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchServer]:
    """One server of each product for the module."""
    product: Product = request.param
    with search_server(tmp_path_factory.mktemp(product.name), product) as started:
        yield started


class TestElasticsearch(ProviderContract):
    """Every promise of providers, on both products."""

    @pytest.fixture
    def world(self, server: SearchServer, tmp_path: Path) -> SearchWorld:
        """A world on the module's server."""
        return SearchWorld(server, tmp_path)


def test_rates_of_network_and_disk(server: SearchServer) -> None:
    """Interfaces are added but for virtual ones, of disks the busiest counts, and a counter that fell says nothing."""
    documents = []
    for age in (20, 10, 0):
        at, total = NOW - age, 1_000_000 - 100 * age
        for device, factor in (("eth0", 1), ("eth1", 4), ("lo", 50)):
            network = {"system__network__in__bytes": total * factor, "system__network__out__bytes": total * factor}
            documents.append(document(at, "n1", system__network__name=device, **network))
            documents.append(
                document(at, "n1", system__diskio__name=device, system__diskio__io__time=total * factor // 2)
            )
        fallen = {"system__network__in__bytes": 5 + age, "system__network__out__bytes": 5 + age}
        documents.append(document(at, "n1", system__network__name="eth2", **fallen))
    provider = provider_at(server.address, index=filled(server, documents))
    found = provider.sample([N1], now=NOW, with_pods=False).nodes
    assert found.values[NETWORK][0, 0] == pytest.approx(2 * 100 + 2 * 400)
    assert found.values[DISK][0, 0] == pytest.approx(2.5)  # 2,500 ms a second: passed on, for the analyser to judge


def test_more_hosts_than_a_page_holds(server: SearchServer) -> None:
    """All of 2,500 hosts are read, none twice."""
    names = [f"n{at}" for at in range(2500)]
    documents = [document(NOW, name, host__cpu__usage=at / 2500) for at, name in enumerate(names)]
    provider = provider_at(server.address, index=filled(server, documents))
    found = provider.sample([node(name) for name in names], now=NOW, with_pods=False)
    assert found.nodes.values[CPU][0].tolist() == pytest.approx([at / 2500 for at in range(2500)])
    assert not found.is_partial


def test_an_older_metricbeat_has_only_its_own_field(server: SearchServer) -> None:
    """Without host.cpu.usage the system module's field is read; and it takes over where the first has ended."""
    documents = [
        document(NOW, "n1", system__cpu__total__norm__pct=0.5),
        document(NOW, "n2", system__cpu__total__norm__pct=0.5, host__cpu__usage=0.25),
        document(NOW, "n3", system__cpu__total__norm__pct=0.5),
        document(NOW - 200, "n3", host__cpu__usage=0.25),
    ]
    provider = provider_at(server.address, index=filled(server, documents))
    found = provider.sample([node(name) for name in ("n1", "n2", "n3")], now=NOW, with_pods=False)
    assert found.nodes.values[CPU][0].tolist() == [0.5, 0.25, 0.5]


def test_no_index_is_no_data_with_a_warning(server: SearchServer) -> None:
    """An index pattern that matches nothing leaves every node unknown, and says why."""
    found = provider_at(server.address, index="nothing-here-*").sample([N1], now=NOW, with_pods=True)
    assert np.isnan(found.nodes.values[CPU]).all()
    assert any("nothing-here-*" in warning for warning in found.warnings)


def test_a_host_field_that_is_no_keyword_is_explained(server: SearchServer) -> None:
    """The server's reason, and what to write instead."""
    index = filled(server, [document(NOW, "n1", host__cpu__usage=0.5)], host__hostname="text")
    with pytest.raises(MetricsError, match=r"hostField.*keyword"):
        provider_at(server.address, index=index).sample([N1], now=NOW, with_pods=False)


def test_an_index_without_the_fields_fails_in_part(server: SearchServer) -> None:
    """A second index in which the host is a text fails its shard: the answer is partial, not silently short."""
    good = filled(server, list(metricbeat("n1", steady(NOW, 0.5, 0.5))))
    bad = filled(server, [document(NOW, "n2", host__cpu__usage=0.5)], host__hostname="text")
    provider = provider_at(server.address, index=f"{good},{bad}")
    found = provider.sample([N1, node("n2")], now=NOW, with_pods=False)
    assert found.is_partial
    assert any("shards failed" in warning for warning in found.warnings)
    assert found.nodes.values[MEMORY][0, 0] == 0.5
    with pytest.raises(MetricsError, match="not whole"):
        provider.history([N1], start=NOW - 60, end=NOW, step_seconds=15)


def test_a_clock_that_is_ahead_is_seen(server: SearchServer) -> None:
    """Documents from ten minutes in our future are read with their own time."""
    documents = list(metricbeat("n1", [Load(NOW + 600, 0.5, 0.5)]))
    provider = provider_at(server.address, index=filled(server, documents))
    assert provider.sample([N1], now=NOW, with_pods=False).nodes.measured_at[0, 0] == NOW + 600


def test_the_servers_are_what_they_are_said_to_be(server: SearchServer) -> None:
    """The suite ran on OpenSearch and on Elasticsearch, not on a stand-in."""
    version = requests.get(server.address, timeout=10).json()["version"]
    assert version["number"] in (OPENSEARCH.version, ELASTICSEARCH.version)
    assert ("distribution" in version) == (version["number"] == OPENSEARCH.version)
