"""The Policy that kube-scheduler read before 1.23: predicates and priorities, with the arguments of KEP-964."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from rescheduler.scheduling.configuration.extenders import read_extenders
from rescheduler.scheduling.configuration.settings import (
    Configuration,
    ConfiguredProfile,
    ConfiguredScore,
    Effect,
    NotModelled,
    weighed_resources,
)
from rescheduler.scheduling.filters import DEFAULT_FILTERS
from rescheduler.scheduling.plugin import SchedulerScore
from rescheduler.scheduling.profile import DEFAULT_SCHEDULER
from rescheduler.scheduling.reading.documents import ReadDocument
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import Findings, choices, quoted
from rescheduler.scheduling.scores import SCORES

KIND: Final = "Policy"
FORM: Final = "legacy Policy"
_LARGEST_WEIGHT = 2**31 - 1
# The node's conditions became taints; TaintToleration and NodeReady stand for them.
_CONDITIONS: Final = ("CheckNodeMemoryPressure", "CheckNodeDiskPressure", "CheckNodePIDPressure")
_MANDATORY: Final = ("NodeUnschedulable", "TaintToleration")
_CUSTOM_PREDICATES: Final = ("serviceAffinity", "labelsPresence")
_RATIO: Final = "RequestedToCapacityRatioPriority"
_CUSTOM_PRIORITIES: Final = ("serviceAntiAffinity", "labelPreference")
_DEFAULT_PRIORITIES: Mapping[str, int] = {
    "SelectorSpreadPriority": 1,
    "InterPodAffinityPriority": 1,
    "LeastRequestedPriority": 1,
    "BalancedResourceAllocation": 1,
    "NodePreferAvoidPodsPriority": 10000,
    "NodeAffinityPriority": 1,
    "TaintTolerationPriority": 1,
    "ImageLocalityPriority": 1,
}
_ESTIMATE = (Effect.ESTIMATE, "not modelled: its score is unknown: destinations are estimates")
_NO_PREDICTION = "not modelled, and it filters nodes: no prediction about its pods and they are not moved"
_NOT_MODELLED: Mapping[str, tuple[Effect, str]] = {
    "EqualPriority": (Effect.HARMLESS, "scores all nodes alike: harmless"),
    "NodePreferAvoidPodsPriority": (
        Effect.HARMLESS,
        "not modelled: harmless unless nodes carry the annotation scheduler.alpha.kubernetes.io/preferAvoidPods",
    ),
    "SelectorSpreadPriority": _ESTIMATE,
    "ServiceSpreadingPriority": _ESTIMATE,
    "ResourceLimitsPriority": _ESTIMATE,
}


@cache
def _predicate_filters() -> Mapping[str, frozenset[str]]:
    """Filters by the predicates that switch them on."""
    found: dict[str, frozenset[str]] = dict.fromkeys(_CONDITIONS, frozenset())
    for plugin in DEFAULT_FILTERS:
        for predicate in plugin.predicates:
            found[predicate] = found.get(predicate, frozenset()) | {plugin.name}
    return found


@cache
def _priority_scores() -> Mapping[str, SchedulerScore]:
    """Scores by the priorities that they were called."""
    classes = [SCORES.get(name) for name in SCORES.own]
    return {each.name: score.of(**each.settings) for score in classes for each in score.priorities}


@cache
def _custom_scores() -> Mapping[str, type[SchedulerScore]]:
    """Scores by the field of ``argument`` that sets them."""
    classes = [SCORES.get(name) for name in SCORES.own]
    return {score.legacy_argument: score for score in classes if score.legacy_argument}


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
    # 0 counts as not given.
    affinity = fields.integer("hardPodAffinitySymmetricWeight", 1, 0, 100) or 1
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
        weighed_resources=weighed_resources(found.scores),
    )
    return Configuration(FORM, {name: profile}, findings.warning_lines())


def _in_order(names: set[str] | None) -> tuple[str, ...]:
    kept = [plugin.name for plugin in DEFAULT_FILTERS if plugin.name != "NodeReady"]
    return tuple(name for name in kept if names is None or name == "SchedulingGates" or name in names)


def _predicates(fields: Fields, found: _Found) -> None:
    if fields.raw("predicates") is None:
        return
    filters, known = set(_MANDATORY), _predicate_filters()
    for item in fields.children("predicates"):
        name = item.text("name")
        argument = item.child("argument")
        custom = [kind for kind in _CUSTOM_PREDICATES if argument.has(kind)]
        argument.warn_unread("kube-scheduler")
        item.warn_unread("kube-scheduler")
        if custom:
            found.notes.append(NotModelled(name or custom[0], Effect.UNKNOWN, _NO_PREDICTION))
        elif name in known:
            filters.update(known[name])
        else:
            item.findings.refuse(item.at("name"), f"no predicate {quoted(name)}; {choices(name, [*known])}")
    found.filters = filters


def _priorities(fields: Fields, found: _Found, affinity: int) -> None:
    if fields.raw("priorities") is None:
        for name, weight in _DEFAULT_PRIORITIES.items():
            _add(found, name, weight, affinity)
        return
    ratios = 0
    known = [*_priority_scores(), *_NOT_MODELLED]
    kinds = (*_CUSTOM_PRIORITIES, *_custom_scores())
    for item in fields.children("priorities"):
        name, weight = item.text("name"), _weight(item)
        argument = item.child("argument")
        custom = [kind for kind in kinds if argument.has(kind)]
        if item.has("argument") and not custom:
            wanted = ", ".join(kinds)
            item.findings.refuse(item.at("argument"), f"none of {wanted} is given; kube-scheduler needs one of them")
        argument.warn_unread("kube-scheduler")
        item.warn_unread("kube-scheduler")
        if len(custom) == 1 and custom[0] in _custom_scores():
            ratios += 1
            score = _custom_scores()[custom[0]].read_legacy(argument.child(custom[0]))
            found.scores.append(ConfiguredScore(name or _RATIO, weight, score))
        elif custom:
            found.notes.append(NotModelled(name or custom[0], *_ESTIMATE))
        elif name in known:
            _add(found, name, weight, affinity)
        else:
            advice = choices(name, [*known, _RATIO])
            text = "needs its argument" if name == _RATIO else f"no priority {quoted(name)}; {advice}"
            item.findings.refuse(item.at("name"), text)
    if ratios > 1:
        fields.findings.refuse(fields.at("priorities"), "requestedToCapacityRatioArguments are given twice; keep one")


def _add(found: _Found, name: str, weight: int, affinity: int) -> None:
    score = _priority_scores().get(name)
    if score is None:
        found.notes.append(NotModelled(name, *_NOT_MODELLED[name]))
    else:
        found.scores.append(ConfiguredScore(name, weight, score.with_hard_affinity(affinity)))


def _weight(fields: Fields) -> int:
    weight = fields.integer("weight", 1) if fields.has("weight") else 0
    if not 0 < weight <= _LARGEST_WEIGHT:
        name = quoted(fields.text("name"))
        fields.findings.refuse(
            fields.at("weight"), f"found {weight} for {name}; a priority needs a weight of 1 or more"
        )
        return 1
    return weight
