"""What a DeschedulerPolicy would do to a snapshot, as a plan: its victims, where they land, and what our gate says."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from msgspec import structs

from rescheduler.descheduler.cycle import (
    Chosen,
    CycleLimits,
    CycleResult,
    DeschedulerProfile,
    EnabledPlugin,
    PluginRun,
    run_cycle,
)
from rescheduler.descheduler.evictor import DefaultEvictorArguments
from rescheduler.descheduler.landing import Landed, foretell
from rescheduler.descheduler.plugins import PLUGINS
from rescheduler.descheduler.policy_file import DeschedulerPolicy, EnabledProfile
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.extension_points import ReschedulerError
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.label_selector_text import parse_label_selector
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import SYSTEM_CLASSES
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility, Selection
from rescheduler.model.plan.foretold_plan import ForetoldMove, ForetoldPlan, ForetoldRefusal
from rescheduler.model.plan.plan import ObjectiveResult, Status
from rescheduler.planning.lexicographic.document import reference_to, summary_of
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.schedulers import Schedulers


@dataclass(frozen=True)
class OwnRules:
    """Our own rules beside the file: ``policy`` (its defaults where none stands beside), and what the call selects."""

    policy: Policy = field(default_factory=Policy)
    selection: Selection = field(default_factory=Selection)
    ledger: Ledger = EMPTY_LEDGER
    stop: str | None = None


def foretold_plan(cluster: Cluster, written: DeschedulerPolicy, schedulers: Schedulers, gate: OwnRules) -> ForetoldPlan:
    """Walk one cycle; our gate does not change the walk. Raises ReschedulerError for a priority class that is absent.

    ``cluster`` must hold ``pod_details``.
    """
    cluster = schedulers.configured(cluster)
    fields = written.fields
    limits = CycleLimits(
        fields.max_no_of_pods_to_evict_per_node,
        fields.max_no_of_pods_to_evict_per_namespace,
        fields.max_no_of_pods_to_evict_total,
    )
    profiles = [_profile(profile, cluster) for profile in written.profiles]
    cycle = run_cycle(cluster, profiles, written.node_selector, limits)
    victims = [chosen for chosen in cycle.chosen if chosen.refusal is None]
    landed = dict(zip((chosen.pod.key for chosen in victims), foretell(cluster, victims, schedulers), strict=True))
    moves, refusals = _divided(cluster, cycle, landed, gate, schedulers.names)
    return ForetoldPlan(
        snapshot=summary_of(cluster),
        objectives=tuple(_objective(run) for run in cycle.runs),
        moves=tuple(moves),
        refusals=tuple(refusals),
        warnings=(
            *cluster.warnings,
            *(str(finding) for finding in written.findings),
            *(f"{run.plugin}: {run.message}" for run in cycle.runs if "error" in run.message),
            *schedulers.warnings(cluster),
        ),
    )


def _profile(written: EnabledProfile, cluster: Cluster) -> DeschedulerProfile:
    evictor = written.evictor
    return DeschedulerProfile(
        name=written.name,
        evictor=evictor,
        threshold=_threshold(evictor, cluster),
        targets=parse_label_selector(evictor.node_selector) if evictor.node_selector else None,
        deschedule=tuple(EnabledPlugin(name, args, PLUGINS[name].run) for name, args in written.deschedule),
        balance=tuple(EnabledPlugin(name, args, PLUGINS[name].run) for name, args in written.balance),
    )


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


def _divided(
    cluster: Cluster, cycle: CycleResult, landed: Mapping[str, Landed], gate: OwnRules, schedulers: frozenset[str]
) -> tuple[list[ForetoldMove], list[ForetoldRefusal]]:
    """Whom our gate would let go, in waves in the order of the walk, and whom it or the API server would not."""
    eligibility = decide_eligibility(
        cluster, gate.policy, gate.selection, schedulers, ledger=gate.ledger, stop=gate.stop
    )
    allowances = _Allowances(cluster, eligibility)
    moves: list[ForetoldMove] = []
    refusals: list[ForetoldRefusal] = []
    for order, chosen in enumerate(cycle.chosen, 1):
        objection = ("PodDisruptionBudget", chosen.refusal) if chosen.refusal else allowances.objection(chosen.pod)
        if objection is not None:
            refusals.append(_refusal(chosen, order, *objection))
            continue
        wave = allowances.spend(chosen.pod)
        found = landed[chosen.pod.key]
        moves.append(
            ForetoldMove(
                pod=reference_to(chosen.pod),
                from_node=chosen.pod.node_name or "",
                to_node=found.node,
                landing=found.landing,
                order=order,
                profile=chosen.profile,
                objective=chosen.plugin,
                reason=chosen.plugin,
                message=f"{chosen.reason}; {found.text}",
                wave=wave,
            )
        )
    return moves, refusals


def _refusal(chosen: Chosen, order: int, rule: str, message: str) -> ForetoldRefusal:
    refusal = ForetoldRefusal(
        pod=reference_to(chosen.pod),
        rule=rule,
        message=message if message.startswith(chosen.pod.key) else f"{chosen.pod.key}: {message}",
        chosen_by=chosen.plugin,
        profile=chosen.profile,
        order=order,
    )
    return refusal if chosen.refusal is None else structs.replace(refusal, server_would_refuse=True)


class _Allowances:
    """What limits and budgets leave, spent move by move; a wave ends where one of them is used up in it."""

    def __init__(self, cluster: Cluster, eligibility: Eligibility) -> None:
        self._eligibility = eligibility
        self._index = {pod.key: number for number, pod in enumerate(cluster.pods)}
        self._movable = frozenset(eligibility.movable)
        self._groups: dict[int, list[DisruptionGroup]] = defaultdict(list)
        for group in eligibility.groups:
            for pod in group.pods:
                self._groups[pod].append(group)
        self._in_wave: Counter[tuple[str, str]] = Counter()
        self._in_plan: Counter[tuple[str, str]] = Counter()
        self._wave = 1

    def objection(self, pod: Pod) -> tuple[str, str] | None:
        """Rule and reason against one more eviction; None: it may go."""
        if pod.is_finished:  # it disturbs nobody
            return None
        index = self._index[pod.key]
        if index not in self._movable:
            found = self._eligibility.refusals[index]
            return found.rule, found.message
        for name, most, spent in self._limits(pod):
            if most is not None and spent >= most:
                return "CycleLimits", f"{name}: {most} are reached"
        for group in self._groups[index]:
            if group.allowed_per_wave <= 0:
                return group.rule, f"{group.name} allows none now"
            if group.allowed_in_plan is not None and self._in_plan[group.rule, group.name] >= group.allowed_in_plan:
                return group.rule, f"{group.name} allows {group.allowed_in_plan} in one plan"
        return None

    def spend(self, pod: Pod) -> int:
        """Count a move; its wave."""
        if pod.is_finished:
            return self._wave
        groups = self._groups[self._index[pod.key]]
        if any(self._in_wave[group.rule, group.name] >= group.allowed_per_wave for group in groups):
            self._wave += 1
            self._in_wave.clear()
        for group in groups:
            self._in_wave[group.rule, group.name] += 1
            self._in_plan[group.rule, group.name] += 1
        for key in (("", ""), ("node", pod.node_name or ""), ("namespace", pod.namespace)):
            self._in_plan[key] += 1
        return self._wave

    def _limits(self, pod: Pod) -> Iterator[tuple[str, int | None, int]]:
        limits = self._eligibility.limits
        total, node, namespace = limits.names
        yield total, limits.max_evictions, self._in_plan["", ""]
        yield node, limits.max_evictions_per_node, self._in_plan["node", pod.node_name or ""]
        yield namespace, limits.max_evictions_per_namespace, self._in_plan["namespace", pod.namespace]
