"""One profile of kube-scheduler: its plugins, their arguments, and what of it is not modelled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rescheduler.scheduling.configuration.extenders import ExtenderSettings
from rescheduler.scheduling.configuration.known_plugins import (
    POINTS,
    filters_nodes,
    is_removed,
    known_names,
    not_modelled,
    points_of,
    score_class,
)
from rescheduler.scheduling.configuration.plugin_config import PluginArguments, read_plugin_config
from rescheduler.scheduling.configuration.plugin_sets import (
    EVERY,
    MULTI_POINT,
    Enabled,
    Expansion,
    PluginSet,
    default_sets,
    expanded,
    merged,
    weights_overflow,
)
from rescheduler.scheduling.configuration.settings import (
    ConfiguredProfile,
    ConfiguredScore,
    NotModelled,
    weighed_resources,
)
from rescheduler.scheduling.plugin import FIRST_FORMS
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import choices, quoted

# In the second beta and before, "unreserve" stood beside the points of today.
_EARLIER_POINTS = ("unreserve",)
# These stand at the score point, but all nodes get 0: behind a gate that is off, or for pods without a prediction.
_WITHOUT_SCORES = {"VolumeBinding", "DynamicResources"}


class QueueSort(NamedTuple):
    """How a profile sorts the queue; the same for all profiles of one scheduler."""

    enabled: tuple[str, ...]
    disabled: frozenset[str]


def read_profile(
    fields: Fields, name: str, version: str, share: int, extenders: ExtenderSettings
) -> tuple[ConfiguredProfile, QueueSort]:
    """One entry of ``profiles``; ``share``: the file's own percentage of nodes to score."""
    own_share = fields.integer("percentageOfNodesToScore", share, 0, 100)
    arguments = read_plugin_config(fields.children("pluginConfig"), version)
    written = _written_sets(fields.child("plugins"), version)
    fields.has("schedulerName")
    fields.refuse_unread()
    sets = {
        point: merged(default_sets(version).get(point, PluginSet()), written.get(point, PluginSet()))
        for point in (MULTI_POINT, *POINTS)
    }
    expansion = expanded(sets)
    _refuse_doubled(fields, expansion)
    _check_weights(fields, expansion, sets)
    _refuse_missing(fields, expansion)
    _refuse_unset(fields, expansion, arguments)
    queue = sets["queueSort"]
    sort = QueueSort(tuple(entry.name for entry in queue.enabled), queue.disabled)
    return profile_of(name, expansion, arguments, extenders, own_share), sort


def profile_of(
    name: str, expansion: Expansion, arguments: PluginArguments, extenders: ExtenderSettings, share: int
) -> ConfiguredProfile:
    """The profile that plugins and arguments make together."""
    scores = tuple(_scores(expansion, arguments))
    filters = tuple(plugin for plugin in expansion.at["filter"] if filters_nodes(plugin))
    gates = ("SchedulingGates",) if "SchedulingGates" in expansion.at["preEnqueue"] else ()
    notes = tuple(_notes(expansion))
    settings = [arguments.of(score.plugin) for score in scores]
    decided: dict[str, Any] = {name: value for each in arguments.profile() for name, value in each.items()}
    ignored = (*decided.pop("ignored_resources", ()), *extenders.ignored_resources)
    return ConfiguredProfile(
        scheduler_name=name,
        filters=(*gates, *filters),
        scores=scores,
        ignored_resources=ignored,
        percentage_of_nodes_to_score=share,
        filter_settings={name: found for name in filters if (found := arguments.of(name).filter) is not None},
        not_modelled=(*notes, *extenders.not_modelled),
        weighed_resources=weighed_resources(scores),
        load_source="; ".join(dict.fromkeys(each.load_source for each in settings if each.load_source)),
        metrics=tuple(dict.fromkeys(each.metrics for each in settings if each.metrics is not None)),
        **decided,
    )


def _written_sets(fields: Fields, version: str) -> dict[str, PluginSet]:
    points = [*POINTS] if version in FIRST_FORMS else [MULTI_POINT, *POINTS]
    found = {point: _plugin_set(fields.child(point), point, version) for point in points if fields.has(point)}
    if version in FIRST_FORMS:
        for point in _EARLIER_POINTS:
            fields.has(point)
    fields.refuse_unread()
    return found


def _plugin_set(fields: Fields, point: str, version: str) -> PluginSet:
    enabled = []
    for item in fields.children("enabled"):
        entry = Enabled(item.text("name"), item.integer("weight", 0), item.path)
        item.refuse_unread()
        _check_plugin(item, entry, point, version)
        enabled.append(entry)
    disabled = set()
    for item in fields.children("disabled"):
        name = item.text("name")
        item.has("weight")
        item.refuse_unread()
        disabled.add(name)
        if name != EVERY and points_of(name) is None:
            text = f"switches off {quoted(name)}, which is no plugin that is known; {_plugin_choices(name)}"
            item.findings.warn(item.at("name"), text)
    fields.refuse_unread()
    return PluginSet(tuple(enabled), frozenset(disabled))


def _check_plugin(item: Fields, entry: Enabled, point: str, version: str) -> None:
    points = points_of(entry.name)
    path = item.at("name")
    if not entry.name or entry.name == EVERY:
        item.findings.refuse(path, f"found {quoted(entry.name)}; wanted the name of one plugin")
    elif is_removed(entry.name) and version not in FIRST_FORMS:
        item.findings.refuse(path, f"{entry.name} was removed before {version}; kube-scheduler refuses it")
    elif points is None:
        text = f"{quoted(entry.name)} is no plugin that is known: kube-scheduler starts only if it was built with it"
        item.findings.warn(path, f"{text}; {_plugin_choices(entry.name)}")
    elif point not in (MULTI_POINT, *points):
        item.findings.refuse(path, f"{entry.name} does not stand at {point}; it stands at {', '.join(points)}")


def _plugin_choices(name: str) -> str:
    return choices(name, known_names())


def _refuse_doubled(fields: Fields, expansion: Expansion) -> None:
    for entry in expansion.doubled:
        path = entry.path or fields.at("plugins")
        fields.findings.refuse(path, f"{quoted(entry.name)} is enabled twice at one point; keep one")


def _refuse_missing(fields: Fields, expansion: Expansion) -> None:
    """A profile sorts the queue in one way, and binds pods."""
    count = len(expansion.at["queueSort"])
    known = [name for name in expansion.at["queueSort"] if points_of(name) is not None]
    if count == 0 or len(known) > 1:
        text = f"{count} plugins sort the queue; kube-scheduler wants one such as PrioritySort"
        fields.findings.refuse(fields.at("plugins"), text)
    if not expansion.at["bind"]:
        text = "no plugin binds pods; kube-scheduler wants one such as DefaultBinder"
        fields.findings.refuse(fields.at("plugins"), text)


def _refuse_unset(fields: Fields, expansion: Expansion, arguments: PluginArguments) -> None:
    for plugin in expansion.at["score"]:
        score = score_class(plugin)
        if score is not None and score.required and arguments.of(plugin).score is None:
            text = f"{plugin} scores without {score.required}; give it one in pluginConfig"
            fields.findings.refuse(fields.at("plugins"), text)


def _check_weights(fields: Fields, expansion: Expansion, sets: Mapping[str, PluginSet]) -> None:
    findings = fields.findings
    scoring = set(expansion.at["score"]) - _WITHOUT_SCORES
    overflows = weights_overflow(sets)
    negative = [entry for point in ("score", MULTI_POINT) for entry in sets[point].enabled if entry.weight < 0]
    for entry in negative:
        path = (*(entry.path or ()), "weight")
        if overflows:
            findings.refuse(path, f"found {entry.weight}; kube-scheduler takes a sum below 0 for an overflow, refused")
        elif entry.name in scoring:
            text = f"a weight of {entry.weight} makes {entry.name} prefer the nodes that it scores lowest"
            findings.warn(path, f"{text}; kube-scheduler takes it as it stands")
    if overflows and not negative:
        findings.refuse(fields.at("plugins"), "the weights are so large that their sum overflows")
    for point in ("score", MULTI_POINT):
        for entry in sets[point].enabled:
            if entry.name in scoring and entry.weight == 0 and "weight" in _data_at(fields, entry):
                text = f"a weight of 0 for {entry.name} counts as 1; to switch it off, write it under {point}.disabled"
                findings.warn((*(entry.path or ()), "weight"), text)


def _data_at(fields: Fields, entry: Enabled) -> dict[str, object]:
    """The entry as it was written; nothing for a default."""
    if entry.path is None:
        return {}
    data = fields.findings.document.data
    for step in entry.path:
        data = data[step]
    return dict(data)


def _scores(expansion: Expansion, arguments: PluginArguments) -> Iterator[ConfiguredScore]:
    for plugin in expansion.at["score"]:
        score = arguments.of(plugin).score
        if score is not None:
            yield ConfiguredScore(plugin, expansion.weights[plugin], score)


def _notes(expansion: Expansion) -> Iterator[NotModelled]:
    for plugin in dict.fromkeys(name for point in POINTS for name in expansion.at[point]):
        points = frozenset(point for point in POINTS if plugin in expansion.at[point])
        note = not_modelled(plugin, points)
        if note is not None:
            yield note


def uses_load(profile: ConfiguredProfile) -> bool:
    """Whether the profile scores or filters by measured load."""
    return profile.usage_threshold is not None or any(score.score.goes_by_load for score in profile.scores)
