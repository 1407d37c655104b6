"""What every planning command does first: read policy, schedulers, load and cluster, and apply the options."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from rescheduler.cli.failures import UsageError
from rescheduler.cli.options import ClusterFlags, PlanFlags, PlanningFlags, SelectionFlags
from rescheduler.cli.parameters import MomentInTime, OutputFormat
from rescheduler.cli.streams import is_terminal, say, warn

if TYPE_CHECKING:
    from rescheduler.composition.given_policies import GivenFiles
    from rescheduler.composition.live.cluster_source import ClusterOptions
    from rescheduler.composition.scheduler_sources import Predictions
    from rescheduler.cycle import CycleOptions
    from rescheduler.extension_points import LedgerReading, Progress
    from rescheduler.model.objects.cluster import Cluster
    from rescheduler.model.plan.disruption import Selection
    from rescheduler.policy.fields.policy import Policy
    from rescheduler.scheduling.schedulers import Schedulers


def policy_from(options: SelectionFlags) -> Policy:
    """The policy files in order, with what the command line sets instead. Raises PolicyError or UsageError."""
    theirs = given_files(options).theirs
    if theirs:
        raise UsageError(
            f"{theirs[0][0]}: a DeschedulerPolicy, which plan, apply, run and check read; name a ReschedulerPolicy here"
        )
    return own_policy_from(options)


def own_policy_from(options: SelectionFlags) -> Policy:
    """As ``policy_from``, where no file is descheduler's."""
    from rescheduler.daemon.plugins import load_policy
    from rescheduler.model.plan.disruption import OwnIdentity
    from rescheduler.policy.reading.emptied_scope import refuse_emptied_scope

    prices = options.prices if isinstance(options, PlanningFlags) else None
    policy = load_policy(options.policy or [], prices)
    refuse_emptied_scope(policy, OwnIdentity().namespace, options.policy or [])
    return overridden_by(options, policy)


def overridden_by(options: SelectionFlags, policy: Policy) -> Policy:
    """A policy with what the command line sets instead. Raises UsageError."""
    from rescheduler.daemon.plugins import PLUGINS
    from rescheduler.policy.reading.overrides import overridden

    if not isinstance(options, PlanningFlags):
        return policy
    objectives, evictions = (options.objective, options.max_evictions) if isinstance(options, PlanFlags) else ((), None)
    try:
        return overridden(
            policy,
            PLUGINS.objectives,
            objectives=objectives or (),
            max_evictions=evictions,
            deadline_seconds=options.deadline,
        )
    except ValueError as error:
        raise UsageError(f"--objective: {error}") from None


def predictions_from(options: SelectionFlags, policy: Policy, progress: Progress) -> Predictions:
    """How the cluster's schedulers are configured, and the load they go by.

    Raises PolicyError, ConfigurationError, UsageError, and SnapshotError for a recording of load.
    """
    from rescheduler.composition.scheduler_sources import predictions

    if options.usage == "":
        raise UsageError("--usage: an empty file name; name a recording of load")
    if options.usage == "-":
        raise UsageError("--usage -: load is not read from standard input; name a recording of load")
    usage = options.usage or _archived_load(options)
    return predictions(policy, options.policy or (), usage, progress, cluster_options_from(options))


def _archived_load(options: ClusterFlags) -> str | None:
    """The snapshot of an archive among the recordings whose load was recorded with it. Raises SnapshotError."""
    if not any("@" in name for name in options.filename or ()):
        return None
    from rescheduler.adapters.files.archive.archive_reading import archived_load
    from rescheduler.adapters.files.archive.snapshot_names import archived_name

    found = ((name, archived_name(name)) for name in options.filename or ())
    return next((name for name, named in found if named is not None and archived_load(named) is not None), None)


def cluster_options_from(options: ClusterFlags, config_maps: tuple[str, ...] = ()) -> ClusterOptions:
    """Where to read from. Raises UsageError for a recording and a server at once."""
    from rescheduler.composition.live.cluster_source import ClusterOptions

    names = tuple(options.filename or ())
    if names and (options.kubeconfig or options.context):
        raise UsageError("-f reads a recording, --kubeconfig and --context a live cluster; give one of them")
    if "" in names:
        raise UsageError("-f: an empty file name; name a recording, or - for standard input")
    if names.count("-") > 1:
        raise UsageError("-f -: standard input can be read only once")
    return ClusterOptions(
        filenames=names, kubeconfig=options.kubeconfig, context=options.context, config_maps=config_maps
    )


def selection_from(options: SelectionFlags) -> Selection:
    """Which pods may be moved or helped."""
    from rescheduler.model.plan.disruption import Selection

    return Selection(namespaces=tuple(dict.fromkeys(options.namespace or ())), selector=options.selector)


def given_files(options: SelectionFlags) -> GivenFiles:
    """The policies by whose they are; what stands in descheduler's is read here, and nowhere else."""
    from rescheduler.composition.given_policies import sorted_out

    return sorted_out(options.policy or ())


def read_world(
    options: SelectionFlags, policy: Policy, progress: Progress, *, with_details: bool = False
) -> tuple[Cluster, Schedulers]:
    """Read the cluster, and how its schedulers are configured. ``with_details``: states of its pods too.

    Raises UsageError, SnapshotError, ClusterError, PolicyError, ConfigurationError.
    """
    from rescheduler.policy.telling.unmatched import unmatched

    found = predictions_from(options, policy, progress)
    cluster = read_cluster(options, progress, found.config_maps, with_details=with_details)
    if isinstance(options, PlanFlags):
        warn(f"policy: {text}" for text in unmatched(policy, cluster))
    return cluster, found.schedulers(cluster)


def read_cluster(
    options: ClusterFlags, progress: Progress, config_maps: tuple[str, ...] = (), *, with_details: bool = False
) -> Cluster:
    """Read the cluster and say its warnings. Raises UsageError, SnapshotError or ClusterError."""
    from rescheduler.composition.live import cluster_source

    where = replace(cluster_options_from(options, config_maps), with_details=with_details)
    if "-" in where.filenames and is_terminal(sys.stdin):
        say("reading the cluster from the terminal; end with Ctrl-D")
    cluster = cluster_source.read_cluster(where, progress)
    if isinstance(options, SelectionFlags):
        _warn_of_empty_selection(options, cluster)
    return cluster


def earlier_evictions(options: SelectionFlags, policy: Policy, cluster: Cluster) -> LedgerReading:
    """What is known of earlier evictions in the cluster that was read; says what cannot be known."""
    from rescheduler.composition.live import ledgers

    return ledgers.earlier_evictions(cluster_options_from(options), policy, cluster, lambda text: warn([text]))


def cycle_options_from(
    options: PlanningFlags, policy: Policy, cluster: Cluster, schedulers: Schedulers, progress: Progress
) -> CycleOptions:
    """What a plan for the cluster that was read needs besides; says what cannot be known of earlier evictions."""
    from rescheduler.composition.planning import cycle_options

    return cycle_options(
        policy,
        selection=selection_from(options),
        schedulers=schedulers,
        seed=options.seed,
        earlier=earlier_evictions(options, policy, cluster),
        progress=progress,
    )


def time_in(cluster: Cluster, at: MomentInTime | None) -> float | None:
    """Seconds since the epoch. Raises ReschedulerError where a cluster tells no time to count from."""
    if at is None or not at.is_relative:
        return None if at is None else at.seconds
    if not cluster.taken_at:
        from rescheduler.extension_points import ReschedulerError

        raise ReschedulerError("--at: the recording tells no time to count from; give one in RFC 3339")
    return cluster.taken_at + at.seconds


def refuse_formats(output: OutputFormat, command: str, *refused: OutputFormat) -> None:
    """Raise UsageError for a form that a command does not have."""
    if output in refused:
        known = ", ".join(form.value for form in OutputFormat if form not in refused)
        raise UsageError(f"-o {output.value}: {command} has no such form; there are {known}")


def _warn_of_empty_selection(options: SelectionFlags, cluster: Cluster) -> None:
    if not options.namespace:
        return
    known = {pod.namespace for pod in cluster.pods}
    missing = [name for name in options.namespace if name not in known]
    warn(f"-n {name}: the cluster has no pod in this namespace" for name in missing)
