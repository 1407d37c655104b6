"""The ``metrics`` block of Volcano's configuration: nested as in its design, or flat as in its code."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from rescheduler.policy.fields.values import parse_duration
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import choices, quoted, shown, without_credentials
from rescheduler.scheduling.reading.metrics_source import ForeignMetrics, volcano_metrics

_TYPES: Final = ["prometheus", "prometheus_adaptor", "elasticsearch"]
_DESIGN_TYPE = "prometheus_adapt"
_DEFAULT_INTERVAL = 30.0
_GROUPS = {
    "tls": ["insecureSkipVerify"],
    "elasticsearch": ["index", "username", "password", "hostnameFieldName"],
}
_KNOWN = ["type", "address", "interval", *(f"{group}.{name}" for group, names in _GROUPS.items() for name in names)]
_NEVER_READ = ["basicauth", "username", "password"]


class MetricsSource(NamedTuple):
    """Where Volcano reads load, and how often; credentials are not kept. ``kind`` is empty where it reads none."""

    kind: str = ""
    address: str = ""
    interval_seconds: float = _DEFAULT_INTERVAL
    metrics: ForeignMetrics | None = None
    """The same for an offer of providers."""

    def __str__(self) -> str:
        return f"{self.kind}{f' at {self.address}' if self.address else ''}" if self.kind else ""


def metrics_source(fields: Fields) -> MetricsSource:
    """Read the block; what Volcano would do otherwise is told in warnings."""
    values = _flat(fields)
    _warn_unread(fields, values)
    kind = _kind(fields, values)
    address = without_credentials(values.get("address", ""))
    if kind in ("prometheus", "elasticsearch") and not address:
        fields.findings.warn(fields.path, f"address is missing; {kind} needs one, so Volcano gets no metrics")
    metrics = volcano_metrics(values) if kind else None
    return MetricsSource(kind, address, _interval(fields, values.get("interval")), metrics)


def _flat(fields: Fields) -> dict[str, str]:
    """All settings by their flat names; nested ones with a warning."""
    found: dict[str, str] = {}
    for name, value in fields.data.items():
        if isinstance(value, dict) and name in _GROUPS:
            fields.findings.warn(
                fields.at(name),
                f"written as a map, as in Volcano's design; Volcano's code reads flat names such as "
                f"{name}.{_GROUPS[name][0]} and rejects the whole file over a map",
                at_key=True,
            )
            for below, inner in value.items():
                _store(fields, found, f"{name}.{below}", inner)
        else:
            _store(fields, found, name, value)
    return found


def _store(fields: Fields, found: dict[str, str], name: str, value: Any) -> None:
    if isinstance(value, dict | list):
        fields.findings.refuse(fields.at(name), f"found {shown(value)}; wanted a text: Volcano rejects the whole file")
    elif value is not None:
        found[name] = ("true" if value else "false") if isinstance(value, bool) else str(value)


def _warn_unread(fields: Fields, values: dict[str, str]) -> None:
    for name in values:
        if name in _NEVER_READ:
            fields.findings.warn(fields.at(name), "Volcano never reads this; it asks without credentials", at_key=True)
        elif name not in _KNOWN:
            fields.findings.warn(fields.at(name), f"Volcano does not read this; {choices(name, _KNOWN)}", at_key=True)


def _kind(fields: Fields, values: dict[str, str]) -> str:
    kind = values.get("type", "")
    if not kind:
        text = "type is missing; its design says prometheus, but Volcano's code then collects no metrics"
        fields.findings.warn(fields.path, text)
        return _TYPES[0]
    if kind == _DESIGN_TYPE:
        text = f"read as {_TYPES[1]}; Volcano's code knows only that spelling and collects nothing for {_DESIGN_TYPE}"
        fields.findings.warn(fields.at("type"), text)
        return _TYPES[1]
    if kind not in _TYPES:
        text = f"found {quoted(kind)}; {choices(kind, list(_TYPES))}; Volcano collects no metrics"
        fields.findings.warn(fields.at("type"), text)
        return ""
    return kind


def _interval(fields: Fields, written: str | None) -> float:
    if written is None:
        return _DEFAULT_INTERVAL
    try:
        seconds = parse_duration(written)
    except ValueError:
        seconds = 0.0
    if seconds > 0:
        return seconds
    fields.findings.warn(fields.at("interval"), f"found {quoted(written)}, no duration above 0; Volcano goes by 30s")
    return _DEFAULT_INTERVAL
