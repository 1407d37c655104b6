"""InfluxQL over /query, as InfluxDB 1 answers it, 2 for a mapped database, and 3."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from rescheduler.adapters.metrics.http.http_session import HttpSession
from rescheduler.adapters.metrics.influxdb.series import Answer, InfluxSeries, SeriesSelection, Span
from rescheduler.extension_points import MetricsError
from rescheduler.model.printable import printable


class _Message(msgspec.Struct):
    text: str = ""


class _Row(msgspec.Struct):
    columns: list[str] = []
    tags: dict[str, str | None] | None = None
    values: list[list[Any]] | None = None
    partial: bool = False


class _Result(msgspec.Struct):
    series: list[_Row] | None = None
    messages: list[_Message] | None = None
    error: str | None = None
    partial: bool = False


class _Document(msgspec.Struct):
    results: list[_Result] = []
    error: str | None = None


class InfluxQL:
    """Asks one database, one statement a request."""

    def __init__(self, session: HttpSession, database: str, retention_policy: str | None) -> None:
        self._session = session
        self._form = {"db": database, "epoch": "ms", **({"rp": retention_policy} if retention_policy else {})}

    def newest(self, wanted: SeriesSelection, span: Span) -> Answer:
        """The newest point of each series. Raises MetricsError."""
        return self._ask(newest_statement(wanted, span), 0)

    def regular(self, wanted: SeriesSelection, span: Span, step_ms: int) -> Answer:
        """One point for each step, at the step's end. Raises MetricsError."""
        return self._ask(regular_statement(wanted, span, step_ms), step_ms)

    def _ask(self, statement: str, later_ms: int) -> Answer:
        return _answer(self._session, self._session.post_form("/query", {**self._form, "q": statement}), later_ms)


def newest_statement(wanted: SeriesSelection, span: Span) -> str:
    """The text that asks for the newest point of each series."""
    source = f"FROM {_name(wanted.measurement)} WHERE {_conditions(wanted, span)}"
    tags = _tags(wanted)
    if not wanted.is_counter:
        return f'SELECT last({_name(wanted.fields[0])}) AS "value" {source} GROUP BY {tags}'
    rate = " + ".join(f"non_negative_derivative({_name(field)}, 1s)" for field in wanted.fields)
    rates = " ".join(("SELECT", rate, 'AS "rate"', source, "GROUP BY", tags))
    return f'SELECT last("rate") AS "value" FROM ({rates}) GROUP BY {tags}'  # noqa: S608 - every name is quoted


def regular_statement(wanted: SeriesSelection, span: Span, step_ms: int) -> str:
    """The text that asks for one point a step."""
    if wanted.is_counter:
        value = " + ".join(f"non_negative_derivative(last({_name(field)}), 1s)" for field in wanted.fields)
    else:
        value = f"mean({_name(wanted.fields[0])})"
    source = f"FROM {_name(wanted.measurement)} WHERE {_conditions(wanted, span)}"
    steps = f"time({step_ms}ms, {span.start_ms % step_ms}ms)"
    return f'SELECT {value} AS "value" {source} GROUP BY {steps}, {_tags(wanted)} fill(none)'


def _conditions(wanted: SeriesSelection, span: Span) -> str:
    found = [f"time >= {span.start_ms}ms", f"time < {span.end_ms}ms"]
    found += [f"{_name(tag)} = {_text(value)}" for tag, value in wanted.tags.items()]
    tag, pattern = wanted.excluded
    if tag and pattern:
        found.append(f"{_name(tag)} !~ {slashed(pattern)}")
    return " AND ".join(found)


def _tags(wanted: SeriesSelection) -> str:
    return ", ".join(map(_name, wanted.group))


def _name(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def slashed(pattern: str) -> str:
    """A regular expression as a literal between slashes."""
    return "/" + re.sub(r"(\\.)|/", lambda match: match.group(1) or "\\/", pattern) + "/"


def _answer(session: HttpSession, found: Any, later_ms: int) -> Answer:
    try:
        document = msgspec.convert(found, _Document)
    except msgspec.ValidationError as error:
        raise session.error(f"answered something that is no result of InfluxQL: {printable(str(error), 200)}") from None
    errors = [text for text in (document.error, *(result.error for result in document.results)) if text]
    if errors:
        raise session.error(f"refused a query: {printable(errors[0], 300)}")
    if not document.results:
        raise session.error("answered something that is no result of InfluxQL: there are no results in it")
    rows = [row for result in document.results for row in result.series or []]
    said = [message.text for result in document.results for message in result.messages or []]
    return Answer(
        [_series(session, row, later_ms) for row in rows],
        tuple(printable(text, 300) for text in said if text),
        any(result.partial for result in document.results) or any(row.partial for row in rows),
    )


def _series(session: HttpSession, row: _Row, later_ms: int) -> InfluxSeries:
    if "time" not in row.columns or "value" not in row.columns:
        raise _misshapen(session, f"the columns {', '.join(row.columns)}, wanted time and value")
    time, value = row.columns.index("time"), row.columns.index("value")
    points: list[tuple[float, object]] = []
    for values in row.values or []:
        if len(values) != len(row.columns):
            raise _misshapen(session, f"a row of {len(values)} values for {len(row.columns)} columns")
        at = values[time]
        if not isinstance(at, int | float) or isinstance(at, bool):
            raise _misshapen(session, f"the time {printable(str(at), 40)}, wanted milliseconds since the epoch")
        if values[value] is not None:
            points.append(((at + later_ms) / 1000, values[value]))
    return InfluxSeries({tag: text or "" for tag, text in (row.tags or {}).items()}, points)


def _misshapen(session: HttpSession, found: str) -> MetricsError:
    return session.error(f"answered something that is no result of InfluxQL: found {printable(found, 200)}")
