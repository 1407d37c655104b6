"""Reads the metrics APIs that a cluster serves itself, through the connection to its API server."""

from __future__ import annotations

from concurrent.futures import wait
from math import nan
from typing import Final, TypeVar

import msgspec

from rescheduler.adapters.background import in_background
from rescheduler.adapters.kubernetes.client.connection import Connection, Response
from rescheduler.adapters.kubernetes.client.failures import NotServedError, refusal
from rescheduler.extension_points import ClusterError, MetricsError
from rescheduler.model.objects.resources import QuantityError, parse_quantity
from rescheduler.model.printable import printable
from rescheduler.model.times import read_time

_CONNECT_SECONDS: Final = 5.0
_UNAUTHORIZED: Final = 401

Document = TypeVar("Document")


class NotServedMetricsError(MetricsError):
    """The cluster has no such metrics API, or nothing to say there (404)."""


class ClusterMetrics:
    """The metrics APIs of one cluster, asked once and not for long: a missed sample is asked for again soon."""

    def __init__(self, connection: Connection, provider: str, timeout_seconds: float) -> None:
        self._connection = connection
        self._provider = provider
        self._timeout = timeout_seconds

    def read(self, path: str, wanted: type[Document]) -> Document:
        """The decoded answer to a GET. Raises MetricsError, NotServedMetricsError on 404."""
        try:
            body = self._body(path)
        except NotServedError as error:
            raise NotServedMetricsError(self._told(error)) from None
        except ClusterError as error:
            raise MetricsError(self._told(error)) from None
        try:
            return msgspec.json.decode(body, type=wanted)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._error(f"the answer to GET {path} cannot be read: {printable(str(error), 200)}") from None

    def _body(self, path: str) -> bytes:
        answer = in_background(lambda: self._asked(path), "metrics-request")
        wait([answer], timeout=self._timeout)
        if not answer.done():
            raise self._error(f"no whole answer to GET {path} within {self._timeout:g} s")
        response = answer.result()
        if not 200 <= response.status < 300:
            server = self._connection.server
            raise refusal(server, "this account", "GET", path, response.status, response.body)
        return response.body

    def _asked(self, path: str) -> Response:
        timeout = (min(_CONNECT_SECONDS, self._timeout), self._timeout)
        response = self._connection.send("GET", path, timeout=timeout)
        if response.status != _UNAUTHORIZED:
            return response
        return Response(200, {}, self._connection.get(path))  # reads the credentials afresh

    def _told(self, error: ClusterError) -> str:
        return self._connection.without_credentials(f"{self._provider}: {error}")

    def _error(self, text: str) -> MetricsError:
        return MetricsError(f"{self._provider} at {self._connection.server}: {text}")


def measured_amount(text: object) -> tuple[float, str]:
    """A quantity as a number, or NaN with the reason; a negative one stays, for others to judge."""
    if not isinstance(text, str):
        return nan, f"{printable(repr(text), 40)} is no quantity"
    try:
        return (-1.0 if text.startswith("-") else 1.0) * float(parse_quantity(text.removeprefix("-"))), ""
    except QuantityError as error:
        return nan, printable(str(error), 200)


def measured_time(text: str | None) -> float:
    """Seconds since the epoch; NaN for what is no time."""
    found = read_time(text) if text else None
    return nan if found is None else found
