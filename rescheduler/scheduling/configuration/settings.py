"""What a scheduler's configuration says, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rescheduler.model.objects.constraints import NodeAffinityRules, TopologySpreadConstraint
from rescheduler.scheduling.filters.node_usage import UsageThresholds
from rescheduler.scheduling.plugin import SchedulerFilter, SchedulerScore
from rescheduler.scheduling.reading.metrics_source import ForeignMetrics


class Effect(StrEnum):
    """What it means for predictions that something is not modelled."""

    HARMLESS = "Harmless"
    """It decides neither whether nor where a pod fits."""
    ESTIMATE = "Estimate"
    """Destinations are estimates: the scheduler may prefer another node."""
    UNKNOWN = "Unknown"
    """Feasibility is unknown: no prediction about the pods concerned, and they are not moved."""


@dataclass(frozen=True)
class NotModelled:
    """One plugin or extender that is not modelled, and what that means in a sentence.

    ``resources`` and ``pod_labels`` narrow the pods concerned to those that ask for one of the resources or carry one
    of the labels; both empty: every pod of the profile.
    """

    name: str
    effect: Effect
    meaning: str
    resources: tuple[str, ...] = ()
    pod_labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConfiguredScore:
    """One score by the plugin's own name, what it counts in the total, and how it is set."""

    plugin: str
    weight: int
    score: SchedulerScore


@dataclass(frozen=True)
class ConfiguredProfile:
    """One scheduler by the name that pods give in ``schedulerName``.

    ``filters``: names of plugins in the order in which they run; those of ``NotModelled`` are left out;
    ``filter_settings``: those that have arguments.
    ``ignored_resources`` and ``ignored_resource_groups`` (what stands before the slash) are not looked at by the
    filter. ``default_constraints`` hold for pods without any of their own; ``has_own_defaults``: an operator wrote
    them. ``percentage_of_nodes_to_score``: 0 leaves the share to the scheduler. ``load_source``: where the
    scheduler itself reads load, in words; ``metrics``: the same as data, of which ``metrics_source.py`` makes an
    offer for ``usage.providers``.
    """

    scheduler_name: str
    filters: tuple[str, ...]
    scores: tuple[ConfiguredScore, ...]
    filter_settings: Mapping[str, SchedulerFilter] = field(default_factory=dict)
    added_affinity: NodeAffinityRules | None = None
    usage_threshold: UsageThresholds | None = None
    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    has_own_defaults: bool = False
    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    percentage_of_nodes_to_score: int = 0
    not_modelled: tuple[NotModelled, ...] = ()
    weighed_resources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    load_source: str = ""
    metrics: tuple[ForeignMetrics, ...] = ()


@dataclass(frozen=True)
class Configuration:
    """Profiles by scheduler name, and what was corrected, ignored or not modelled, one line each.

    ``form``: what the text was, in words.
    """

    form: str
    profiles: Mapping[str, ConfiguredProfile]
    warnings: tuple[str, ...] = ()


def weighed_resources(scores: Iterable[ConfiguredScore]) -> dict[str, tuple[str, ...]]:
    """Resources that scores look at by name, by the plugin's own name."""
    return {each.plugin: each.score.weighed for each in scores if each.score.weighed}
