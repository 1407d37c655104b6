"""NodeMetrics and PodMetrics as whole amounts of one moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import ceil
from typing import Final

import msgspec

from rescheduler.adapters.kubernetes.objects.decoding.decode import ObjectError, decode
from rescheduler.model.objects.resources import CPU, MEMORY, QuantityError, parse_quantity
from rescheduler.model.usage.measured_use import MeasuredUse

METRICS: Final = ("NodeMetrics", "PodMetrics")
_SCALE: Final = {CPU: 1000, MEMORY: 1}


class _Meta(msgspec.Struct):
    name: str
    namespace: str = ""


class _Container(msgspec.Struct):
    usage: dict[str, str] = {}


class MetricsObject(msgspec.Struct):
    """One of either kind."""

    metadata: _Meta
    usage: dict[str, str] = {}
    containers: list[_Container] = []


class MetricsList(msgspec.Struct):
    """As the metrics API lists them."""

    items: list[MetricsObject]


class UseOfMoment:
    """Samples of nodes and pods, taken in one after the other."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._nodes: dict[str, Mapping[str, int]] = {}
        self._pods: dict[str, Mapping[str, int]] = {}

    def take(self, kind: str, raw: bytes) -> None:
        """One object as JSON. Raises ObjectError."""
        self._keep(kind, decode(raw, MetricsObject))

    def take_list(self, kind: str, items: Iterable[MetricsObject]) -> None:
        """Objects of one kind. Raises ObjectError."""
        for item in items:
            self._keep(kind, item)

    @property
    def found(self) -> MeasuredUse:
        """All that was taken in."""
        return MeasuredUse(self._nodes, self._pods)

    def _keep(self, kind: str, item: MetricsObject) -> None:
        if kind == "NodeMetrics":
            self._nodes[item.metadata.name] = _amounts([item.usage], f"{kind} {item.metadata.name}")
            return
        key = f"{item.metadata.namespace or 'default'}/{item.metadata.name}"
        if any(resource not in container.usage for container in item.containers for resource in _SCALE):
            return  # descheduler passes over such a pod, as if it had no PodMetrics
        self._pods[key] = _amounts([container.usage for container in item.containers], f"{kind} {key}")


def _amounts(usages: Iterable[Mapping[str, str]], label: str) -> dict[str, int]:
    """Sums in whole millicores and bytes, rounded up as Kubernetes does."""
    total = dict.fromkeys(_SCALE, Fraction(0))
    for usage in usages:
        for resource in total:
            try:
                total[resource] += parse_quantity(usage.get(resource, "0"))
            except QuantityError as error:
                raise ObjectError(f"usage.{resource}", str(error), label) from None
    return {resource: ceil(amount * _SCALE[resource]) for resource, amount in total.items()}
