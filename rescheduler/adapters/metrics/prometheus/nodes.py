"""Node metrics of a Prometheus: runs one query for all nodes, with the queries for when its values were measured."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Final, NamedTuple

import numpy as np

from rescheduler.adapters.metrics.prometheus.asking import QueryRound
from rescheduler.adapters.metrics.prometheus.probing import Choice
from rescheduler.adapters.metrics.prometheus.queries import Query
from rescheduler.adapters.metrics.samples.hosts import Hosts
from rescheduler.adapters.metrics.samples.node_columns import capacities
from rescheduler.adapters.metrics.samples.series_join import Joined, Series, joined, latest
from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.objects.node import Node
from rescheduler.model.usage.usage import FloatArray

_STRANGERS: Final = 1e-9


class NodeReading(NamedTuple):
    """One metric of all nodes: values and measured_at float64[T, N]; ``problems`` by index of a node."""

    values: FloatArray
    measured_at: FloatArray
    joined: Joined

    @property
    def share(self) -> float:
        """Share of the nodes about which the source says something, contradictions included.

        A way that has series, though of strangers only, goes before one that has none.
        """
        said: BoolArray = np.asarray(np.isfinite(self.values).any(axis=0))
        said[list(self.joined.problems)] = True
        share = float(said.mean()) if said.size else 1.0
        return max(share, _STRANGERS) if self.joined.unknown else share


def read_nodes(query: Query, asking: QueryRound, hosts: Hosts, nodes: Sequence[Node]) -> Choice[Query, NodeReading]:
    """Ask for one metric in one way.

    A value whose raw series has no newest sample any more is dropped: rates and rules outlive their exporter.
    """
    width, count = asking.width, len(nodes)
    series = asking.series(query.value)
    times: list[FloatArray] = []
    live: list[Series] = []
    for text in query.times if series else ():
        found = asking.series(text)
        live += found
        by_node = latest(found, hosts, width, count)
        if by_node is not None:
            times.append(by_node)
    result = joined(series, hosts, width, count, live)
    measured = np.minimum.reduce(times) if times else np.full((width, count), nan)  # NaN wins
    values = result.values if query.share_of is None else result.values / capacities(nodes, query.share_of)
    values = np.where(np.isfinite(measured), values, nan)
    reading = NodeReading(values, np.where(np.isfinite(values), measured, nan), result)
    return Choice(query, reading, reading.share)
