"""Arguments of kube-scheduler's plugins and of those that are known beside them: ``pluginConfig``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rescheduler.model.objects.constraints import NodeAffinity
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.reading.document import Path
from rescheduler.scheduling.configuration import load_aware_arguments, resource_arguments
from rescheduler.scheduling.configuration.affinity_arguments import added_affinity
from rescheduler.scheduling.configuration.fields import Fields
from rescheduler.scheduling.configuration.findings import choices, quoted
from rescheduler.scheduling.configuration.known_plugins import IN_TREE, LOAD_AWARE, OTHERS, REMOVED, points_of
from rescheduler.scheduling.configuration.metrics_source import ForeignMetrics
from rescheduler.scheduling.configuration.resource_arguments import LEAST, MOST, RATIO, FitSettings
from rescheduler.scheduling.configuration.settings import ScoreArguments
from rescheduler.scheduling.configuration.spread_arguments import SpreadSettings, spread_settings
from rescheduler.scheduling.scores import InterPodAffinity, NodeResourcesBalancedAllocation, NodeResourcesFit
from rescheduler.scheduling.scores.volume_binding import VolumeBinding


@dataclass
class PluginArguments:
    """What all entries of one ``pluginConfig`` say; what none says is the default."""

    fit: FitSettings = field(default_factory=FitSettings)
    balanced: NodeResourcesBalancedAllocation = field(default_factory=NodeResourcesBalancedAllocation)
    affinity: InterPodAffinity = field(default_factory=InterPodAffinity)
    spread: SpreadSettings = field(default_factory=SpreadSettings)
    added: NodeAffinity | None = None
    ratio: NodeResourcesFit | None = None
    least: NodeResourcesFit = field(default_factory=lambda: NodeResourcesFit(LEAST))
    most: NodeResourcesFit = field(default_factory=lambda: NodeResourcesFit(MOST))
    volume_binding: VolumeBinding | None = None
    load_aware: dict[str, PolicyModel] = field(default_factory=dict)
    load_sources: dict[str, str] = field(default_factory=dict)
    load_metrics: dict[str, ForeignMetrics] = field(default_factory=dict)
    paths: dict[str, Path] = field(default_factory=dict)

    def of_score(self, plugin: str) -> ScoreArguments | None:
        """How a score is set; None for one that takes no arguments here."""
        if plugin in LOAD_AWARE:
            return self.load_aware.get(plugin) or load_aware_arguments.DEFAULTS[plugin]
        known: Mapping[str, ScoreArguments | None] = {
            "NodeResourcesFit": self.fit.score,
            "NodeResourcesBalancedAllocation": self.balanced,
            "InterPodAffinity": self.affinity,
            "NodeResourcesLeastAllocated": self.least,
            "NodeResourcesMostAllocated": self.most,
            "RequestedToCapacityRatio": self.ratio,
            "VolumeBinding": self.volume_binding,
        }
        return known.get(plugin)


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


def _read_arguments(found: PluginArguments, plugin: str, fields: Fields, version: str) -> None:  # noqa: C901 - a table
    is_first_form = version in ("v1alpha1", "v1alpha2", "v1beta1")
    if plugin in REMOVED and not is_first_form:
        text = f"{plugin} was removed before {version}; kube-scheduler refuses it"
        fields.findings.refuse(found.paths[plugin], text)
    elif plugin == "NodeResourcesFit":
        found.fit = resource_arguments.fit_settings(fields, has_strategy=not is_first_form)
    elif plugin == "NodeResourcesBalancedAllocation":
        found.balanced = resource_arguments.balanced_allocation(fields)
    elif plugin == "NodeResourcesLeastAllocated":
        found.least = resource_arguments.least_or_most(fields, LEAST)
    elif plugin == "NodeResourcesMostAllocated":
        found.most = resource_arguments.least_or_most(fields, MOST)
    elif plugin == RATIO:
        found.ratio = resource_arguments.capacity_ratio(fields)
    elif plugin == "InterPodAffinity":
        found.affinity = _inter_pod_affinity(fields)
    elif plugin == "NodeAffinity":
        found.added = added_affinity(fields)
    elif plugin == "PodTopologySpread":
        found.spread = spread_settings(fields, version=version)
    elif plugin in LOAD_AWARE:
        found.load_sources[plugin] = load_aware_arguments.load_source(fields)
        found.load_metrics[plugin] = load_aware_arguments.load_metrics(fields)
        found.load_aware[plugin] = load_aware_arguments.read_load_aware(fields, plugin)
    elif plugin == "VolumeBinding":
        found.volume_binding = _volume_binding(fields)
    elif plugin == "DefaultPreemption":
        _default_preemption(fields)
    elif points_of(plugin) is None:
        fields.findings.warn(found.paths[plugin], f"no plugin that is known; {choices(plugin, [*IN_TREE, *OTHERS])}")


def _inter_pod_affinity(fields: Fields) -> InterPodAffinity:
    weight = fields.integer("hardPodAffinityWeight", 1, 0, 100)
    ignores = fields.boolean("ignorePreferredTermsOfExistingPods", default=False)
    fields.refuse_unread()
    return InterPodAffinity(weight, ignores)


def _default_preemption(fields: Fields) -> None:
    """No plan counts on preemption; only what kube-scheduler refuses is told."""
    share = fields.integer("minCandidateNodesPercentage", 10, 0, 100)
    if fields.integer("minCandidateNodesAbsolute", 100, low=0) == 0 and share == 0:
        text = "0 beside minCandidateNodesPercentage 0; kube-scheduler wants one of them above 0"
        fields.findings.refuse(fields.at("minCandidateNodesAbsolute"), text)
    fields.refuse_unread()


def _volume_binding(fields: Fields) -> VolumeBinding | None:
    """A score only where a shape is written: without its gate kube-scheduler gives all nodes 0."""
    fields.integer("bindTimeoutSeconds", 600, low=0)
    found = None
    if fields.has("shape"):
        text = "kube-scheduler refuses it unless its gate StorageCapacityScoring is on; here the gate is taken as on"
        fields.findings.warn(fields.at("shape"), text, at_key=True)
        found = VolumeBinding(resource_arguments.read_shape(fields))
    fields.refuse_unread()
    return found
