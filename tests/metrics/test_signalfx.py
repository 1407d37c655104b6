"""SignalFxProvider against answers in the forms of SignalFx's API, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from rescheduler.adapters.metrics.http.http_session import http_session
from rescheduler.adapters.metrics.signalfx import SignalFxArguments, SignalFxProvider, signalfx_headers
from rescheduler.model.objects.node import Node
from tests.builders import NOW
from tests.loopback_server import Answer, Request, json_answer, loopback_server
from tests.metrics.contract import SECRET, TIMEOUT_SECONDS, ProviderContract, Scene
from tests.metrics.minute_points import minutes


def answered(scene: Scene, request: Request) -> Answer:
    """What SignalFx would answer over this scene."""
    if request.headers.get("x-sf-token") != SECRET:
        return json_answer({"message": "Unauthorized"}, 401)
    query = request.query
    wanted = query["query"].rpartition('sf_metric:"')[2].rstrip('"')
    start, end = float(query.get("startMs", 0)), float(query.get("endMs", 1e15))
    found = [one for one in minutes(scene, start, end, int(query.get("resolution", 60000))) if one.metric == wanted]
    if request.route == "/v1/timeserieswindow":
        return json_answer({"data": {one.identity: one.points for one in found if one.points}, "errors": []})
    results = [{"id": one.identity, "metric": wanted, "dimensions": {"host": one.host}} for one in found]
    return json_answer({"count": len(results), "partialCount": False, "results": results})


class SignalFxWorld:
    """A loopback server of its own for each scene."""

    tolerance = 1e-9
    lag = 60.0
    has_history = has_rivals = True
    has_pods = False

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.now = NOW + 37.0  # within a minute
        self._stack = stack
        self._token = folder / "token"
        self._token.write_text(f"{SECRET}\n")

    def provider(self, scene: Scene, nodes: Sequence[Node]) -> SignalFxProvider:
        """As World."""
        return self.reaching(self._stack.enter_context(loopback_server(lambda asked: answered(scene, asked))).address)

    def reaching(self, address: str) -> SignalFxProvider:
        """As World."""
        read = SignalFxArguments.model_validate(
            {"address": address, "token": {"file": str(self._token)}, "timeout": f"{TIMEOUT_SECONDS}s"}
        )
        headers = signalfx_headers(read)
        return SignalFxProvider(
            read, http_session(read, None, provider="SignalFx", address=address, secret_headers=headers)
        )


class TestSignalFx(ProviderContract):
    """Every promise of providers."""

    @pytest.fixture
    def world(self, tmp_path: Path) -> Iterator[SignalFxWorld]:
        """A world whose servers end with the test."""
        with ExitStack() as stack:
            yield SignalFxWorld(tmp_path, stack)
