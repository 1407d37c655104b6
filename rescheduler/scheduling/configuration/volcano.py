"""Volcano's scheduler configuration: actions, tiers of plugins with arguments, and where it reads load."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from rescheduler.scheduling.configuration.settings import (
    Configuration,
    ConfiguredProfile,
    ConfiguredScore,
    NotModelled,
    weighed_resources,
)
from rescheduler.scheduling.configuration.volcano_metrics import MetricsSource, metrics_source
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
from rescheduler.scheduling.reading.findings import Findings, choices, quoted
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
