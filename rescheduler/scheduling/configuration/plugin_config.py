"""``pluginConfig`` of a KubeSchedulerConfiguration: what each entry says to the plugin of its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from rescheduler.policy.plugins import asked
from rescheduler.policy.reading.document import Path
from rescheduler.scheduling.configuration.known_plugins import (
    filter_class,
    is_removed,
    known_names,
    points_of,
    score_class,
)
from rescheduler.scheduling.filters import FILTERS
from rescheduler.scheduling.plugin import FIRST_FORMS, PluginSettings
from rescheduler.scheduling.profile import DEFAULT_SCORES
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import choices, quoted
from rescheduler.scheduling.scores import SCORES


@dataclass
class PluginArguments:
    """What all entries of one ``pluginConfig`` say; what none says is the plugin's default."""

    written: dict[str, PluginSettings] = field(default_factory=dict)
    paths: dict[str, Path] = field(default_factory=dict)

    def of(self, plugin: str) -> PluginSettings:
        """How a plugin is set."""
        found = self.written.get(plugin)
        score = score_class(plugin) if found is None and points_of(plugin) is not None else None
        return found or (PluginSettings() if score is None else asked(SCORES, plugin, "default", score.default))

    def profile(self) -> Iterator[Mapping[str, object]]:
        """Fields of the configured profile that plugins decide, whether they run or not."""
        for plugin in dict.fromkeys((*DEFAULT_SCORES, *self.written)):
            yield self.of(plugin).profile


def read_plugin_config(entries: Iterable[Fields], version: str) -> PluginArguments:
    """Every entry of ``pluginConfig``, each plugin once."""
    found = PluginArguments()
    for entry in entries:
        name = entry.text("name")
        if not name:
            entry.findings.warn(entry.path, "name is missing, so it configures nothing; write the plugin's name")
        elif name in found.paths:
            entry.findings.refuse(entry.at("name"), f"a second configuration of {quoted(name)}; keep one")
        else:
            found.paths[name] = entry.at("name")
            _read_arguments(found, name, _arguments(entry, name, version), version)
        entry.has("args")
        entry.refuse_unread()
    return found


def _arguments(entry: Fields, plugin: str, file_version: str) -> Fields:
    arguments = entry.child("args")
    kind, version = arguments.text("kind"), arguments.text("apiVersion")
    if kind and points_of(plugin) is not None and kind != f"{plugin}Args":
        arguments.findings.refuse(arguments.at("kind"), f"found {quoted(kind)}; wanted {plugin}Args")
    if version and points_of(plugin) is not None and version != f"kubescheduler.config.k8s.io/{file_version}":
        text = f"found {quoted(version)}; write the apiVersion of the whole file, or leave it out"
        arguments.findings.refuse(arguments.at("apiVersion"), text)
    return arguments


def _read_arguments(found: PluginArguments, plugin: str, fields: Fields, version: str) -> None:
    score, filter_of_name = score_class(plugin), filter_class(plugin)
    if points_of(plugin) is None:
        fields.findings.warn(found.paths[plugin], f"no plugin that is known; {choices(plugin, known_names())}")
    elif is_removed(plugin) and version not in FIRST_FORMS:
        text = f"{plugin} was removed before {version}; kube-scheduler refuses it"
        fields.findings.refuse(found.paths[plugin], text)
    elif score is not None or filter_of_name is not None:
        settings = PluginSettings()
        if score is not None:
            settings = asked(SCORES, plugin, "read", partial(score.read, fields, version))
        if filter_of_name is not None:
            settings = settings._replace(filter=asked(FILTERS, plugin, "read", partial(filter_of_name.read, fields)))
        found.written[plugin] = settings
    elif plugin == "DefaultPreemption":
        _default_preemption(fields)


def _default_preemption(fields: Fields) -> None:
    """No plan counts on preemption; only what kube-scheduler refuses is told."""
    share = fields.integer("minCandidateNodesPercentage", 10, 0, 100)
    if fields.integer("minCandidateNodesAbsolute", 100, low=0) == 0 and share == 0:
        text = "0 beside minCandidateNodesPercentage 0; kube-scheduler wants one of them above 0"
        fields.findings.refuse(fields.at("minCandidateNodesAbsolute"), text)
    fields.refuse_unread()
