"""Volcano's scheduler configuration: actions, tiers of plugins with arguments, and where it reads load."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from rescheduler.model.printable import shown
from rescheduler.policy.fields.values import parse_duration
from rescheduler.scheduling.configuration.settings import (
    Configuration,
    ConfiguredProfile,
    ConfiguredScore,
    NotModelled,
    weighed_resources,
)
from rescheduler.scheduling.configuration.volcano_plugins import (
    KNOWN,
    MODELLED,
    PROPORTIONAL,
    node_order_scores,
    note_of,
    predicate_filters,
    proportional_note,
)
from rescheduler.scheduling.filters.node_usage import UsageThresholds
from rescheduler.scheduling.reading.documents import ReadDocument
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import Findings, choices, quoted, without_credentials
from rescheduler.scheduling.reading.metrics_source import ForeignMetrics, volcano_metrics
from rescheduler.scheduling.scores import SCORES

FORM: Final = "Volcano's scheduler configuration"
DEFAULT_NAME: Final = "volcano"
_ACTIONS = [
    "enqueue", "allocate", "backfill", "preempt", "reclaim", "shuffle", "elect", "reserve", "gangpreempt",
    "gangreclaim",
]  # fmt: skip
_PLACING = ("allocate", "backfill")
_EVICTING = ("preempt", "reclaim", "shuffle", "gangpreempt", "gangreclaim")
# Volcano checks room, names and gates itself, whatever its plugins are.
_ALWAYS = ("SchedulingGates", "NodeName")


@dataclass
class _Found:
    """What the plugins of all tiers add up to."""

    filters: tuple[str, ...] = ()
    scores: list[ConfiguredScore] = field(default_factory=list)
    threshold: UsageThresholds | None = None
    notes: dict[str, NotModelled] = field(default_factory=dict)
    plugins: list[str] = field(default_factory=list)
    goes_by_load: bool = False


def read_volcano(document: ReadDocument, scheduler_name: str | None) -> Configuration:
    """Raises ConfigurationError for what Volcano rejects as a whole."""
    findings = Findings(document)
    fields = Fields(findings, (), document.data)
    findings.note_doubled(is_refused=False, reader="Volcano")
    _actions(fields)
    source = metrics_source(fields.child("metrics")) if fields.has("metrics") else MetricsSource()
    found = _plugins(fields, source)
    fields.has("configurations")
    fields.warn_unread("Volcano")
    findings.raise_problems()
    name = scheduler_name or DEFAULT_NAME
    return Configuration(FORM, {name: _profile(name, found, source)}, findings.warning_lines())


def _actions(fields: Fields) -> None:
    names = [name.strip() for name in fields.text("actions").split(",")]
    for name in dict.fromkeys(names):
        if name not in _ACTIONS and fields.findings.takes_problems:
            text = (
                f"found {quoted(name)}; {choices(name, _ACTIONS)}; Volcano rejects the whole file over an unknown one"
            )
            fields.findings.refuse(fields.at("actions"), text)
    if not set(names).intersection(_PLACING):
        fields.findings.warn(fields.at("actions"), "neither allocate nor backfill: Volcano places no pod")
    evicting = [name for name in names if name in _EVICTING]
    if evicting:
        text = f"{', '.join(evicting)}: Volcano evicts pods by itself, which no plan here counts on"
        fields.findings.warn(fields.at("actions"), text)


def _plugins(fields: Fields, source: MetricsSource) -> _Found:
    found = _Found()
    for tier in fields.children("tiers"):
        entries = tier.children("plugins")
        tier.warn_unread("Volcano")
        names = [entry.raw("name") for entry in entries]
        if "proportion" in names and any(
            entry.raw("name") == "drf" and entry.boolean("enableHierarchy", default=False) for entry in entries
        ):
            text = "proportion and drf with enableHierarchy exclude each other; Volcano rejects the whole file"
            fields.findings.refuse(tier.path, text)
        for entry in entries:
            _plugin(entry, found, source)
    return found


def _plugin(entry: Fields, found: _Found, source: MetricsSource) -> None:
    name = entry.text("name")
    switches = {switch: entry.boolean(switch, default=True) for switch in entry.data if switch.startswith("enable")}
    arguments = entry.child("arguments")
    entry.warn_unread("Volcano")
    arguments.keeps_default = "Volcano"
    if name in found.plugins:
        entry.findings.warn(entry.at("name"), f"{quoted(name)} is listed twice; Volcano goes by the last arguments")
    elif name not in KNOWN:
        text = f"{quoted(name)} is no plugin that is known: Volcano leaves it out unless it is loaded as a file"
        entry.findings.warn(entry.at("name"), f"{text}; {choices(name, KNOWN)}")
    found.plugins.append(name)
    note = note_of(name)
    if note is not None:
        found.notes[name] = note
    _set(name, arguments, switches, found, source)


def _set(name: str, arguments: Fields, switches: dict[str, bool], found: _Found, source: MetricsSource) -> None:
    filters, orders = switches.get("enablePredicate", True), switches.get("enableNodeOrder", True)
    scores: list[ConfiguredScore] = []
    if name == "predicates":
        switched_on = predicate_filters(arguments)
        found.filters = switched_on if filters else ()
        if filters and arguments.raw(PROPORTIONAL) is True:
            found.notes[PROPORTIONAL] = proportional_note()
    elif name == "nodeorder":
        scores = list(node_order_scores(arguments))
    elif name in MODELLED:
        scores = list(_own_score(name, arguments, found, source, filters=filters))
    again = {score.plugin for score in scores}
    found.scores = [score for score in found.scores if score.plugin not in again] + (scores if orders else [])


def _own_score(
    name: str, arguments: Fields, found: _Found, source: MetricsSource, *, filters: bool
) -> Iterator[ConfiguredScore]:
    """The score of a plugin that has one, with the threshold of its filter; a weight of 0 switches the score off."""
    settings = SCORES.get(name).read_volcano(arguments, source.interval_seconds)
    if settings.score is None:
        return
    if settings.score.goes_by_load:
        found.threshold = settings.profile.get("usage_threshold") if filters else None
        found.goes_by_load = True
        if not source.kind:
            text = f"{name} without a metrics source: Volcano sees no load, filters nothing and scores 0 everywhere"
            arguments.findings.warn(arguments.path, text)
    if settings.weight:
        yield ConfiguredScore(name, settings.weight, settings.score)


def _profile(name: str, found: _Found, source: MetricsSource) -> ConfiguredProfile:
    return ConfiguredProfile(
        scheduler_name=name,
        filters=(*_ALWAYS, *found.filters, "NodeResourcesFit"),
        scores=tuple(found.scores),
        usage_threshold=found.threshold,
        percentage_of_nodes_to_score=0,
        not_modelled=tuple(found.notes.values()),
        weighed_resources=weighed_resources(found.scores),
        load_source=str(source) if found.goes_by_load else "",
        metrics=(source.metrics,) if found.goes_by_load and source.metrics else (),
    )


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
