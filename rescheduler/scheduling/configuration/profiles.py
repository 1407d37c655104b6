"""Filters and scores of a configured profile, ready to predict: server version and usage come in here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rescheduler.extension_points import Filter, Score
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.usage.usage import Usage, UsageWindows, no_usage
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.scheduling.configuration.settings import Configuration, ConfiguredProfile, ConfiguredScore, Effect
from rescheduler.scheduling.filters import DEFAULT_FILTERS
from rescheduler.scheduling.filters.enforced_node_affinity import EnforcedNodeAffinity
from rescheduler.scheduling.filters.node_ready import NodeReady
from rescheduler.scheduling.filters.node_resources_fit import NodeResourcesFit
from rescheduler.scheduling.filters.node_usage import NodeUsage as NodeUsageFilter
from rescheduler.scheduling.filters.node_usage import UsageThresholds
from rescheduler.scheduling.profile import Profile, WeightedScore, scores_change_of_balance
from rescheduler.scheduling.scores import NodeAffinity, NodeResourcesBalancedAllocation, PodTopologySpread
from rescheduler.scheduling.scores.best_fit_bin_pack import BestFitBinPack, BestFitBinPackArguments
from rescheduler.scheduling.scores.load_variation_risk_balancing import (
    LoadVariationRiskBalancing,
    LoadVariationRiskBalancingArguments,
)
from rescheduler.scheduling.scores.low_risk_over_commitment import LowRiskOverCommitment, LowRiskOverCommitmentArguments
from rescheduler.scheduling.scores.node_affinity import AddedNodeAffinity
from rescheduler.scheduling.scores.node_usage import NodeUsage, NodeUsageArguments
from rescheduler.scheduling.scores.safe_balancing import SafeBalancing, SafeBalancingArguments
from rescheduler.scheduling.scores.target_load_packing import TargetLoadPacking, TargetLoadPackingArguments

# The load watcher answers with its longest window that has data.
_WATCHER_WINDOWS = (900.0, 600.0, 300.0)


@dataclass(frozen=True)
class NamedScore(Score):
    """A score under the name that a scheduler's configuration gives it."""

    name: str
    plugin: Score

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """What the plugin scores."""
        return self.plugin.score(pod, placement, feasible)

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """What the plugin says."""
        return self.plugin.explain(pod, nodes, placement, feasible)


def scheduling_profiles(
    configuration: Configuration, *, server_version: str | None, windows: UsageWindows | None, node_count: int
) -> dict[str, Profile]:
    """Profiles by scheduler name, for a SchedulerModel.

    ``windows``: measured load, aligned with the nodes; None where no provider is set: then scores that go by load go
    by requests, and thresholds of load keep no node out.
    """
    return {
        name: scheduling_profile(profile, server_version=server_version, windows=windows, node_count=node_count)
        for name, profile in configuration.profiles.items()
    }


def scheduling_profile(
    profile: ConfiguredProfile, *, server_version: str | None, windows: UsageWindows | None, node_count: int
) -> Profile:
    """One profile, as ``scheduling_profiles`` makes it."""
    scores = _Scores(profile, server_version, windows, node_count)
    return Profile(
        profile.scheduler_name,
        tuple(_filters(profile, windows)),
        tuple(WeightedScore(scores.of(score), score.weight) for score in profile.scores),
        tuple(f"{note.name}: {note.meaning}" for note in profile.not_modelled if note.effect is Effect.ESTIMATE),
        profile.percentage_of_nodes_to_score,
    )


def _filters(profile: ConfiguredProfile, windows: UsageWindows | None) -> Iterator[Filter]:
    fit = NodeResourcesFit(profile.ignored_resources, profile.ignored_resource_groups)
    by_name: Mapping[str, Filter] = {**{plugin.name: plugin for plugin in DEFAULT_FILTERS}, fit.name: fit}
    for name in profile.filters:
        if name == "NodeAffinity" and profile.added_affinity and profile.added_affinity.required is not None:
            yield EnforcedNodeAffinity(profile.added_affinity.required)
        yield by_name[name]
    if profile.usage_threshold is not None:
        found = profile.usage_threshold
        threshold = UsageThresholds(period=found.period_seconds, cpu=found.cpu, memory=found.memory)
        yield NodeUsageFilter(windows or UsageWindows({}), (threshold,))
    yield NodeReady()  # ours: the real scheduler sees taints instead, which come a moment later


@dataclass(frozen=True)
class _Scores:
    """Makes scores out of their arguments."""

    profile: ConfiguredProfile
    server_version: str | None
    windows: UsageWindows | None
    node_count: int

    def of(self, configured: ConfiguredScore) -> Score:
        """The score under its configured name."""
        made = self._made(configured.arguments)
        return made if made.name == configured.plugin else NamedScore(configured.plugin, made)

    def _made(self, arguments: Score | PolicyModel) -> Score:
        if isinstance(arguments, PolicyModel):
            return self._load_aware(arguments)
        if isinstance(arguments, NodeResourcesBalancedAllocation):
            return replace(arguments, scores_change=scores_change_of_balance(self.server_version))
        added = self.profile.added_affinity
        if isinstance(arguments, NodeAffinity) and added is not None and added.preferred:
            return AddedNodeAffinity(added.preferred)
        return arguments

    def _load_aware(self, arguments: PolicyModel) -> Score:
        if self.windows is None and "upstream_compatible" in type(arguments).model_fields:
            # Without metrics of ours the scheduler's own answer to missing metrics, 0 everywhere, would be no estimate.
            arguments = arguments.model_copy(update={"upstream_compatible": False})
        if isinstance(arguments, NodeUsageArguments):
            return NodeUsage(self.windows or UsageWindows({}), arguments)
        return _by_usage(arguments, self._usage(), self._spread())

    def _usage(self) -> Usage:
        if self.windows is not None:
            for seconds in _WATCHER_WINDOWS:
                found = self.windows.over(seconds)
                if found is not None:
                    return found
        return no_usage(self.node_count)

    def _spread(self) -> PodTopologySpread:
        return PodTopologySpread(self.profile.default_constraints, defaults_need_all_keys=self.profile.has_own_defaults)


def _by_usage(arguments: PolicyModel, usage: Usage, spread: PodTopologySpread) -> Score:
    """The score that takes such arguments; the more special ones first."""
    if isinstance(arguments, BestFitBinPackArguments):
        return BestFitBinPack(usage, arguments, spread)
    if isinstance(arguments, TargetLoadPackingArguments):
        return TargetLoadPacking(usage, arguments)
    if isinstance(arguments, LoadVariationRiskBalancingArguments):
        return LoadVariationRiskBalancing(usage, arguments)
    if isinstance(arguments, LowRiskOverCommitmentArguments):
        return LowRiskOverCommitment(usage, arguments)
    assert isinstance(arguments, SafeBalancingArguments)
    return SafeBalancing(usage, arguments)
