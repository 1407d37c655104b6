"""One round of queries to a Prometheus: each query at most once, refused ones told and passed over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from rescheduler.adapters.metrics.http.http_failures import HttpStatusError, NoAnswerInTimeError
from rescheduler.adapters.metrics.prometheus.client import PrometheusClient, Row
from rescheduler.adapters.metrics.prometheus.prometheus_arguments import PrometheusArguments
from rescheduler.adapters.metrics.samples.hosts import HOST_LABELS
from rescheduler.adapters.metrics.samples.series_join import Series, instant_series, range_series
from rescheduler.extension_points import MetricsError
from rescheduler.model.printable import printable
from rescheduler.model.usage.usage import FloatArray

# Checks what an operator's own PromQL gives: each series must say whose it is.


class OwnQueries:
    """The own queries of one provider's arguments."""

    def __init__(self, arguments: PrometheusArguments) -> None:
        hosts = (arguments.host_label,) if arguments.host_label else HOST_LABELS
        self._wanted: dict[str, tuple[str, tuple[str, ...]]] = {}
        for field in type(arguments.queries).model_fields:
            own = getattr(arguments.queries, field)
            for text in (own.query, own.time) if own is not None else ():
                if text is not None:
                    name = PrometheusArguments.model_fields["queries"].alias or "queries"
                    alias = type(arguments.queries).model_fields[field].alias
                    self._wanted[text] = (f"{name}.{alias}", () if field.startswith("pod_") else hosts)

    def __contains__(self, query: str) -> bool:
        return query in self._wanted

    def check(self, query: str, rows: Sequence[Row], error: Callable[[str], MetricsError]) -> None:
        """Raise MetricsError if the answer to an own query has no series that says whose it is."""
        if query not in self._wanted or not rows:
            return
        path, hosts = self._wanted[query]
        names = [set(row.labels) for row in rows]
        if any(found & set(hosts) if hosts else {"namespace", "pod"} <= found for found in names):
            return
        labels = ", ".join(sorted(printable(name, 60) for name in names[0])) or "none"
        wanted = f"one of {', '.join(hosts)}" if hosts else "namespace and pod"
        choice = ", or set hostLabel" if len(hosts) > 1 else ""
        raise error(f"{path} gives series with the labels: {labels}; wanted {wanted}{choice}")


_REFUSED = (400, 422)
_SMALLER = 8


class QueryRound:
    """Queries for one sample (``times`` None: now) or one history. ``refusals``: what the server would not answer."""

    def __init__(
        self, client: PrometheusClient, own: OwnQueries, times: FloatArray | None = None, steps_per_answer: int = 1
    ) -> None:
        self._client = client
        self._own = own
        self._times = times
        self._steps_per_answer = steps_per_answer
        self._kept: dict[str, Sequence[Series]] = {}
        self.refusals: dict[str, None] = {}

    @property
    def width(self) -> int:
        """How many values each series has."""
        return 1 if self._times is None else len(self._times)

    def series(self, query: str) -> Sequence[Series]:
        """The series that a query gives, [] if there are none. Raises MetricsError."""
        if query not in self._kept:
            self._kept[query] = self._instant(query) if self._times is None else self._range(query, self._times)
        return self._kept[query]

    def rows(self, query: str) -> Sequence[Row]:
        """The series that a query gives now, as they came."""
        return self._asked(query, lambda: self._client.instant(query))

    def _instant(self, query: str) -> Sequence[Series]:
        return [instant_series(row.labels, row.points[0][1]) for row in self.rows(query)]

    def _range(self, query: str, times: FloatArray) -> Sequence[Series]:
        step = float(times[1] - times[0]) if len(times) > 1 else 1.0
        found: dict[tuple[tuple[str, str], ...], Series] = {}
        for labels, points in self._pieces(query, times, step):
            key = tuple(sorted(labels.items()))
            one = range_series(labels, points, float(times[0]), step, len(times))
            if key in found:
                one = one._replace(values=np.fmax(found[key].values, one.values))
            found[key] = one
        return list(found.values())

    def _pieces(self, query: str, times: FloatArray, step: float) -> Iterator[Row]:
        """The rows of all pieces; pieces become smaller where the server cannot answer one in time."""
        at = 0
        while at < len(times):
            last = min(at + self._steps_per_answer, len(times)) - 1
            start, end = float(times[at]), float(times[last])
            try:
                yield from self._asked(query, partial(self._client.range, query, start, end, step))
            except NoAnswerInTimeError:
                if last == at:
                    raise
                self._steps_per_answer = max(1, (last - at + 1) // _SMALLER)
                continue
            at = last + 1

    def _asked(self, query: str, ask: Callable[[], Sequence[Row]]) -> Sequence[Row]:
        """The answer; [] where the server refuses a query of ours, since another way may do."""
        try:
            rows = ask()
        except HttpStatusError as error:
            if error.status not in _REFUSED or query in self._own:
                raise
            self.refusals[str(error)] = None
            return []
        self._own.check(query, rows, self._client.error)
        return rows
