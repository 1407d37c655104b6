"""Providers of InfluxDB before a server that answers as a test says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rescheduler.adapters.metrics.http.http_session import http_session
from rescheduler.adapters.metrics.influxdb.influxdb import InfluxDBProvider, influxdb_headers
from rescheduler.adapters.metrics.influxdb.influxdb_arguments import InfluxDBArguments
from tests.loopback_server import Answer, LoopbackServer, Request, json_answer, loopback_server


@contextmanager
def influxdb(
    answer: Callable[[Request], Answer], **arguments: object
) -> Iterator[tuple[InfluxDBProvider, LoopbackServer]]:
    """A provider, and the server that it asks."""
    with loopback_server(answer) as server:
        read = InfluxDBArguments.model_validate({"address": server.address, **arguments})
        headers = influxdb_headers(read)
        session = http_session(read, None, provider="InfluxDB", address=server.address, secret_headers=headers)
        yield InfluxDBProvider(read, session), server


def rows(*found: Mapping[str, Any], **further: Any) -> Answer:
    """One result of these series."""
    return json_answer({"results": [{"statement_id": 0, "series": list(found), **further}]})


def row(values: Sequence[Sequence[Any]], **tags: str) -> dict[str, Any]:
    """One series."""
    return {"name": "m", "tags": tags, "columns": ["time", "value"], "values": values}


def about(request: Request, measurement: str) -> bool:
    """Whether a query is about a measurement."""
    return f'FROM "{measurement}" ' in request.form["q"]
