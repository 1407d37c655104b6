"""Cases of the client contract: what the watcher knows, what is asked, and the file that holds the exact answer.

``python -m tests.unit.daemon.api.golden_cases`` writes the files anew; each change of theirs is one that clients see.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rescheduler.daemon.load_watcher.app import create_app
from rescheduler.model.usage.trust import Trust, TrustState
from rescheduler.usage.collecting.collected import Collected
from rescheduler.usage.collecting.provider_health import ProviderHealth
from tests.clocks import FakeClock
from tests.unit.daemon.api.asking import Answer, ask
from tests.unit.daemon.api.records import NAN, NOW, SetSource, collected, pods_using

FOLDER = Path(__file__).parent / "golden"
LOAD: Mapping[str, Mapping[str, float]] = {
    "node-1": {"average": 42.5, "deviation": 3.25, "latest": 45.0, "maximum": 61.0, "minimum": 30.0},
    "node-2": {"average": 0.0, "deviation": 0.0, "latest": 0.0},
    "ip-10-0-0-3.ec2.internal": {"average": 1e-7, "deviation": 100.0, "latest": 120.0},
}
ONE_SAMPLE = {name: {"latest": row["latest"]} for name, row in LOAD.items()}


class Case(NamedTuple):
    """One request and all that decides its answer."""

    known: Collected
    target: str = "/watcher"
    method: str = "GET"
    later: float = 0.0
    token: str | None = None

    @property
    def answer(self) -> Answer:
        """What is answered."""
        token = self.token
        read_token = None if token is None else (lambda: token)
        app = create_app(SetSource(self.known), FakeClock(NOW + self.later), interval=15.0, read_token=read_token)
        return ask(app, self.target, self.method)


def told(answer: Answer) -> bytes:
    """Status, content type and body, as a file holds them."""
    return f"{answer.status}\n{answer.type}\n\n".encode() + answer.body


def _of(source: str, nodes: Mapping[str, Mapping[str, float]] = LOAD, **fields: Any) -> Collected:
    health = ProviderHealth(source, answered_at=NOW, is_used=True)
    return collected(nodes, **{"source": source, "providers": (health,), **fields})


def _failing() -> Collected:
    failed = ProviderHealth("Prometheus", error="Prometheus at http://prometheus:9090: no answer within 10s")
    return _of("Prometheus", providers=(failed,), trust=dict.fromkeys(LOAD, Trust(TrustState.STALE, "400s old")))


CASES: Mapping[str, Case] = {
    "prometheus": Case(_of("Prometheus")),
    "metrics_server_first_sample": Case(_of("MetricsServer", ONE_SAMPLE)),
    "metrics_server": Case(_of("MetricsServer")),
    "custom_metrics": Case(_of("CustomMetrics")),
    "elasticsearch": Case(_of("Elasticsearch")),
    "influxdb": Case(_of("InfluxDB")),
    "signalfx": Case(_of("SignalFx")),
    "datadog": Case(_of("Datadog")),
    "recorded": Case(_of("Recorded")),
    "one_node_by_query": Case(_of("Prometheus"), "/watcher?host=node-2"),
    "one_node_by_path": Case(_of("Prometheus"), "/watcher/ip-10-0-0-3.ec2.internal"),
    "ten_minutes_at_most": Case(_of("Prometheus", windows=(300.0, 600.0))),
    "five_minutes_at_most": Case(_of("Prometheus", windows=(300.0,))),
    "window_asked_for": Case(_of("Prometheus"), "/watcher?window=5m"),
    "pods_asked_for": Case(_of("Prometheus", **pods_using(("web-1", "node-1", 500.0, NAN))), "/watcher?pods=true"),
    "all_statistics_asked_for": Case(_of("Prometheus"), "/watcher?statistics=all&host=node-1"),
    "untrusted_node": Case(_of("Prometheus", trust={"node-1": Trust(TrustState.FROZEN, "3 samples alike")})),
    "failure_untrusted_host": Case(
        _of("Prometheus", trust={"node-1": Trust(TrustState.FROZEN, "3 samples alike")}), "/watcher?host=node-1"
    ),
    "failure_unknown_host": Case(_of("Prometheus"), "/watcher?host=node-9"),
    "failure_unknown_host_by_path": Case(_of("Prometheus"), "/watcher/node-9"),
    "failure_nothing_collected_yet": Case(Collected(0.0)),
    "failure_provider_for_long": Case(_failing()),
    "failure_collector_dead": Case(_of("Prometheus"), later=301.0),
    "failure_wrong_window": Case(_of("Prometheus"), "/watcher?window=quarter"),
    "failure_no_such_window": Case(_of("Prometheus"), "/watcher?window=1h"),
    "failure_no_such_page": Case(_of("Prometheus"), "/watcher/node-1/cpu"),
    "failure_wrong_method": Case(_of("Prometheus"), method="POST"),
    "failure_no_token": Case(_of("Prometheus"), token="secret"),
    "health_well": Case(_of("Prometheus"), "/watcher/health"),
    "health_provider_fails": Case(_failing(), "/watcher/health"),
    "health_without_a_token": Case(_of("Prometheus"), "/watcher/health", token="secret"),
    "head": Case(_of("Prometheus"), method="HEAD"),
}

if __name__ == "__main__":
    for name, case in CASES.items():
        (FOLDER / f"{name}.txt").write_bytes(told(case.answer))
