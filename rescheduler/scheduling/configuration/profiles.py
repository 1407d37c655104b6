"""Filters and scores of a configured profile, ready to predict: server version and usage come in here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from rescheduler.extension_points import Filter, Score
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.policy.plugins import asked
from rescheduler.scheduling.configuration.known_plugins import filter_class
from rescheduler.scheduling.configuration.settings import Configuration, ConfiguredProfile, ConfiguredScore, Effect
from rescheduler.scheduling.filters import FILTERS
from rescheduler.scheduling.filters.enforced_node_affinity import EnforcedNodeAffinity
from rescheduler.scheduling.filters.node_ready import NodeReady
from rescheduler.scheduling.filters.node_resources_fit import NodeResourcesFit
from rescheduler.scheduling.filters.node_usage import NodeUsage
from rescheduler.scheduling.foreign import ForeignFilter, ForeignScore
from rescheduler.scheduling.plugin import Surroundings
from rescheduler.scheduling.profile import Profile, WeightedScore
from rescheduler.scheduling.scores import SCORES

_OWN_MODULES = frozenset(where.partition(":")[0] for where in SCORES.own.values())


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
    defaults = profile.default_constraints
    surroundings = Surroundings(node_count, server_version, windows, defaults, profile.has_own_defaults)
    return Profile(
        profile.scheduler_name,
        tuple(_filters(profile, windows)),
        tuple(WeightedScore(_fitted(score, surroundings), score.weight) for score in profile.scores),
        tuple(f"{note.name}: {note.meaning}" for note in profile.not_modelled if note.effect is Effect.ESTIMATE),
        profile.percentage_of_nodes_to_score,
    )


def _fitted(configured: ConfiguredScore, surroundings: Surroundings) -> Score:
    """The score under its configured name."""
    if type(configured.score).__module__ not in _OWN_MODULES:
        fitted = partial(configured.score.fitted, surroundings)
        return ForeignScore(configured.plugin, asked(SCORES, configured.plugin, "fitted", fitted))
    made = configured.score.fitted(surroundings)
    return made if made.name == configured.plugin else NamedScore(configured.plugin, made)


def _filters(profile: ConfiguredProfile, windows: UsageWindows | None) -> Iterator[Filter]:
    fit = NodeResourcesFit(profile.ignored_resources, profile.ignored_resource_groups)
    for name in profile.filters:
        if name == "NodeAffinity" and profile.added_affinity and profile.added_affinity.required is not None:
            yield EnforcedNodeAffinity(profile.added_affinity.required)
        found = filter_class(name)
        if found is not None and name not in FILTERS.own:
            yield ForeignFilter(name, profile.filter_settings.get(name) or asked(FILTERS, name, "it", found.of))
        elif found is not None:
            yield fit if name == fit.name else found.of()
    if profile.usage_threshold is not None:
        yield NodeUsage(windows or UsageWindows({}), (profile.usage_threshold,))
    yield NodeReady()  # ours: the real scheduler sees taints instead, which come a moment later
