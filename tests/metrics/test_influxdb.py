"""InfluxDBProvider against a real InfluxDB 1, with what Telegraf would have written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from rescheduler.adapters.metrics.http.http_session import http_session
from rescheduler.adapters.metrics.influxdb.influxdb import InfluxDBProvider, influxdb_headers
from rescheduler.adapters.metrics.influxdb.influxdb_arguments import InfluxDBArguments
from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import DISK, NETWORK, PodKey
from tests.builders import NOW, node
from tests.metrics.contract import SECRET, TIMEOUT_SECONDS, Load, ProviderContract, Scene
from tests.metrics.influxdb_server import InfluxDBServer, influxd, influxdb_server

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(influxd() is None, reason="no influxd on the path (Debian package influxdb)"),
]
N1 = node("n1")


def provider_at(address: str, **arguments: object) -> InfluxDBProvider:
    """A provider that asks this address."""
    read = InfluxDBArguments.model_validate({"address": address, **arguments})
    session = http_session(read, None, provider="InfluxDB", address=address, secret_headers=influxdb_headers(read))
    return InfluxDBProvider(read, session)


def telegraf(host: str, loads: Sequence[Load]) -> Iterator[str]:
    """The cpu and mem inputs of one host, with the series of a single cpu that must not be taken for the whole."""
    for at, cpu, memory in loads:
        yield f"cpu,cpu=cpu-total,host={host} usage_idle={100 * (1 - cpu)!r} {at * 1000:.0f}"
        yield f"cpu,cpu=cpu0,host={host} usage_idle=1 {at * 1000:.0f}"
        yield f"mem,host={host} used_percent={100 * memory!r},available_percent=3 {at * 1000:.0f}"


def kubernetes(scene: Scene) -> Iterator[str]:
    """The kubernetes input: two containers of each pod."""
    for key, loads in scene.pods.items():
        for container, share in (("app", 0.75), ("sidecar", 0.25)):
            tags = f"namespace={key.namespace},pod_name={key.name},container_name={container},node_name=n1"
            for at, millicores, memory in loads:
                cpu = f"cpu_usage_nanocores={millicores * share * 1e6:.0f}i"
                fields = f"{cpu},memory_working_set_bytes={memory * share:.0f}i"
                yield f"kubernetes_pod_container,{tags} {fields} {at * 1000:.0f}"


class InfluxDBWorld:
    """A database of its own for each scene."""

    tolerance = 1e-6
    lag = 0.01
    has_history = has_pods = has_rivals = True

    def __init__(self, server: InfluxDBServer, folder: Path) -> None:
        self.now = NOW
        self._server = server
        self._folder = folder
        self._count = 0

    def provider(self, scene: Scene, nodes: Sequence[Node]) -> InfluxDBProvider:
        """As World; a rival of a host is the same host under its name in full."""
        self._count += 1
        database = f"{self._folder.name}_{self._count}"
        self._server.ask(f'CREATE DATABASE "{database}"')
        lines = [line for host, loads in scene.hosts.items() for line in telegraf(host, loads)]
        lines += [line for host, loads in scene.rivals.items() for line in telegraf(f"{host}.example.com", loads)]
        self._server.write([*lines, *kubernetes(scene)], database)
        return provider_at(self._server.address, database=database)

    def reaching(self, address: str) -> InfluxDBProvider:
        """As World."""
        token = self._folder / "token"
        token.write_text(SECRET)
        return provider_at(address, token={"file": str(token)}, timeout=f"{TIMEOUT_SECONDS}s")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InfluxDBServer]:
    """One server for the module."""
    with influxdb_server(tmp_path_factory.mktemp("influxdb")) as started:
        yield started


class TestInfluxDB(ProviderContract):
    """Every promise of providers, in InfluxQL."""

    @pytest.fixture
    def world(self, server: InfluxDBServer, tmp_path: Path) -> InfluxDBWorld:
        """A world on the module's server."""
        return InfluxDBWorld(server, tmp_path)


def filled(server: InfluxDBServer, database: str, lines: Sequence[str]) -> Mapping[str, object]:
    """The argument ``database`` of a new one with these points."""
    server.ask(f'CREATE DATABASE "{database}"')
    server.write(lines, database)
    return {"database": database}


def counters(host: str, device: str, per_second: float, *, ages: Sequence[int] = (30, 20, 10, 0)) -> list[str]:
    """Network and disk counters of one device that grow by ``per_second`` a second."""
    found = []
    for age in ages:
        total = int((1_000_000 - age) * per_second)
        at = int((NOW - age) * 1000)
        found += [
            f"net,host={host},interface={device} bytes_recv={total}i,bytes_sent={total}i {at}",
            f"diskio,host={host},name={device} io_time={total}i {at}",
        ]
    return found


def test_network_is_the_sum_of_real_interfaces_and_disk_the_busiest_device(server: InfluxDBServer) -> None:
    """Received and sent together, bytes per second; loopback and pods' interfaces left out; disk a share of time."""
    lines = [*counters("n1", "eth0", 100), *counters("n1", "eth1", 400), *counters("n1", "lo", 7), *telegraf("n1", [])]
    lines += counters("n1", "veth1a2b", 9)
    found = provider_at(server.address, **filled(server, "rates", lines)).sample([N1], now=NOW, with_pods=False).nodes
    assert found.values[NETWORK][0, 0] == pytest.approx(1000.0)
    assert found.values[DISK][0, 0] == pytest.approx(0.4)


def test_a_counter_that_starts_again_gives_no_rate(server: InfluxDBServer) -> None:
    """After a reboot the fall is no traffic, and neither is what it would be as an unsigned number."""
    at = int(NOW * 1000)
    lines = [f"net,host=n1,interface=eth0 bytes_recv=9000i,bytes_sent=9000i {at - 10_000}"]
    lines += [f"net,host=n1,interface=eth0 bytes_recv=5i,bytes_sent=5i {at}"]
    provider = provider_at(server.address, **filled(server, "reset", lines))
    assert np.isnan(provider.sample([N1], now=NOW, with_pods=False).nodes.values[NETWORK][0, 0])


def test_rates_have_a_history(server: InfluxDBServer) -> None:
    """A rate at each step, from the step before on."""
    lines = counters("n1", "eth0", 100, ages=range(300, -1, -10))
    provider = provider_at(server.address, **filled(server, "rates-before", lines))
    found = provider.history([N1], start=NOW - 120, end=NOW, step_seconds=30)
    assert found is not None
    assert found.values[NETWORK][:, 0] == pytest.approx([200.0] * 5)
    assert found.values[DISK][:, 0] == pytest.approx([0.1] * 5)


def test_names_of_measurements_fields_and_tags_may_be_others(server: InfluxDBServer) -> None:
    """Quotes and blanks in them too; and a field of use in place of one of idleness."""
    at = int(NOW * 1000)
    lines = [
        f'my\\ cpu,machine=n1,kind=it\'s\\ all busy\\ "share"=0.25 {at}',
        f"ram,machine=n1 free=30 {at}",
    ]
    provider = provider_at(
        server.address,
        **filled(server, "names", lines),
        hostTag="machine",
        cpu={"measurement": "my cpu", "field": 'busy "share"', "tags": {"kind": "it's all"}, "unit": "Fraction"},
        memory={"measurement": "ram", "field": "free", "isIdle": True},
    )
    found = provider.sample([N1], now=NOW, with_pods=False).nodes
    assert (found.values[CPU][0, 0], found.values[MEMORY][0, 0]) == pytest.approx((0.25, 0.7))


def test_what_looks_like_a_query_in_a_name_is_only_a_name(server: InfluxDBServer) -> None:
    """Nothing of an argument is ever run."""
    lines = list(telegraf("n1", [Load(NOW, 0.5, 0.5)]))
    argument = filled(server, "quoting", lines)
    hostile = provider_at(
        server.address,
        **argument,
        cpu={"measurement": 'cpu"; DROP DATABASE quoting; --', "field": "x", "tags": {"a": "' OR 1=1 --"}},
    )
    assert np.isnan(hostile.sample([N1], now=NOW, with_pods=False).nodes.values[CPU]).all()
    found = provider_at(server.address, **argument).sample([N1], now=NOW, with_pods=False).nodes
    assert found.values[CPU][0, 0] == pytest.approx(0.5)


def test_a_retention_policy_is_asked_by_name(server: InfluxDBServer) -> None:
    """Points of another than the default one are found only so."""
    argument = filled(server, "policies", ["mem,host=n1 used_percent=90 1"])
    server.ask('CREATE RETENTION POLICY "short" ON "policies" DURATION INF REPLICATION 1')
    server.write(telegraf("n1", [Load(NOW, 0.5, 0.5)]), "policies", rp="short")
    asked = provider_at(server.address, **argument, retentionPolicy="short")
    assert asked.sample([N1], now=NOW, with_pods=False).nodes.values[CPU][0, 0] == pytest.approx(0.5)
    default = provider_at(server.address, **argument).sample([N1], now=NOW, with_pods=False)
    assert np.isnan(default.nodes.values[CPU]).all()
    assert any("cpu.usage_idle" in warning for warning in default.warnings)


def test_pods_whose_containers_report_apart_are_summed(server: InfluxDBServer) -> None:
    """A container that has stopped reporting minutes ago is gone, and counts no more."""
    pod = "namespace=shop,pod_name=web"
    lines = [
        f"kubernetes_pod_container,{pod},container_name=a cpu_usage_nanocores=100000000i {int(NOW - 10) * 1000}",
        f"kubernetes_pod_container,{pod},container_name=b cpu_usage_nanocores=50000000i {int(NOW) * 1000}",
        f"kubernetes_pod_container,{pod},container_name=old cpu_usage_nanocores=900000000i {int(NOW - 250) * 1000}",
    ]
    found = provider_at(server.address, **filled(server, "pods", lines)).sample([N1], now=NOW, with_pods=True).pods
    assert found is not None
    assert found.pods == (PodKey("shop", "web"),)
    assert found.values[CPU].tolist() == [150.0]
    assert np.isnan(found.values[MEMORY]).all()
    assert found.measured_at.tolist() == [NOW - 10]


def test_an_unknown_database_is_named(server: InfluxDBServer) -> None:
    """As the server says it."""
    with pytest.raises(MetricsError, match="database not found: nowhere"):
        provider_at(server.address, database="nowhere").sample([N1], now=NOW, with_pods=False)


def test_an_answer_cut_short_is_no_whole_answer(tmp_path: Path) -> None:
    """With fewer rows allowed than there are hosts the sample says that it is partial, and a history is refused."""
    with influxdb_server(tmp_path, rows=2) as limited:
        names = [f"n{at}" for at in range(5)]
        limited.write(
            line for name in names for line in telegraf(name, [Load(NOW, 0.5, 0.5), Load(NOW - 15, 0.5, 0.5)])
        )
        provider = provider_at(limited.address)
        found = provider.sample([node(name) for name in names], now=NOW, with_pods=False)
        assert found.is_partial
        assert any("max-row-limit" in warning for warning in found.warnings)
        with pytest.raises(MetricsError, match="max-row-limit"):
            provider.history([node(name) for name in names], start=NOW - 60, end=NOW, step_seconds=15)


def test_users_and_passwords(tmp_path: Path) -> None:
    """With basic auth the provider is let in; with a wrong password the error says so, and not the password."""
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text("p:ss\n")
    bad.write_text(SECRET)
    (tmp_path / "db").mkdir()
    with influxdb_server(tmp_path / "db", auth=True) as closed:
        closed.write(telegraf("n1", [Load(NOW, 0.5, 0.5)]), u="admin", p="p:ss")
        let_in = provider_at(closed.address, basicAuth={"username": "admin", "password": {"file": str(good)}})
        assert let_in.sample([N1], now=NOW, with_pods=False).nodes.values[CPU][0, 0] == pytest.approx(0.5)
        shut_out = provider_at(closed.address, basicAuth={"username": "admin", "password": {"file": str(bad)}})
        with pytest.raises(MetricsError, match="401") as caught:
            shut_out.sample([N1], now=NOW, with_pods=False)
        assert SECRET not in str(caught.value)
