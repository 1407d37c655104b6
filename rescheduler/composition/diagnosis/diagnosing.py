"""Reads the live cluster for ``doctor``; whatever cannot be read is a finding itself. Nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.composition.diagnosis.cluster_findings import cluster_findings
from rescheduler.composition.diagnosis.server_findings import server_findings
from rescheduler.composition.live.cluster_source import ClusterOptions, read_cluster
from rescheduler.composition.live.standing_rights import GRANTS
from rescheduler.composition.scheduler_sources import predictions
from rescheduler.extension_points import ClusterError, Progress, SnapshotError, no_progress
from rescheduler.model.objects.cluster import Cluster
from rescheduler.policy.fields.policy import Policy
from rescheduler.report.diagnosis import Diagnosed, Diagnosis, diagnosis_of
from rescheduler.scheduling.schedulers import DEFAULTS, Schedulers

_NEVER: Final = "doctor writes nothing"


def diagnose(options: ClusterOptions, policy: Policy, progress: Progress = no_progress) -> Diagnosis:
    """Everything that would keep a policy from working on a live cluster. Raises ClusterError where it is not there.

    Questions about rights are sent as POST, and store nothing; every other write is refused before it is sent.
    """
    connection = connect(options.kubeconfig, options.context, read_only=False, may_write=lambda: _NEVER)
    progress("asking the API server")
    findings = list(server_findings(connection, policy))
    findings += _in_cluster(options, policy, progress)
    return diagnosis_of(findings)


def diagnose_server(options: ClusterOptions, policy: Policy) -> Diagnosis:
    """The part of it that the API server tells of itself, without reading the cluster. Raises ClusterError."""
    connection = connect(options.kubeconfig, options.context, read_only=False, may_write=lambda: _NEVER)
    return diagnosis_of(server_findings(connection, policy))


def _in_cluster(options: ClusterOptions, policy: Policy, progress: Progress) -> Iterator[Diagnosed]:
    found = predictions(policy, options=options, progress=progress)
    wanted = ClusterOptions(kubeconfig=options.kubeconfig, context=options.context, config_maps=found.config_maps)
    schedulers = DEFAULTS
    try:
        cluster = read_cluster(wanted, progress)
        schedulers = found.schedulers(cluster)
    except (ClusterError, SnapshotError) as error:
        yield Diagnosed("Reading", "", f"the cluster cannot be read: {error}", GRANTS, True)
        return
    yield from cluster_findings(cluster, policy, schedulers)
    yield from _load(cluster, policy, schedulers)


def _load(cluster: Cluster, policy: Policy, schedulers: Schedulers) -> Iterator[Diagnosed]:
    """What providers of load answer to one question, where the policy names some."""
    if policy.usage.providers:
        for warning in schedulers.load.warnings(cluster):
            yield Diagnosed("MetricsSource", "usage.providers", warning, "docs/load-watcher.md tells of each source")
