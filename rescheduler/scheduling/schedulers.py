"""Every scheduler of the cluster that can be predicted: how each is configured, and the measured load it goes by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import node_mark
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.plan.scheduler_rules import ArrivalRules, LoadLimit, SchedulerRules
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.scheduling.configuration import (
    Configuration,
    ConfiguredProfile,
    combined,
    configured_cluster,
    resources_unknown,
    scheduling_profiles,
)
from rescheduler.scheduling.filters import DEFAULT_FILTERS
from rescheduler.scheduling.filters.marked_node import MarkedNode
from rescheduler.scheduling.profile import Profile
from rescheduler.scheduling.reading.metrics_source import offer_of
from rescheduler.scheduling.scheduler_model import SchedulerModel

ADMISSION: Final = frozenset({"NodeAffinity", "NodePorts", "NodeResourcesFit"})
"""Filters that a node's kubelet applies to every pod that is bound to it, whatever its scheduler does."""


class MeasuredLoad(Protocol):
    """Where load comes from that schedulers go by."""

    def windows(self, cluster: Cluster) -> UsageWindows | None:
        """Load of a snapshot's nodes and pods, aligned with them; None where nothing is measured."""

    def warnings(self, cluster: Cluster) -> Sequence[str]:
        """What of it cannot be used for this snapshot."""


class NothingMeasured(MeasuredLoad):
    """No load is known."""

    def windows(self, cluster: Cluster) -> UsageWindows | None:  # noqa: ARG002 - for any cluster
        """Nothing."""
        return None

    def warnings(self, cluster: Cluster) -> Sequence[str]:  # noqa: ARG002
        """None."""
        return ()


def _defaults() -> Configuration:
    return combined(())


@dataclass(frozen=True)
class Schedulers:
    """Configuration of each scheduler by name, and where measured load comes from.

    By default there is one: ``default-scheduler``, as kube-scheduler comes, without measured load.
    """

    configuration: Configuration = field(default_factory=_defaults)
    load: MeasuredLoad = field(default_factory=NothingMeasured)

    @property
    def names(self) -> frozenset[str]:
        """Names that pods give in ``schedulerName``."""
        return frozenset(self.configuration.profiles)

    def configured(self, cluster: Cluster) -> Cluster:
        """The snapshot as the schedulers see it (``configured_cluster``); doing it twice changes nothing."""
        return configured_cluster(cluster, self.configuration.profiles)

    def model(
        self, cluster: Cluster, *, counts_nominated: bool = False, is_for_planning: bool = False
    ) -> SchedulerModel:
        """The predicted schedulers over a snapshot that is ``configured``.

        ``is_for_planning``: filters that a scheduler leaves out but kubelets apply hold too, since a pod that is sent
        to a node must also be let in there; and nodes that autoscalers take away are left out.
        """
        profiles = scheduling_profiles(
            self.configuration,
            server_version=cluster.server_version,
            windows=self.load.windows(cluster),
            node_count=len(cluster.nodes),
        )
        if is_for_planning:
            is_marked = any(node_mark(node) for node in cluster.nodes)
            profiles = {name: _for_planning(profile, is_marked=is_marked) for name, profile in profiles.items()}
        return SchedulerModel(columns_of(cluster), profiles, counts_nominated=counts_nominated)

    def rules(self, cluster: Cluster) -> ArrivalRules:
        """The same for the proof, as data."""
        rules = {name: _rules_of(profile) for name, profile in self.configuration.profiles.items()}
        return ArrivalRules(rules, self.load.windows(cluster))

    def warnings(self, cluster: Cluster) -> tuple[str, ...]:
        """What reading the configurations brought up, weighed resources that no node offers, load that is of no use."""
        offered = {name for node in cluster.nodes for name, _ in node.allocatable}
        return (
            *self.configuration.warnings,
            *(resources_unknown(self.configuration, offered) if offered else ()),
            *self.load.warnings(cluster),
            *(_offers(self.configuration) if self.load.windows(cluster) is None else ()),
        )


DEFAULTS: Final = Schedulers()
"""kube-scheduler as it comes, and no measured load."""


def _rules_of(profile: ConfiguredProfile) -> SchedulerRules:
    added = profile.added_affinity
    is_enforced = added is not None and "NodeAffinity" in profile.filters
    return SchedulerRules(
        filters=ADMISSION.union(profile.filters),
        required_affinity=added.required if added is not None and is_enforced else None,
        load_limits=tuple(_load_limits(profile)),
        ignored_resources=profile.ignored_resources,
        ignored_groups=profile.ignored_resource_groups,
    )


def _offers(configuration: Configuration) -> Iterator[str]:
    """Where schedulers themselves read load, for a policy that names no source: nothing is connected unasked."""
    told: set[str] = set()
    for name, profile in configuration.profiles.items():
        for found in profile.metrics:
            offer = offer_of(found)
            text = f"the policy could read it there too, with {offer}" if offer.providers else "; ".join(offer.warnings)
            if text not in told:
                told.add(text)
                yield f"{name}: scores go by load that is not measured here, so requests stand in; {text}"


def _load_limits(profile: ConfiguredProfile) -> Iterator[LoadLimit]:
    found = profile.usage_threshold
    if found is not None:
        limits = ((CPU, found.cpu), (MEMORY, found.memory))
        yield from (LoadLimit(name, most, found.period) for name, most in limits if most is not None)


def _for_planning(profile: Profile, *, is_marked: bool) -> Profile:
    present = {plugin.name for plugin in profile.filters}
    missing = tuple(plugin for plugin in DEFAULT_FILTERS if plugin.name in ADMISSION - present)
    marked = (MarkedNode(),) if is_marked else ()
    return replace(profile, filters=(*missing, *profile.filters, *marked)) if missing or marked else profile
