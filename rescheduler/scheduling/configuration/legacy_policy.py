"""The Policy that kube-scheduler read before 1.23: predicates and priorities, with the arguments of KEP-964."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rescheduler.scheduling.configuration.documents import ReadDocument
from rescheduler.scheduling.configuration.extenders import read_extenders
from rescheduler.scheduling.configuration.fields import Fields
from rescheduler.scheduling.configuration.findings import Findings, choices, quoted
from rescheduler.scheduling.configuration.legacy_plugins import (
    CUSTOM_PREDICATES,
    CUSTOM_PRIORITIES,
    DEFAULT_PRIORITIES,
    MANDATORY,
    PREDICATES,
    PRIORITIES,
    RATIO,
    note_of_custom_predicate,
    note_of_custom_priority,
    note_of_priority,
)
from rescheduler.scheduling.configuration.legacy_ratio import ratio_score
from rescheduler.scheduling.configuration.settings import (
    Configuration,
    ConfiguredProfile,
    ConfiguredScore,
    NotModelled,
    ScoreArguments,
)
from rescheduler.scheduling.filters import DEFAULT_FILTERS
from rescheduler.scheduling.profile import DEFAULT_SCHEDULER
from rescheduler.scheduling.scores import InterPodAffinity, NodeResourcesBalancedAllocation, NodeResourcesFit

KIND: Final = "Policy"
FORM: Final = "legacy Policy"
_LARGEST_WEIGHT = 2**31 - 1


@dataclass
class _Found:
    """What predicates and priorities add up to; ``filters`` None: kube-scheduler's defaults."""

    filters: set[str] | None = None
    scores: list[ConfiguredScore] = field(default_factory=list)
    notes: list[NotModelled] = field(default_factory=list)


def read_legacy_policy(document: ReadDocument, scheduler_name: str | None) -> Configuration:
    """Raises ConfigurationError for what kube-scheduler would not have started with."""
    findings = Findings(document)
    fields = Fields(findings, (), document.data)
    findings.note_doubled(is_refused=False, reader="kube-scheduler")
    fields.text("kind"), fields.text("apiVersion")
    findings.warn((), "kube-scheduler 1.23 and newer do not read a Policy; write a KubeSchedulerConfiguration")
    affinity = _hard_affinity(fields)
    found = _Found()
    _predicates(fields, found)
    _priorities(fields, found, affinity)
    extenders = read_extenders(fields, is_strict=False)
    fields.boolean("alwaysCheckAllPredicates", default=False)
    fields.warn_unread("kube-scheduler")
    findings.raise_problems()
    name = scheduler_name or DEFAULT_SCHEDULER
    profile = ConfiguredProfile(
        scheduler_name=name,
        filters=_in_order(found.filters),
        scores=tuple(found.scores),
        ignored_resources=extenders.ignored_resources,
        not_modelled=(*found.notes, *extenders.not_modelled),
        weighed_resources=_weighed(found.scores),
    )
    return Configuration(FORM, {name: profile}, findings.warning_lines())


def _hard_affinity(fields: Fields) -> InterPodAffinity:
    """0 counts as not given."""
    return InterPodAffinity(fields.integer("hardPodAffinitySymmetricWeight", 1, 0, 100) or 1)


def _in_order(names: set[str] | None) -> tuple[str, ...]:
    kept = [plugin.name for plugin in DEFAULT_FILTERS if plugin.name != "NodeReady"]
    return tuple(name for name in kept if names is None or name == "SchedulingGates" or name in names)


def _predicates(fields: Fields, found: _Found) -> None:
    if fields.raw("predicates") is None:
        return
    filters = set(MANDATORY)
    for item in fields.children("predicates"):
        name = item.text("name")
        argument = item.child("argument")
        custom = [kind for kind in CUSTOM_PREDICATES if argument.has(kind)]
        argument.warn_unread("kube-scheduler")
        item.warn_unread("kube-scheduler")
        if custom:
            found.notes.append(note_of_custom_predicate(name or custom[0]))
        elif name in PREDICATES:
            filters.update(PREDICATES[name])
        else:
            item.findings.refuse(item.at("name"), f"no predicate {quoted(name)}; {choices(name, [*PREDICATES])}")
    found.filters = filters


def _priorities(fields: Fields, found: _Found, affinity: InterPodAffinity) -> None:
    if fields.raw("priorities") is None:
        for name, weight in DEFAULT_PRIORITIES.items():
            _add(found, name, weight, PRIORITIES[name], affinity)
        return
    ratios = 0
    for item in fields.children("priorities"):
        name, weight = item.text("name"), _weight(item)
        argument = item.child("argument")
        custom = [kind for kind in CUSTOM_PRIORITIES if argument.has(kind)]
        if item.has("argument") and not custom:
            wanted = ", ".join(CUSTOM_PRIORITIES)
            item.findings.refuse(item.at("argument"), f"none of {wanted} is given; kube-scheduler needs one of them")
        argument.warn_unread("kube-scheduler")
        item.warn_unread("kube-scheduler")
        if custom == ["requestedToCapacityRatioArguments"]:
            ratios += 1
            score = ratio_score(argument.child(custom[0]))
            found.scores.append(ConfiguredScore(name or RATIO, weight, score))
        elif custom:
            found.notes.append(note_of_custom_priority(name or custom[0]))
        elif name in PRIORITIES:
            _add(found, name, weight, PRIORITIES[name], affinity)
        else:
            known = [*PRIORITIES, RATIO]
            text = "needs its argument" if name == RATIO else f"no priority {quoted(name)}; {choices(name, known)}"
            item.findings.refuse(item.at("name"), text)
    if ratios > 1:
        fields.findings.refuse(fields.at("priorities"), "requestedToCapacityRatioArguments are given twice; keep one")


def _add(found: _Found, name: str, weight: int, arguments: ScoreArguments | None, affinity: InterPodAffinity) -> None:
    note = note_of_priority(name)
    if note is not None:
        found.notes.append(note)
    elif arguments is not None:
        chosen = affinity if isinstance(arguments, InterPodAffinity) else arguments
        found.scores.append(ConfiguredScore(name, weight, chosen))


def _weight(fields: Fields) -> int:
    weight = fields.integer("weight", 1) if fields.has("weight") else 0
    if not 0 < weight <= _LARGEST_WEIGHT:
        name = quoted(fields.text("name"))
        fields.findings.refuse(
            fields.at("weight"), f"found {weight} for {name}; a priority needs a weight of 1 or more"
        )
        return 1
    return weight


def _weighed(scores: list[ConfiguredScore]) -> Mapping[str, tuple[str, ...]]:
    return {
        score.plugin: tuple(resource for resource, _ in score.arguments.resources)
        for score in scores
        if isinstance(score.arguments, NodeResourcesFit | NodeResourcesBalancedAllocation)
    }
