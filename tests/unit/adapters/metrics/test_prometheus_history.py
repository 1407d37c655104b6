"""History from a Prometheus: in pieces that fit together and that the server can answer."""

from __future__ import annotations

import numpy as np
import pytest

from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.resources import CPU
from tests.builders import NOW
from tests.loopback_server import SILENT, Answer, Request, loopback_server
from tests.unit.adapters.metrics.prometheus_answers import BOTH, NODES, answering, provider_at, rules


def test_a_partial_history_is_refused() -> None:
    """Gaps in it would look like the truth for a whole window."""
    with loopback_server(answering(BOTH, warnings=["store 2 is gone"])) as server:
        provider = provider_at(server.address)
        with pytest.raises(MetricsError, match="store 2 is gone"):
            provider.history(NODES, start=NOW - 60, end=NOW, step_seconds=15)


def test_a_history_comes_in_pieces_that_fit_together() -> None:
    """Each answer holds a limited number of points."""
    known = rules({f"n{number}": "0.25" for number in (1, 2)})
    with loopback_server(answering(known)) as server:
        provider = provider_at(server.address, timeout="60s")  # a busy machine makes no smaller pieces
        found = provider.history(NODES, start=NOW - 6000 * 15, end=NOW, step_seconds=15)
    assert found is not None
    assert found.values[CPU].shape == (6001, 2)
    assert (found.values[CPU] == 0.25).all()
    spans = {(request.form["start"], request.form["end"]) for request in server.requests}
    assert len(spans) == 2


def test_a_history_is_asked_for_in_smaller_pieces_where_it_takes_too_long() -> None:
    """Rates over thousands of nodes can be more than a server computes in time; in the end all is there."""
    answers = answering(BOTH)

    def answer(request: Request) -> Answer:
        form = request.form
        is_too_much = "start" in form and int(form["end"]) - int(form["start"]) > 1000
        return Answer(fault=SILENT) if is_too_much else answers(request)

    with loopback_server(answer) as server:
        provider = provider_at(server.address, timeout="200ms")
        found = provider.history(NODES, start=NOW - 3000, end=NOW, step_seconds=15)
    assert found is not None
    assert found.values[CPU].shape == (201, 2)
    assert np.isfinite(found.values[CPU]).all()


def test_a_history_that_never_comes_is_an_error() -> None:
    """Smaller and smaller questions end."""
    with loopback_server(lambda _: Answer(fault=SILENT)) as server:
        provider = provider_at(server.address, timeout="100ms")
        with pytest.raises(MetricsError, match="gave no whole answer"):
            provider.history(NODES, start=NOW - 3000, end=NOW, step_seconds=15)
        assert len(server.requests) < 10
