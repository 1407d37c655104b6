"""Checks what an operator's own PromQL gives: each series must say whose it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rescheduler.adapters.metrics_providers.arguments import PrometheusArguments
from rescheduler.adapters.metrics_providers.hosts import HOST_LABELS
from rescheduler.adapters.metrics_providers.prometheus_client import Row
from rescheduler.extension_points import MetricsError
from rescheduler.model.printable import printable


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
