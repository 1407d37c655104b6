"""Any JSON at all is either a sample or a MetricsError, never another exception."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rescheduler.adapters.kubernetes.client.connection import Response
from rescheduler.adapters.metrics.custom_metrics import CustomMetricsArguments, CustomMetricsProvider
from rescheduler.adapters.metrics.metrics_server import MetricsServerArguments, MetricsServerProvider
from rescheduler.adapters.metrics.prometheus.prometheus import PrometheusProvider
from rescheduler.adapters.metrics.prometheus.prometheus_arguments import PrometheusArguments
from rescheduler.adapters.metrics.recorded import RecordedProvider
from rescheduler.extension_points import MetricsError, MetricsProvider
from tests.builders import NOW, node

NODES = [node("n1"), node("n2")]
TEXTS = st.sampled_from(["n1", "n1:9100", "n2", "", "NaN", "1", "-1", "1e400", "1Gi", "\x00", "2026-01-01T00:00:00Z"])
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6
)


def mostly(likely: Any) -> Any:
    """What belongs there, or anything else."""
    return st.one_of(likely, likely, likely, ANYTHING)


def fields(**likely: Any) -> Any:
    """An object with these fields, each of which may be missing or anything."""
    return mostly(st.fixed_dictionaries({}, optional={name: mostly(value) for name, value in likely.items()}))


LABELS = fields(instance=TEXTS, node=TEXTS, namespace=TEXTS, pod=TEXTS)
POINT = mostly(st.tuples(st.floats(0, 2 * NOW), TEXTS).map(list))
SERIES = fields(metric=LABELS, value=POINT, values=st.lists(POINT, max_size=3))
ANSWER = fields(
    status=st.just("success"),
    data=fields(resultType=st.sampled_from(["vector", "matrix"]), result=st.lists(SERIES, max_size=4)),
    warnings=st.lists(TEXTS, max_size=2),
    isPartial=st.booleans(),
)
USAGE = fields(cpu=TEXTS, memory=TEXTS)
ITEM = fields(
    metadata=fields(name=TEXTS, namespace=TEXTS),
    timestamp=TEXTS,
    usage=USAGE,
    containers=st.lists(fields(usage=USAGE), max_size=2),
    describedObject=fields(kind=st.just("Node"), name=TEXTS),
    value=TEXTS,
)
LIST = fields(items=st.lists(ITEM, max_size=4))
READING = fields(
    type=st.sampled_from(["CPU", "Memory"]),
    operator=st.sampled_from(["AVG", "Latest"]),
    value=st.floats(allow_nan=False, allow_infinity=False),
)
REPORT = fields(
    timestamp=st.integers(),
    window=fields(start=st.just(0), end=st.floats(0, 2 * NOW)),
    data=fields(NodeMetricsMap=st.dictionaries(TEXTS, fields(metrics=st.lists(READING, max_size=3)), max_size=3)),
)


class PlayedSession:
    """A session that answers everything alike."""

    address = "http://played"

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def post_form(self, path: str, data: Any) -> Any:
        """The answer."""
        return self._answer

    def error(self, text: str) -> MetricsError:
        """As HttpSession."""
        return MetricsError(text)


class PlayedConnection:
    """A connection that answers everything alike."""

    server = "https://played"

    def __init__(self, answer: Any) -> None:
        self._answer = msgspec.json.encode(answer)

    def send(self, method: str, path: str, **_: Any) -> Response:
        """The answer."""
        return Response(200, {}, self._answer)

    def without_credentials(self, text: str) -> str:
        """As Connection."""
        return text


def must_hold(provider: MetricsProvider) -> None:
    """A whole sample, or a MetricsError."""
    try:
        sample = provider.sample(NODES, now=NOW, with_pods=True)
        provider.history(NODES, start=NOW - 60, end=NOW, step_seconds=15)
    except MetricsError:
        return
    assert sample.nodes.nodes == ("n1", "n2")
    assert all(array.shape == (1, 2) for array in sample.nodes.values.values())
    for name in sample.unusable:
        assert all(np.isnan(array[0, sample.nodes.nodes.index(name)]) for array in sample.nodes.values.values())
    known = np.isfinite(np.array(list(sample.nodes.values.values()))).any(axis=0)
    assert np.isfinite(sample.nodes.measured_at[known]).all()  # no value without its time
    assert all(warning.isprintable() for warning in sample.warnings)


@given(ANSWER)
@example(
    {"status": "success", "data": {"resultType": "vector", "result": [{"metric": {"instance": 5}, "value": [1, "1"]}]}}
)
def test_prometheus(answer: Any) -> None:
    """Instant and range queries."""
    arguments = PrometheusArguments(address="http://played")
    must_hold(PrometheusProvider(arguments, PlayedSession(answer)))  # type: ignore[arg-type]


@given(LIST)
def test_resource_metrics(answer: Any) -> None:
    """Nodes and pods."""
    must_hold(MetricsServerProvider(MetricsServerArguments(), PlayedConnection(answer)))  # type: ignore[arg-type]


@given(LIST)
def test_custom_metrics(answer: Any) -> None:
    """Nodes."""
    must_hold(CustomMetricsProvider(CustomMetricsArguments(), PlayedConnection(answer)))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file to write recordings into."""
    return tmp_path_factory.mktemp("recorded") / "load.json"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mostly(st.one_of(REPORT, st.lists(REPORT, max_size=3))))
def test_recordings(file: Path, document: Any) -> None:
    """One answer or several."""
    file.write_bytes(msgspec.json.encode(document))
    must_hold(RecordedProvider(file))
