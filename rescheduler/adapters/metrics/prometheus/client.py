"""prometheus-api-client over our session: queries in the body, with a limit, and nothing of an answer lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec
from prometheus_api_client import PrometheusConnect

from rescheduler.adapters.metrics.http.http_session import HttpSession
from rescheduler.extension_points import MetricsError
from rescheduler.model.printable import printable

_MOST_WARNINGS: Final = 10
# Remarks on the query itself begin so; any other warning is about series that are missing.
_REMARK: Final = "PromQL "


class _InstantSeries(msgspec.Struct, gc=False):
    metric: dict[str, str]
    value: tuple[float, Any]


class _RangeSeries(msgspec.Struct, gc=False):
    metric: dict[str, str]
    values: list[tuple[float, Any]]


class Row(NamedTuple):
    """One series of an answer: its labels and its (time, value as text) pairs."""

    labels: Mapping[str, str]
    points: Sequence[tuple[float, Any]]


class _Answer:
    """What the client looks at of a response; the session has refused every status but 2xx before."""

    status_code = 200
    ok = True

    def __init__(self, decoded: Mapping[str, Any]) -> None:
        self._decoded = decoded

    def json(self) -> Mapping[str, Any]:
        return self._decoded


class _QuerySession:
    """Our session as the client uses one, with what the client lacks: a body for queries, and the whole answer."""

    cert = None
    verify = True

    def __init__(self, http: HttpSession, timeout_seconds: float) -> None:
        self._http = http
        self._timeout = f"{max(1, round(timeout_seconds * 1000))}ms"
        self.warnings: dict[str, None] = {}
        self.is_partial = False
        self.expected = "vector"

    def mount(self, prefix: str, adapter: Any) -> None:
        """Does nothing: the client's own transport knows no limits."""

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def request(self, method: str, url: str, params: Mapping[str, Any], **_: Any) -> _Answer:  # noqa: ARG002
        """POST, whatever the client asks for: its own POST still writes the query into the URL."""
        path = url.removeprefix(self._http.address)
        answer = self._http.post_form(path, {**params, "timeout": self._timeout})
        data = answer.get("data") if isinstance(answer, Mapping) else None
        if not isinstance(data, Mapping) or answer.get("status") != "success":
            raise self._http.error("answered something that is no answer to a query; is the address a Prometheus?")
        found = data.get("resultType")
        if found != self.expected or not isinstance(data.get("result"), list):
            query = printable(str(params.get("query")), 200)
            raise self._http.error(f"answered {found!r} to the query {query}, wanted a {self.expected}")
        self._note(answer)
        return _Answer(answer)

    def _note(self, answer: Mapping[str, Any]) -> None:
        said, remarks = _texts(answer.get("warnings")), _texts(answer.get("infos"))
        self.is_partial |= bool(answer.get("isPartial")) or any(not text.startswith(_REMARK) for text in said)
        if answer.get("isPartial"):
            said.append("the answer is partial")
        for text in (*said, *remarks):
            if len(self.warnings) < _MOST_WARNINGS:
                self.warnings[printable(text, 300)] = None


class PrometheusClient:
    """Asks one server. Raises MetricsError, never anything else."""

    def __init__(self, http: HttpSession, timeout_seconds: float) -> None:
        self._http = http
        self._session = _QuerySession(http, timeout_seconds)
        self._connect = PrometheusConnect(url=http.address, session=self._session, method="POST")

    def instant(self, query: str) -> list[Row]:
        """The series that a query gives now, one point each."""
        self._session.expected = "vector"
        result = self._connect.custom_query(query)
        return self._rows(result, "value")

    def range(self, query: str, start: float, end: float, step_seconds: float) -> list[Row]:
        """The series at ``start``, and each ``step_seconds`` after it until ``end``; whole seconds."""
        self._session.expected = "matrix"
        times = (datetime.fromtimestamp(start, UTC), datetime.fromtimestamp(end, UTC))
        return self._rows(self._connect.custom_query_range(query, *times, step=f"{step_seconds:g}"), "values")

    def taken_warnings(self) -> tuple[tuple[str, ...], bool]:
        """What the server has said about its answers since the last time, and whether one of them was partial."""
        found = tuple(self._session.warnings), self._session.is_partial
        self._session.warnings, self._session.is_partial = {}, False
        return found

    def error(self, text: str) -> MetricsError:
        """An error of this provider."""
        return self._http.error(text)

    def _rows(self, result: list[Any], field: str) -> list[Row]:
        try:
            if field == "value":
                return [Row(one.metric, (one.value,)) for one in msgspec.convert(result, list[_InstantSeries])]
            return [Row(one.metric, one.values) for one in msgspec.convert(result, list[_RangeSeries])]
        except (msgspec.ValidationError, RecursionError) as error:
            text = f"answered series that cannot be read: {printable(str(error), 200)}"
            raise self._http.error(text) from None


def _texts(found: Any) -> list[str]:
    return [str(text) for text in found] if isinstance(found, list) else []
