"""What a stock client of the load watcher reads: the Trimaran plugins' way, written down independently of the server.

One GET of ``watcherAddress + "/watcher"`` with a time-out of 55 seconds; anything but status 200 is an error; JSON is
decoded by exact field names, unknown ones are passed over; numbers must be plain decimals.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.request import Request, build_opener

TIME_OUT_SECONDS = 55
NUMBER = re.compile(rb"[:\[,]\s*(-?[0-9][^,\]}\s]*)")


class ClientError(Exception):
    """The client keeps what it read before, and logs this."""


class StockMetric(NamedTuple):
    """One metric as the client holds it."""

    name: str
    type: str
    operator: str
    rollup: str
    value: float


class StockReport(NamedTuple):
    """The answer as the client holds it."""

    timestamp: int
    window: tuple[str, int, int]
    source: str
    nodes: Mapping[str, tuple[StockMetric, ...]]

    def cpu_of(self, node: str) -> float | None:
        """What TargetLoadPacking takes for the node's cpu: of AVG and Latest, the last."""
        found = [
            one.value for one in self.nodes.get(node, ()) if one.type == "CPU" and one.operator in ("AVG", "Latest")
        ]
        return found[-1] if found else None

    def risk_inputs(self, node: str, kind: str) -> tuple[float, float] | None:
        """What the risk plugins take: the AVG, else the last of Latest and none, and the STD, else 0."""
        metrics = [one for one in self.nodes.get(node, ()) if one.type == kind]
        if not metrics:
            return None
        averages = [one.value for one in metrics if one.operator == "AVG"]
        others = [one.value for one in metrics if one.operator in ("", "Latest")]
        deviations = [one.value for one in metrics if one.operator == "STD"]
        return [*others, *averages][-1], deviations[-1] if deviations else 0.0


def fetch(address: str) -> StockReport:
    """What a scheduler that is pointed at this address reads. Raises ClientError."""
    request = Request(f"{address}/watcher", headers={"Content-Type": "application/json"})
    try:
        with build_opener().open(request, timeout=TIME_OUT_SECONDS) as answer:
            return decode(answer.status, answer.read())
    except OSError as error:
        raise ClientError(str(error)) from error


def decode(status: int, body: bytes) -> StockReport:
    """The report in an answer. Raises ClientError."""
    if status != 200:
        raise ClientError(f"status {status}")
    for number in NUMBER.findall(body):
        if not re.fullmatch(rb"-?[0-9]+(\.[0-9]+)?", number):
            raise ClientError(f"number {number!r}")
    document = json.loads(body)
    window = document["window"]
    return StockReport(
        timestamp=_whole(document["timestamp"]),
        window=(_text(window["duration"]), _whole(window["start"]), _whole(window["end"])),
        source=_text(document["source"]),
        nodes={name: _node(found) for name, found in document["data"]["NodeMetricsMap"].items()},
    )


def _node(found: Any) -> tuple[StockMetric, ...]:
    if not isinstance(found["tags"], dict) or not isinstance(found["metadata"], dict):
        raise ClientError("tags and metadata must be objects")
    _text(found["metadata"]["dataCenter"])
    return tuple(
        StockMetric(
            *(_text(one[field]) for field in ("name", "type", "operator", "rollup")),
            float(one["value"]),
        )
        for one in found["metrics"]
    )


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ClientError(f"{value!r} is no whole number")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ClientError(f"{value!r} is no text")
    return value
