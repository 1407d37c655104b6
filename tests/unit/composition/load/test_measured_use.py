"""Measured use for the cycles of a daemon: asked anew for each, and a source that fails is told and chooses nobody."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.composition.live.descheduling import ChosenVictims, round_plan
from rescheduler.composition.load.measured_use import reading_measured_use
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy, read_descheduler_policy
from rescheduler.disruption.eligibility_context import EVERYTHING
from rescheduler.model.daemon.ledger import EMPTY_LEDGER
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.schedulers import DEFAULTS
from tests.builders import cluster, node, pod
from tests.loopback_server import Answer, Request, json_answer, loopback_server
from tests.unit.adapters.metrics.kubernetes_worlds import connection_to

FILE = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
metricsProviders: [{PROVIDER}]
profiles:
- name: p
  pluginConfig:
  - name: LowNodeUtilization
    args: {thresholds: {KEY: 30}, targetThresholds: {KEY: 50}, metricsUtilization: {METRICS}}
  plugins: {balance: {enabled: [LowNodeUtilization]}}
"""
QUERY = "instance:node_cpu:ratio"


def kubernetes_metrics() -> DeschedulerPolicy:
    """A file that goes by NodeMetrics and PodMetrics."""
    text = FILE.replace("PROVIDER", "source: KubernetesMetrics").replace("METRICS", "source: KubernetesMetrics")
    return read_descheduler_policy(text.replace("KEY", "cpu"), "d.yaml")


def prometheus(address: str) -> DeschedulerPolicy:
    """A file that goes by one query, with a token that stands in a Secret."""
    secret = "authToken: {secretReference: {namespace: monitoring, name: prometheus}}"
    provider = f"source: Prometheus, prometheus: {{url: '{address}', {secret}}}"
    text = FILE.replace("PROVIDER", provider).replace(
        "METRICS", f"source: Prometheus, prometheus: {{query: '{QUERY}'}}"
    )
    return read_descheduler_policy(text.replace("KEY", "MetricResource"), "d.yaml")


@dataclass
class Servers:
    """What the API server and Prometheus answer, as a test changes it. ``busy``: use of node a, in cores."""

    busy: float = 3.2
    status: int = 200
    tokens: list[str] = field(default_factory=list)

    def __call__(self, request: Request) -> Answer:
        """By route."""
        if request.route.endswith("/secrets/prometheus"):
            return json_answer({"data": {"prometheusAuthToken": base64.b64encode(b"of-the-secret").decode()}})
        if self.status != 200:
            return Answer(b"{}", self.status)
        if request.route == "/api/v1/query":
            self.tokens.append(request.headers["authorization"])
            assert request.form == {"query": QUERY}
            rows = [
                {"metric": {"instance": name}, "value": [1, str(cores / 4)]}
                for name, cores in (("a", self.busy), ("b", 0.1))
            ]
            return json_answer({"status": "success", "data": {"resultType": "vector", "result": rows}})
        used = {"cpu": f"{self.busy / 4}", "memory": "1Mi"}
        if request.route.endswith("/pods"):
            names = (f"web-{number}" for number in range(4))
            items = [
                {"metadata": {"name": name, "namespace": "default"}, "containers": [{"usage": used}]} for name in names
            ]
            return json_answer({"items": items})
        amounts = {"a": f"{self.busy}", "b": "100m"}
        return json_answer(
            {"items": [{"metadata": {"name": name}, "usage": {**used, "cpu": cpu}} for name, cpu in amounts.items()]}
        )


def crowd() -> Cluster:
    """Four pods that request next to nothing, on one of two nodes."""
    return cluster(node("a"), node("b"), *(pod(f"web-{number}", "1m", node="a", owner="web") for number in range(4)))


@contextmanager
def cycles(folder: Path, written: Callable[[str], DeschedulerPolicy]) -> Iterator[tuple[Servers, Callable[[], Plan]]]:
    """One cycle after the other, as the daemon walks them; and what the servers say meanwhile."""
    servers = Servers()
    with loopback_server(servers) as server:
        connection_to(server.address, folder)
        where = ClusterOptions(kubeconfig=str(folder / "kubeconfig"))
        policy = written(server.address)
        read = reading_measured_use(crowd, policy, where, print)
        chosen = ChosenVictims(policy, Policy(), EVERYTHING, DEFAULTS)
        yield servers, lambda: round_plan(read(), chosen, EMPTY_LEDGER, {}, None)


def tried(plan: Plan) -> int:
    """How many pods the plugin chose, whatever our own rules say of them."""
    return len(plan.moves) + len(plan.refusals)


def test_each_cycle_goes_by_what_the_metrics_api_says_then(tmp_path: Path) -> None:
    """A node that was too busy and is not any more gives up nobody."""
    with cycles(tmp_path, lambda _: kubernetes_metrics()) as (servers, cycle):
        assert tried(cycle()) == 2
        servers.busy = 1.0
        assert tried(cycle()) == 0


def test_a_metrics_api_that_fails_is_told_and_chooses_nobody(tmp_path: Path) -> None:
    """Not even by what it said in the cycle before; and once it answers again the plugin goes on."""
    with cycles(tmp_path, lambda _: kubernetes_metrics()) as (servers, cycle):
        assert tried(cycle()) == 2
        servers.status = 503
        failed = cycle()
        assert tried(failed) == 0
        assert "503" in failed.objectives[0].message
        assert any("LowNodeUtilization" in text and "503" in text for text in failed.warnings)
        servers.status = 200
        assert tried(cycle()) == 2


def test_each_cycle_asks_prometheus_anew_with_the_token_of_the_secret(tmp_path: Path) -> None:
    """One pod a cycle where the node is above its target; none, and the reason, where the server fails."""
    with cycles(tmp_path, prometheus) as (servers, cycle):
        assert (tried(cycle()), tried(cycle())) == (1, 1)
        assert servers.tokens == ["Bearer of-the-secret"] * 2
        servers.status = 500
        failed = cycle()
        assert tried(failed) == 0
        assert "500" in failed.objectives[0].message
        servers.status, servers.busy = 200, 1.0
        assert tried(cycle()) == 0
