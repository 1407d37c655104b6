"""What goes wrong with real Prometheus servers: look-backs, replaced exporters, names, prefixes, size."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rescheduler.adapters.metrics.prometheus.prometheus import PrometheusProvider
from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import CPU_PRESSURE, DISK, NETWORK, MetricsSample
from tests.builders import node
from tests.metrics.exporters import counted, new_rules, node_exporter
from tests.metrics.prometheus_server import Point, prometheus_server, series
from tests.metrics.scenes import Scene, steady, times
from tests.metrics.test_prometheus import provider_at

pytestmark = pytest.mark.e2e

NODES = [node("n1", addresses=(("InternalIP", "10.0.0.1"),)), node("n2", addresses=(("InternalIP", "10.0.0.2"),))]


@pytest.fixture
def now() -> float:
    """A moment ago."""
    return time.time() - 3


def scene(now: float, age: float = 0.0, **loads: float) -> Scene:
    """Hosts under steady cpu load, with half of their memory used."""
    return Scene({host: steady(now, cpu, 0.5, age=age) for host, cpu in loads.items()})


def renamed(points: Iterable[Point], names: Mapping[str, str]) -> list[Point]:
    """The points with other texts in their labels."""
    found = []
    for point in points:
        text = point.series
        for before, after in names.items():
            text = text.replace(before, after)
        found.append(point._replace(series=text))
    return found


def sampled(
    folder: Path, points: Iterable[Point], now: float, *flags: str, prefix: str = "", **arguments: Any
) -> MetricsSample:
    """A sample of both nodes."""
    server: AbstractContextManager[str] = prometheus_server(folder, points, *flags, prefix=prefix)
    with server as address:
        return provider_at(address + prefix, **arguments).sample(NODES, now=now, with_pods=False)


def test_instances_by_address(tmp_path: Path, now: float) -> None:
    """A plain scrape calls nodes by address and port, which no client of Trimaran's watcher understands."""
    points = renamed(
        node_exporter(scene(now, n1=0.25, n2=0.5), NODES), {"n1:9100": "10.0.0.1:9100", "n2:9100": "10.0.0.2:9100"}
    )
    assert sampled(tmp_path, points, now).nodes.values[CPU][0] == pytest.approx([0.25, 0.5], rel=1e-3)


def test_instances_that_are_the_exporters_pods(tmp_path: Path, now: float) -> None:
    """node_uname_info says whose they are; a second sample needs no search."""
    names = {"n1:9100": "10.9.0.1:9100", "n2:9100": "10.9.0.2:9100"}
    points = renamed(node_exporter(scene(now, n1=0.25, n2=0.5), NODES), names)
    points += [
        Point(series("node_uname_info", {"instance": instance, "nodename": host.partition(":")[0]}), now, 1.0)
        for host, instance in names.items()
    ]
    with prometheus_server(tmp_path, points) as address:
        provider = provider_at(address)
        for _ in range(2):
            found = provider.sample(NODES, now=now, with_pods=False).nodes
            assert found.values[CPU][0] == pytest.approx([0.25, 0.5], rel=1e-3)
        history = provider.history(NODES, start=now - 300, end=now, step_seconds=60)
    assert history is not None
    assert history.values[CPU][-1] == pytest.approx([0.25, 0.5], rel=1e-3)


def test_a_label_and_a_pattern_of_the_operators_own(tmp_path: Path, now: float) -> None:
    """Where no usual label names the node."""
    points = renamed(
        node_exporter(scene(now, n1=0.25, n2=0.5), NODES),
        {'instance="n1:9100"': 'machine="dc1/n1/exporter"', 'instance="n2:9100"': 'machine="dc1/n2/exporter"'},
    )
    found = sampled(tmp_path, points, now, hostLabel="machine", hostPattern="^dc1/([^/]+)/")
    assert found.nodes.values[CPU][0] == pytest.approx([0.25, 0.5], rel=1e-3)


def test_the_look_back_does_not_make_old_values_new(tmp_path: Path, now: float) -> None:
    """An instant query shows four-minute-old samples as of now; their own time tells."""
    points = [*node_exporter(scene(now, age=240, n1=0.25), NODES), *node_exporter(scene(now, n2=0.5), NODES)]
    found = sampled(tmp_path, points, now).nodes
    assert found.measured_at[0] == pytest.approx([now - 240, now], abs=1)


def test_rules_over_a_dead_exporter_are_as_old_as_it(tmp_path: Path, now: float) -> None:
    """A rule of five-minute rates goes on for minutes, each result with a time of now."""
    points = [
        *new_rules(scene(now, n1=0.25, n2=0.5), NODES),
        *node_exporter(scene(now, age=200, n1=0.25), NODES),
        *node_exporter(scene(now, n2=0.5), NODES),
    ]
    found = sampled(tmp_path, points, now).nodes
    assert found.measured_at[0] == pytest.approx([now - 200, now], abs=1)


def test_an_exporter_that_was_replaced_a_minute_ago(tmp_path: Path, now: float) -> None:
    """Two rates for one node until the old one has left the window; as both have samples still, nobody can choose."""
    old = renamed(node_exporter(scene(now, age=75, n1=0.875), NODES), {'job="node"': 'job="node",pod="old"'})
    new = renamed(
        (one for one in node_exporter(scene(now, n1=0.25), NODES) if one.at > now - 60),
        {'job="node"': 'job="node",pod="new"'},
    )
    found = sampled(tmp_path, [*old, *new, *node_exporter(scene(now, n2=0.5), NODES)], now)
    assert set(found.unusable) == {"n1"}
    assert "contradict" in found.unusable["n1"]
    assert found.nodes.values[CPU][0, 1] == pytest.approx(0.5, rel=1e-3)


def test_matchers_keep_other_clusters_out(tmp_path: Path, now: float) -> None:
    """One Thanos for many clusters has nodes of the same names in each."""
    points = [
        *renamed(node_exporter(scene(now, n1=0.25, n2=0.5), NODES), {'job="node"': 'job="node",cluster="a"'}),
        *renamed(node_exporter(scene(now, n1=0.875, n2=0.875), NODES), {'job="node"': 'job="node",cluster="b"'}),
    ]
    assert set(sampled(tmp_path / "all", points, now).unusable) == {"n1", "n2"}
    found = sampled(tmp_path / "one", points, now, matchers={"cluster": "a"})
    assert found.unusable == {}
    assert found.nodes.values[CPU][0] == pytest.approx([0.25, 0.5], rel=1e-3)


def test_network_and_disk(tmp_path: Path, now: float) -> None:
    """Bytes both ways without the pods' own devices, and the busiest disk."""
    devices = [("eth0", 1000.0), ("lo", 5000.0), ("veth12ab", 700.0)]
    points = list(node_exporter(scene(now, n1=0.25, n2=0.5), NODES))
    for metric, share in (("receive", 1.0), ("transmit", 0.5)):
        for device, rate in devices:
            name = series(
                f"node_network_{metric}_bytes_total", {"instance": "n1:9100", "job": "node", "device": device}
            )
            points += [Point(name, at, value) for at, value in counted((at, share * rate) for at in times(now))]
    for device, busy in (("sda", 0.25), ("sdb", 0.75)):
        name = series("node_disk_io_time_seconds_total", {"instance": "n1:9100", "job": "node", "device": device})
        points += [Point(name, at, value) for at, value in counted((at, busy) for at in times(now))]
    found = sampled(tmp_path, points, now).nodes
    assert found.values[NETWORK][0] == pytest.approx([1500.0, np.nan], rel=1e-3, nan_ok=True)
    assert found.values[DISK][0] == pytest.approx([0.75, np.nan], rel=1e-3, nan_ok=True)


def test_cpu_pressure(tmp_path: Path, now: float) -> None:
    """The share of time in which some task waited for a cpu; unknown where the kernel does not tell."""
    points = list(node_exporter(scene(now, n1=0.25, n2=0.5), NODES))
    name = series("node_pressure_cpu_waiting_seconds_total", {"instance": "n1:9100", "job": "node"})
    points += [Point(name, at, value) for at, value in counted((at, 0.3) for at in times(now))]
    found = sampled(tmp_path, points, now).nodes
    assert found.values[CPU_PRESSURE][0] == pytest.approx([0.3, np.nan], rel=1e-3, nan_ok=True)
    assert found.values[CPU][0] == pytest.approx([0.25, 0.5], rel=1e-3)


def test_own_queries(tmp_path: Path, now: float) -> None:
    """Percent becomes a fraction in PromQL; a plain selector has its own time, an expression needs a second query."""
    points = [
        Point(series(name, {"host": host}), at, value)
        for name, value in (("load_percent", 40.0), ("mem_fraction", 0.5))
        for host in ("n1", "n2")
        for at in times(now, age=45)
    ]
    queries = {
        "nodeCpu": {"query": "load_percent / 100", "time": "timestamp(load_percent)"},
        "nodeMemory": {"query": "mem_fraction"},
    }
    found = sampled(tmp_path, points, now, queries=queries).nodes
    assert found.values[CPU][0] == pytest.approx([0.4, 0.4])
    assert found.values[MEMORY][0] == pytest.approx([0.5, 0.5])
    assert found.measured_at[0] == pytest.approx([now - 45] * 2, abs=1)


def test_a_broken_query_is_told_in_the_servers_words(tmp_path: Path, now: float) -> None:
    """With the place in it."""
    with pytest.raises(MetricsError, match=r"400 Bad Request: .*parse error"):
        sampled(tmp_path, [], now, queries={"nodeCpu": {"query": "sum by ("}})


def test_a_path_before_the_api(tmp_path: Path, now: float) -> None:
    """As behind a reverse proxy."""
    points = list(node_exporter(scene(now, n1=0.25, n2=0.5), NODES))
    flags = ("--web.route-prefix=/prom", "--web.external-url=http://127.0.0.1/prom")
    found = sampled(tmp_path, points, now, *flags, prefix="/prom")
    assert found.nodes.values[CPU][0] == pytest.approx([0.25, 0.5], rel=1e-3)


def test_an_empty_server_knows_nothing(tmp_path: Path, now: float) -> None:
    """All unknown, and the warnings say what was looked for."""
    found = sampled(tmp_path, [], now)
    assert all(np.isnan(values).all() for values in found.nodes.values.values())
    assert any("covers 0 of 2 nodes" in warning for warning in found.warnings)


def test_a_server_that_restarts_is_found_again(tmp_path: Path, now: float) -> None:
    """The connection that was kept is of no use then."""
    points = list(node_exporter(scene(now, n1=0.25, n2=0.5), NODES))
    with prometheus_server(tmp_path, points) as address:
        provider: PrometheusProvider = provider_at(address)
        provider.sample(NODES, now=now, with_pods=False)
    with pytest.raises(MetricsError, match="Connection refused"):
        provider.sample(NODES, now=now, with_pods=False)
    with prometheus_server(tmp_path, [], port=int(address.rpartition(":")[2])):
        found = provider.sample(NODES, now=now, with_pods=False)
    assert found.nodes.values[CPU][0] == pytest.approx([0.25, 0.5], rel=1e-3)


def test_a_hundred_nodes_take_as_many_queries_as_two(tmp_path: Path, now: float) -> None:
    """And none of them is left out."""
    many: list[Node] = [node(f"w{number}") for number in range(100)]
    points = list(node_exporter(Scene({one.name: steady(now, 0.25, 0.5, span=300) for one in many}), many))
    with prometheus_server(tmp_path, points) as address:
        found = provider_at(address).sample(many, now=now, with_pods=False).nodes
    assert found.values[CPU][0] == pytest.approx([0.25] * 100, rel=1e-3)
