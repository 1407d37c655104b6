"""A real Prometheus that scrapes a daemon and the API server and evaluates the shipped rules, sixty times as fast."""

from __future__ import annotations

import json
import os
import re
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.daemon_process import SHORT_LEASE
from tests.cluster.plane.control_plane import ADMINISTRATORS, ControlPlane
from tests.cluster.plane.kubeconfig import read_kubeconfig
from tests.cluster.plane.ports import free_port
from tests.cluster.waiting import wait_until
from tests.metrics.prometheus_server import prometheus_server
from tests.paths import DEPLOY

RULES = DEPLOY / "monitoring" / "rules.yaml"
PENDING = "{name: PendingPods, args: {olderThan: 1s, debounce: 1s}}"
EVERY_TWO = "{name: Schedule, args: {every: 2s}}"
slow = pytest.mark.skipif("EVERY_ALERT" not in os.environ, reason="minutes: make alerts runs it")
JOB, NAMESPACE = "rescheduler", "rescheduler-system"
_UNITS = {"s": 1, "m": 60, "h": 3600}
AGES = {"> 300": "> 8", "> 900": "> 30", "> 1800": "> 30"}
"""Ages that a test cannot wait for; that of watches stays, as one that is quiet is a minute old at times."""


TIMES = 60
"""How many times shorter ranges are than those that are shipped."""
TIMES_OF = {"ReschedulerEvictsMuch": 10}
"""But these: a run paces what it asks of the API server, so that a hundred evictions take it minutes."""


def hurried(rules: str) -> str:
    """The rules as they are, but for their times: sixty times shorter in ``for`` and in ranges, and ages by a table.

    ``for: 24h`` becomes ten seconds. Expressions, labels, thresholds of counts and texts stay as they are shipped.
    """

    found = yaml.safe_load(rules)
    for group in found["groups"]:
        for rule in group["rules"]:
            times = TIMES_OF.get(rule.get("alert", ""), TIMES)
            rule["expr"] = re.sub(r"\[(\d+[smh])\]", partial(_shorter, times), rule["expr"])
            if "for" in rule:
                rule["for"] = f"{min(seconds(rule['for']) / 60, 10):.0f}s"
            for age, shorter in AGES.items():
                rule["expr"] = re.sub(rf"{age}\b", shorter, rule["expr"])
    return yaml.safe_dump(found, sort_keys=False)


def _shorter(times: int, found: re.Match[str]) -> str:
    return f"[{seconds(found[1]) / times:.0f}s]"


def seconds(text: str) -> int:
    """A time such as ``15m`` in seconds."""
    return int(text[:-1]) * _UNITS[text[-1]]


class Prometheus:
    """What it has scraped, and which alerts fire. ``daemon``: address at which it expects the daemon's metrics."""

    def __init__(self, url: str, daemon: str) -> None:
        self.url = url
        self.daemon = daemon

    def ask(self, route: str, **query: str | float) -> Any:
        """What its HTTP API answers: the data."""
        target = f"{self.url}/api/v1/{route}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(target, timeout=30) as answer:
            found = json.load(answer)
        assert found["status"] == "success", found
        return found["data"]

    def value(self, expression: str) -> float | None:
        """An instant query's one value; None for nothing."""
        found = self.ask("query", query=expression)["result"]
        return float(found[0]["value"][1]) if found else None

    def wait_value(self, expression: str, *, timeout_seconds: float = 60.0) -> None:
        """Wait until an expression has a value: a comparison has one where it holds."""
        self._wait(lambda: self.value(expression) is not None, expression, timeout_seconds)

    def firing(self) -> dict[str, dict[str, Any]]:
        """Alerts that fire now, by name."""
        found = self.ask("alerts")["alerts"]
        return {alert["labels"]["alertname"]: alert for alert in found if alert["state"] == "firing"}

    def wait_firing(self, alert: str, *, timeout_seconds: float = 90.0) -> dict[str, Any]:
        """Wait until it fires; its labels and texts."""
        self._wait(lambda: alert in self.firing(), f"{alert} to fire", timeout_seconds)
        return self.firing()[alert]

    def wait_over(self, *alerts: str, timeout_seconds: float = 120.0) -> None:
        """Wait until none of them fires any more."""
        self._wait(lambda: not set(alerts) & set(self.firing()), f"{alerts} to end", timeout_seconds)

    def _wait(self, is_so: Callable[[], bool], what: str, timeout_seconds: float) -> None:
        def told() -> str:
            states = {alert["labels"]["alertname"]: alert["state"] for alert in self.ask("alerts")["alerts"]}
            return f"{what}; there are {states}"

        wait_until(is_so, told, timeout_seconds=timeout_seconds)


def policy(prometheus: Prometheus, *more: str, mode: str = "Execute", triggers: str = PENDING) -> str:
    """What a policy says whose daemon is scraped."""
    telemetry = f"telemetry: {{address: '{prometheus.daemon}'}}"
    return "\n".join([f"mode: {mode}", f"triggers: [{triggers}]", telemetry, SHORT_LEASE, *more])


@contextmanager
def watching(plane: ControlPlane, folder: Path) -> Iterator[Prometheus]:
    """Prometheus over a daemon that may come and go at one address, and over the API server, every second."""
    daemon = f"127.0.0.1:{free_port()}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rules.yaml").write_text(hurried(RULES.read_text(encoding="utf-8")))
    access = read_kubeconfig(plane.user_kubeconfig("prometheus", (ADMINISTRATORS,)))
    assert access.identity is not None
    identity = {
        "ca_file": str(access.authority), "cert_file": str(access.identity.certificate),
        "key_file": str(access.identity.key),
    }  # fmt: skip
    labels = {"namespace": NAMESPACE}
    configuration = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(folder / "rules.yaml")],
        "scrape_configs": [
            {"job_name": JOB, "static_configs": [{"targets": [daemon], "labels": labels}]},
            {
                "job_name": "apiserver", "scheme": "https", "tls_config": identity, "scrape_interval": "3s",
                "scrape_timeout": "3s", "static_configs": [{"targets": [access.server.removeprefix("https://")]}],
            },
        ],
    }  # fmt: skip
    with prometheus_server(folder / "prometheus", [], scrapes=yaml.safe_dump(configuration)) as url:
        yield Prometheus(url, daemon)
