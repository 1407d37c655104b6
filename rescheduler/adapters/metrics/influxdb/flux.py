"""Flux over /api/v2/query, for InfluxDB 2 where the database is not mapped for InfluxQL."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import datetime

import msgspec

from rescheduler.adapters.metrics.http.http_session import HttpSession
from rescheduler.adapters.metrics.influxdb.influxql import slashed
from rescheduler.adapters.metrics.influxdb.series import Answer, InfluxSeries, SeriesSelection, Span
from rescheduler.model.printable import printable
from rescheduler.model.times import rfc3339

FIELD = "_field"


class Flux:
    """Asks one bucket of one organisation."""

    def __init__(self, session: HttpSession, org: str, bucket: str) -> None:
        self._session = session
        self._org = org
        self._bucket = bucket

    def newest(self, wanted: SeriesSelection, span: Span) -> Answer:
        """The newest point of each series. Raises MetricsError."""
        return self._ask([*_source(self._bucket, wanted, span), "last()"], wanted)

    def regular(self, wanted: SeriesSelection, span: Span, step_ms: int) -> Answer:
        """One point for each step, at the step's end. Raises MetricsError."""
        step = f"aggregateWindow(every: {step_ms}ms, offset: {span.start_ms % step_ms}ms, fn: mean, createEmpty: false)"
        return self._ask([*_source(self._bucket, wanted, span), step], wanted)

    def _ask(self, steps: list[str], wanted: SeriesSelection) -> Answer:
        columns = ["_time", "_value", FIELD, *wanted.group]
        kept = f"keep(columns: [{', '.join(map(_text, columns))}])"
        query = "\n  |> ".join([*steps, kept])
        response = self._session.request(
            "POST",
            self._session.address + "/api/v2/query",
            params={"org": self._org},
            data=msgspec.json.encode({"query": query, "type": "flux", "dialect": {"header": True, "annotations": []}}),
            headers={"Content-Type": "application/json", "Accept": "application/csv"},
        )
        try:
            text = response.content.decode()
            return Answer(list(_series(text, wanted.group)))
        except (UnicodeDecodeError, csv.Error, ValueError) as error:
            said = printable(str(error), 200)
            raise self._session.error(f"answered something that is no result of Flux: {said}") from None


def _source(bucket: str, wanted: SeriesSelection, span: Span) -> list[str]:
    """The pipeline up to the points, or to the rates of counters."""
    fields = " or ".join(f"r[{_text(FIELD)}] == {_text(field)}" for field in wanted.fields)
    tests = [f'r["_measurement"] == {_text(wanted.measurement)}', f"({fields})"]
    tests += [f"r[{_text(tag)}] == {_text(value)}" for tag, value in wanted.tags.items()]
    tag, pattern = wanted.excluded
    if tag and pattern:
        tests.append(f"r[{_text(tag)}] !~ {slashed(pattern)}")
    steps = [
        f"from(bucket: {_text(bucket)})",
        f"range(start: {_moment(span.start_ms)}, stop: {_moment(span.end_ms)})",
        f"filter(fn: (r) => {' and '.join(tests)})",
    ]
    return [*steps, "derivative(unit: 1s, nonNegative: true)"] if wanted.is_counter else steps


def _series(text: str, group: tuple[str, ...]) -> Iterator[InfluxSeries]:
    """One series of one point for each line of the tables. Raises ValueError."""
    header: list[str] = []
    for line in csv.reader(io.StringIO(text, newline=""), strict=True):
        if not any(line):
            header = []
        elif not header:
            header = line
            if "error" in header:
                continue
            if "_value" not in header or "_time" not in header:
                raise ValueError(f"found the columns {', '.join(line)}, wanted _time and _value")
        else:
            yield _point(dict(zip(header, line, strict=True)), group)


def _point(row: dict[str, str], group: tuple[str, ...]) -> InfluxSeries:
    if "error" in row:
        raise ValueError(f"it says {row['error']}")
    at = datetime.fromisoformat(row["_time"])
    if at.tzinfo is None:
        raise ValueError(f"found the time {row['_time']} without a zone")
    tags = {tag: row.get(tag, "") for tag in (*group, FIELD)}
    return InfluxSeries(tags, [(at.timestamp(), _value(row["_value"]))] if row["_value"] else [])


def _value(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _moment(milliseconds: int) -> str:
    return rfc3339(milliseconds / 1000, "milliseconds")


def _text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("${", "\\${") + '"'
