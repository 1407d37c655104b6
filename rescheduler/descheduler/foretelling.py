"""What a DeschedulerPolicy would do to a snapshot, as a plan: its victims, where they land, and what our gate says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rescheduler.descheduler.cycle import (
    CycleLimits,
    CycleResult,
    DeschedulerProfile,
    EnabledPlugin,
    OwnGate,
    PluginRun,
    run_cycle,
)
from rescheduler.descheduler.evictor import DefaultEvictorArguments
from rescheduler.descheduler.landing import Landed, foretell
from rescheduler.descheduler.own_rules import OwnRules, PluginOfProfile, tried
from rescheduler.descheduler.plugins import PLUGINS
from rescheduler.descheduler.plugins.pod_states import (
    FailedPodsArguments,
    PodLifeTimeArguments,
    TooManyRestartsArguments,
)
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy, EnabledProfile, given_providers
from rescheduler.extension_points import ReschedulerError
from rescheduler.model.label_selector_text import parse_label_selector
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.workload import SYSTEM_CLASSES
from rescheduler.model.plan.foretold_plan import ForetoldPlan
from rescheduler.model.plan.plan import ObjectiveResult, Status
from rescheduler.planning.lexicographic.document import summary_of
from rescheduler.scheduling.schedulers import Schedulers


def foretold_plan(cluster: Cluster, written: DeschedulerPolicy, schedulers: Schedulers, gate: OwnRules) -> ForetoldPlan:
    """Walk one cycle; our gate does not change the walk. Raises ReschedulerError for a priority class that is absent.

    ``cluster`` must hold ``pod_details``.
    """
    cluster = schedulers.configured(cluster)
    cycle = _cycle(cluster, written)
    moves, refusals = tried(
        cluster,
        cycle,
        lambda own: _cycle(cluster, written, own),
        gate,
        schedulers,
        by_state(written),
    )
    return ForetoldPlan(
        snapshot=summary_of(cluster),
        objectives=tuple(_objective(run) for run in cycle.runs),
        moves=moves,
        refusals=refusals,
        warnings=(
            *cluster.warnings,
            *(str(finding) for finding in written.findings),
            *(f"{run.plugin}: {run.message}" for run in cycle.runs if "error" in run.message),
            *schedulers.warnings(cluster),
        ),
    )


def by_state(written: DeschedulerPolicy) -> frozenset[PluginOfProfile]:
    """Plugins that choose pods by restarts, phase, state or condition, so that these need not be Ready."""
    return frozenset(
        (profile.name, name)
        for profile in written.profiles
        for name, arguments in (*profile.deschedule, *profile.balance)
        if isinstance(arguments, TooManyRestartsArguments | FailedPodsArguments)
        or (isinstance(arguments, PodLifeTimeArguments) and arguments.goes_by_state)
    )


class LandedWalk(NamedTuple):
    """One cycle on a cluster, and where the replacements of its victims land, by the victim's key."""

    cluster: Cluster
    cycle: CycleResult
    landed: Mapping[str, Landed]


def walked(cluster: Cluster, written: DeschedulerPolicy, schedulers: Schedulers) -> LandedWalk:
    """Walk one cycle; nobody's rules but descheduler's count. Raises as ``foretold_plan``."""
    cluster = schedulers.configured(cluster)
    cycle = _cycle(cluster, written)
    victims = [chosen for chosen in cycle.chosen if chosen.refusal is None]
    landed = foretell(cluster, victims, schedulers)
    return LandedWalk(cluster, cycle, dict(zip((chosen.pod.key for chosen in victims), landed, strict=True)))


def _cycle(cluster: Cluster, written: DeschedulerPolicy, own: OwnGate | None = None) -> CycleResult:
    profiles = profiles_of(written, cluster)
    return run_cycle(cluster, profiles, written.node_selector, limits_of(written), providers_of(written), own)


def limits_of(written: DeschedulerPolicy) -> CycleLimits:
    """How many pods the file lets go in one cycle."""
    fields = written.fields
    return CycleLimits(
        fields.max_no_of_pods_to_evict_per_node,
        fields.max_no_of_pods_to_evict_per_namespace,
        fields.max_no_of_pods_to_evict_total,
    )


def providers_of(written: DeschedulerPolicy) -> frozenset[str]:
    """Sources of measured use that the file gives."""
    return given_providers(written.fields)


def profiles_of(written: DeschedulerPolicy, cluster: Cluster) -> list[DeschedulerProfile]:
    """Its profiles, ready to be walked on a cluster. Raises as ``foretold_plan``."""
    return [_profile(profile, cluster) for profile in written.profiles]


def _profile(written: EnabledProfile, cluster: Cluster) -> DeschedulerProfile:
    evictor = written.evictor
    return DeschedulerProfile(
        name=written.name,
        evictor=evictor,
        threshold=_threshold(evictor, cluster),
        targets=_targets(evictor),
        deschedule=tuple(EnabledPlugin(name, args, PLUGINS[name].run) for name, args in written.deschedule),
        balance=tuple(EnabledPlugin(name, args, PLUGINS[name].run) for name, args in written.balance),
    )


def _targets(evictor: DefaultEvictorArguments) -> LabelSelector | None:
    """Nodes that ``nodeFit`` looks at, None: all. By a text that is no selector no pod fits anywhere."""
    if not evictor.node_selector:
        return None
    try:
        return parse_label_selector(evictor.node_selector)
    except ValueError:
        return LabelSelector((Requirement("", "In"),))


def _threshold(evictor: DefaultEvictorArguments, cluster: Cluster) -> int | None:
    """The priority from which on pods stay, as a number."""
    threshold = evictor.priority_threshold
    if threshold is None or not threshold.name:
        return None if threshold is None else threshold.value
    known = {found.name: found.value for found in (*SYSTEM_CLASSES, *cluster.priority_classes)}
    if threshold.name not in known:
        raise ReschedulerError(
            f"priorityThreshold.name: there is no PriorityClass {threshold.name} in {cluster.source}; "
            f"there are {', '.join(sorted(known))}"
        )
    return known[threshold.name]


def _objective(run: PluginRun) -> ObjectiveResult:
    return ObjectiveResult(
        name=run.plugin,
        status=Status.FEASIBLE,
        value=float(run.evictions),
        bound=None,
        gap=None,
        unit="evictions",
        seconds=0.0,
        message=run.message,
    )
