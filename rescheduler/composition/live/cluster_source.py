"""Where the cluster is: recordings, or a live one; what is read from it, recorded of it, and cleaned up in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rescheduler.extension_points import Progress, no_progress
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.policy import Policy

if TYPE_CHECKING:
    from rescheduler.adapters.kubernetes.client.connection import Connection


@dataclass(frozen=True)
class ClusterOptions:
    """Where the cluster is: recordings (``-`` is standard input), or a kubeconfig and context as kubectl reads them.

    ``config_maps``: those that are wanted too, by ``NAMESPACE/NAME``; ``with_details``: states of the pods too.
    """

    filenames: tuple[str, ...] = ()
    kubeconfig: str | None = None
    context: str | None = None
    config_maps: tuple[str, ...] = ()
    with_details: bool = False


def read_cluster(options: ClusterOptions, progress: Progress = no_progress) -> Cluster:
    """Read the whole cluster once. Raises SnapshotError or ClusterError."""
    if options.filenames:
        from rescheduler.adapters.files.recording.reading import read_recording

        stdin = sys.stdin.buffer if "-" in options.filenames else None
        return read_recording(
            options.filenames, stdin, progress, options.config_maps, with_details=options.with_details
        )
    from rescheduler.adapters.kubernetes.reading.reader import LiveReader
    from rescheduler.adapters.kubernetes.reading.single_entries import read_config_maps

    connection = connected(options, read_only=True)
    config_maps = read_config_maps(connection, options.config_maps)  # first: a missing one is found out at once
    reader = LiveReader(connection, progress, with_details=options.with_details)
    return replace(reader.read(), config_maps=config_maps)


def with_network_policies(connection: Connection, policy: Policy, cluster: Cluster) -> Cluster:
    """A snapshot with the NetworkPolicies of wherever pods may move by surge, as far as we may read them.

    Without the right to, the snapshot as it is, which says that they were not read. Raises ClusterError.
    """
    from rescheduler.adapters.kubernetes.client.failures import ForbiddenError
    from rescheduler.adapters.kubernetes.reading.network_policies import completed

    named = [rule.namespaces for rule in policy.disruption.move_by if rule.method is MoveMethod.SURGE]
    whole = policy.scope.namespaces.include or ()
    places = whole if None in named else [name for names in named for name in names or ()]
    try:
        return completed(connection, places, cluster)
    except ForbiddenError:
        return cluster


def record(options: ClusterOptions, file: str, *, anonymize: bool, progress: Progress = no_progress) -> str:
    """Record a live cluster to a file (``-``: standard output); what was recorded, in words."""
    from rescheduler.adapters.files.recording.writing import record as record_cluster

    counts = record_cluster(connected(options, read_only=True), file, anonymize=anonymize, progress=progress)
    where = "standard output" if file == "-" else file
    return f"{counts.get('Node', 0)} nodes, {counts.get('Pod', 0)} pods and what bears on them in {where}"


def clean(
    options: ClusterOptions,
    policy: Policy,
    *,
    confirm: Callable[[Sequence[str]], bool],
    progress: Progress = no_progress,
) -> tuple[str, ...] | None:
    """Remove what earlier runs left behind, by name; None if ``confirm`` said no."""
    from rescheduler.adapters.kubernetes.leftovers.cleaning import find_leftovers, remove_leftovers

    progress("looking for what was left behind")
    leftovers = find_leftovers(connected(options, read_only=True), policy.hold.namespace, policy.ledger.name)
    if leftovers and not confirm([leftover.text for leftover in leftovers]):
        return None
    removed = remove_leftovers(connected(options, read_only=False), leftovers)
    return tuple(leftover.text for leftover in removed)


def clean_stale(
    options: ClusterOptions, policy: Policy, progress: Progress = no_progress
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Remove what has run out and belongs to no plan that runs: what was removed, and what could not be, in words."""
    from rescheduler.adapters.clock import SystemClock
    from rescheduler.adapters.kubernetes.leftovers.stale_leftovers import remove_stale

    progress("looking for what has run out")
    cleaned = remove_stale(
        connected(options, read_only=False), policy.hold.namespace, SystemClock().now, policy.ledger.name
    )
    return tuple(leftover.text for leftover in cleaned.removed), cleaned.failures


def unchosen_context(options: ClusterOptions) -> str | None:
    """The context that is used because it is the current one among several, for people; None if there is no choice."""
    from rescheduler.adapters.kubernetes.identity import current_context

    found = None if options.context or options.filenames else current_context(options.kubeconfig)
    return found.text if found is not None and found.contexts > 1 else None


def connected(options: ClusterOptions, *, read_only: bool) -> Connection:
    """A connection to the live cluster; a read-only one refuses every mutating request. Raises ClusterError."""
    from rescheduler.adapters.kubernetes.client.connection import connect

    return connect(options.kubeconfig, options.context, read_only=read_only)
