"""What of a DeschedulerPolicy comes to nothing, or to nothing lasting, on the cluster that it is for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rescheduler.descheduler.arguments import NamespaceChoice
from rescheduler.descheduler.plugins.node_utilization import (
    HighNodeUtilizationArguments,
    LowNodeUtilizationArguments,
)
from rescheduler.descheduler.plugins.usage_sources import METRIC_RESOURCE
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy, EnabledProfile
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.resources import PODS
from rescheduler.model.printable import printable
from rescheduler.scheduling.configuration import ConfiguredProfile

EMPTIES = "HighNodeUtilization"


def cluster_findings(
    written: DeschedulerPolicy, cluster: Cluster, schedulers: Iterable[ConfiguredProfile]
) -> Iterator[str]:
    """One sentence each, with where in the file it is about. ``schedulers``: those that place the cluster's pods."""
    loose = [profile.scheduler_name for profile in schedulers if not _packs(profile)]
    for profile in written.profiles:
        where = f"profile {printable(profile.name, 60)}"
        for name, arguments in (*profile.deschedule, *profile.balance):
            if isinstance(arguments, LowNodeUtilizationArguments | HighNodeUtilizationArguments):
                yield from _absent_resources(f"{where}, {name}", arguments, cluster)
            for field in ("namespaces", "evictable_namespaces"):
                choice = getattr(arguments, field, None)
                if isinstance(choice, NamespaceChoice):
                    yield from _absent_namespaces(f"{where}, {name}", choice, cluster)
            if name == EMPTIES and loose:
                text = f"{', '.join(loose)} does not score MostAllocated, so that pods come back to the emptied nodes"
                yield f"{where}, {name}: {text}"
        yield from _absent_classes(where, profile, cluster)


def _packs(profile: ConfiguredProfile) -> bool:
    return any(each.weight > 0 and getattr(each.score, "strategy", "") == "MostAllocated" for each in profile.scores)


def _absent_resources(
    where: str, arguments: LowNodeUtilizationArguments | HighNodeUtilizationArguments, cluster: Cluster
) -> Iterator[str]:
    known = {PODS, METRIC_RESOURCE}
    for node in cluster.nodes:
        known.update(name for name, _ in (*node.allocatable, *node.capacity))
    for name in sorted(set(arguments.thresholds) - known):
        yield f"{where}, thresholds.{printable(name, 60)}: no node has it, so that none has room and nobody is evicted"


def _absent_namespaces(where: str, choice: NamespaceChoice, cluster: Cluster) -> Iterator[str]:
    """Nothing where the cluster's namespaces are not known."""
    known = set(cluster.namespace_labels)
    for name in (*choice.include, *choice.exclude):
        if known and name not in known:
            yield f"{where}: there is no namespace {printable(name, 60)}"


def _absent_classes(where: str, profile: EnabledProfile, cluster: Cluster) -> Iterator[str]:
    config = profile.evictor.pod_protections.config
    claims = None if config is None else config.pods_with_pvc
    known = {found.name for found in cluster.storage_classes}
    for one in () if claims is None else claims.protected_storage_classes:
        if known and one.name not in known:
            yield f"{where}, DefaultEvictor: there is no StorageClass {printable(one.name, 60)}"
