"""Use as metrics APIs give it for one moment: of nodes and pods by resource, and answers of Prometheus to queries."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class QueryAnswer(Struct, frozen=True, gc=False):
    """A Prometheus server's answer to an instant query: the value of each ``instance``; or what is wrong with it."""

    values: Mapping[str, float] = {}
    problem: str = ""


class MeasuredUse(Struct, frozen=True, gc=False):
    """``nodes`` by name and ``pods`` by key: millicores and bytes, as NodeMetrics and PodMetrics say.

    ``answers`` by query. ``problem``: why the metrics API tells nothing; "": it was asked, or nobody wanted it.
    """

    nodes: Mapping[str, Mapping[str, int]] = {}
    pods: Mapping[str, Mapping[str, int]] = {}
    answers: Mapping[str, QueryAnswer] = {}
    problem: str = ""


NOTHING_MEASURED = MeasuredUse()
