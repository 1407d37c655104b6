"""DatadogProvider against answers in the form of Datadog's API, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from rescheduler.adapters.metrics.datadog import DatadogArguments, DatadogProvider, datadog_headers
from rescheduler.adapters.metrics.http.http_session import http_session
from rescheduler.model.objects.node import Node
from tests.builders import NOW
from tests.loopback_server import Answer, Request, json_answer, loopback_server
from tests.metrics.contract import SECRET, TIMEOUT_SECONDS, ProviderContract, Scene
from tests.metrics.minute_points import minutes


def answered(scene: Scene, request: Request) -> Answer:
    """What Datadog would answer over this scene: all series over the same times, null where one has no point."""
    if (request.headers.get("dd-api-key"), request.headers.get("dd-application-key")) != (SECRET, SECRET):
        return json_answer({"errors": ["Forbidden"]}, 403)
    asked = msgspec.json.decode(request.body)["data"]["attributes"]
    found = list(minutes(scene, asked["from"], asked["to"], asked["interval"]))
    times = sorted({at for one in found for at, _ in one.points})
    metrics = [query["query"].partition(":")[2].partition("{")[0] for query in asked["queries"]]
    series = [{"group_tags": [f"host:{one.host}"], "query_index": metrics.index(one.metric)} for one in found]
    values = [[dict(one.points).get(at) for at in times] for one in found]
    attributes = {"series": series, "times": times, "values": values}
    return json_answer({"data": {"id": "0", "type": "timeseries_response", "attributes": attributes}})


class DatadogWorld:
    """A loopback server of its own for each scene."""

    tolerance = 1e-9
    lag = 60.0
    has_history = has_rivals = True
    has_pods = False

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.now = NOW + 37.0  # within a minute
        self._stack = stack
        self._key = folder / "key"
        self._key.write_text(f"{SECRET}\n")

    def provider(self, scene: Scene, nodes: Sequence[Node]) -> DatadogProvider:
        """As World."""
        return self.reaching(self._stack.enter_context(loopback_server(lambda asked: answered(scene, asked))).address)

    def reaching(self, address: str) -> DatadogProvider:
        """As World."""
        key = {"file": str(self._key)}
        read = DatadogArguments.model_validate(
            {"address": address, "apiKey": key, "applicationKey": key, "timeout": f"{TIMEOUT_SECONDS}s"}
        )
        headers = datadog_headers(read)
        return DatadogProvider(
            read, http_session(read, None, provider="Datadog", address=address, secret_headers=headers)
        )


class TestDatadog(ProviderContract):
    """Every promise of providers."""

    @pytest.fixture
    def world(self, tmp_path: Path) -> Iterator[DatadogWorld]:
        """A world whose servers end with the test."""
        with ExitStack() as stack:
            yield DatadogWorld(tmp_path, stack)
