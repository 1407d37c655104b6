"""Arguments of Volcano's usage plugin: weights, thresholds and the estimator of pods that metrics do not show yet."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from rescheduler.model.objects.resources import CPU, MEMORY, QuantityError, requested_amount
from rescheduler.scheduling.configuration.fields import Fields
from rescheduler.scheduling.configuration.findings import shown
from rescheduler.scheduling.configuration.settings import UsageThreshold
from rescheduler.scheduling.scores.node_usage import NodeUsageArguments
from rescheduler.scheduling.scoring.shadow_load import Estimator

# Volcano's code reads the average over ten minutes, whatever the design says of five.
PERIOD_SECONDS: Final = 600.0
_DEFAULT_THRESHOLD = 80
_LARGEST_WEIGHT = 1_000_000
_LARGEST_FACTOR = 100.0
_MEBIBYTE = 1024 * 1024


class UsageSettings(NamedTuple):
    """The plugin's weight in the total, its score, and its filter."""

    weight: int
    arguments: NodeUsageArguments
    threshold: UsageThreshold


def usage_settings(fields: Fields, interval_seconds: float) -> UsageSettings:
    """What Volcano goes by, value by value; what it corrects is told in warnings."""
    weight = _weight(fields, "usage.weight", 5)
    arguments = NodeUsageArguments(
        usage_weight=float(weight),
        cpu_weight=float(_weight(fields, "cpu.weight", 1)),
        memory_weight=float(_weight(fields, "memory.weight", 1)),
        interval=interval_seconds,
        estimator=_estimator(fields.child("estimator")),
        upstream_compatible=True,
    )
    threshold = _threshold(fields)
    fields.warn_unread("Volcano")
    return UsageSettings(weight, arguments, threshold)


def _weight(fields: Fields, name: str, default: int) -> int:
    value = fields.integer(name, default)
    if value < 0:
        fields.findings.warn(fields.at(name), f"found {value}; Volcano goes by its default, {default}")
        return default
    return min(value, _LARGEST_WEIGHT)


def _threshold(fields: Fields) -> UsageThreshold:
    thresholds = fields.child("thresholds")
    if not fields.has("thresholds"):
        text = f"no thresholds; Volcano filters at cpu {_DEFAULT_THRESHOLD} and mem {_DEFAULT_THRESHOLD} all the same"
        fields.findings.warn(fields.path, text)
    found = [_percent(thresholds, name) for name in ("cpu", "mem")]
    thresholds.warn_unread("Volcano")
    return UsageThreshold(float(found[0]), float(found[1]), PERIOD_SECONDS)


def _percent(fields: Fields, name: str) -> int:
    value = fields.integer(name, _DEFAULT_THRESHOLD)
    if 0 <= value <= 100:
        return value
    fields.findings.warn(
        fields.at(name), f"found {value}, not within 0 to 100; Volcano goes by its default, {_DEFAULT_THRESHOLD}"
    )
    return _DEFAULT_THRESHOLD


def _estimator(fields: Fields) -> Estimator:
    default = Estimator()
    found = Estimator(
        request_ratio=_bounded(fields, "request_ratio", default.request_ratio, 0.0, 1.0),
        burst_ratio=_bounded(fields, "burst_ratio", default.burst_ratio, 0.0, 1.0),
        risk_threshold=_bounded(fields, "risk_threshold", default.risk_threshold, 0.0, 1.0),
        risk_factor=min(_bounded(fields, "risk_factor", default.risk_factor, 1.0, math.inf), _LARGEST_FACTOR),
        best_effort_cpu=_amount(fields, "be_cpu", CPU, default.best_effort_cpu),
        best_effort_memory=_amount(fields, "be_mem", MEMORY, default.best_effort_memory),
    )
    fields.warn_unread("Volcano")
    return found


def _bounded(fields: Fields, name: str, default: float, low: float, high: float) -> float:
    value = fields.number(name, default)
    if low <= value <= high:
        return value
    wanted = f"within {low:g} to {high:g}" if math.isfinite(high) else f"{low:g} or more"
    fields.findings.warn(fields.at(name), f"found {value:g}, not {wanted}; Volcano goes by its default, {default:g}")
    return default


def _amount(fields: Fields, name: str, resource: str, default: str) -> str:
    """A quantity in quotes, or a whole number of millicores or of mebibytes."""
    value: Any = fields.raw(name)
    if value is None:
        return default
    text = shown(value) if isinstance(value, bool | dict | list) else str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        text = f"{value}m" if resource == CPU else str(value * _MEBIBYTE)
    try:
        requested_amount(resource, text)
    except QuantityError as error:
        fields.findings.warn(fields.at(name), f"{error}; Volcano goes by its default, {default}")
        return default
    return text
