"""What our own rules say to each eviction that a cycle asks for: who goes, in which wave, and who stays and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from msgspec import UNSET, structs

from rescheduler.descheduler.cycle import Chosen, CycleResult, OwnGate
from rescheduler.descheduler.landing import Landed, foretell
from rescheduler.disruption.eligibility import decide_eligibility, explain_pod
from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility, Selection
from rescheduler.model.plan.foretold_plan import ForetoldMove, ForetoldRefusal
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Refusal, reference_to
from rescheduler.policy.fields.descheduler import AfterRefusal
from rescheduler.policy.fields.policy import Policy, with_unready
from rescheduler.scheduling.schedulers import Schedulers

_BINDS_FINISHED: Final = frozenset(
    {"Stop", "Terminating", "Placeholder", "MirrorPod", "SystemNamespace", "Namespace", "DoNotEvict", "LabelSelector",
     "NodeSelector", "OwnPod", "MinimumAge"}
)  # fmt: skip
"""Rules that bind a pod that has finished: it disturbs nobody, but people may have said to leave it alone."""

PluginOfProfile = tuple[str, str]
"""Profile and plugin by name."""


@dataclass(frozen=True)
class OwnRules:
    """Our own rules beside the file: ``policy`` (its defaults where none stands beside), and what the call selects.

    ``is_daemon``: nobody watches, so that the careful defaults of ``run`` bind. ``wanted``: replicas that workloads
    were seen to want.
    """

    policy: Policy = field(default_factory=Policy)
    selection: Selection = field(default_factory=Selection)
    ledger: Ledger = EMPTY_LEDGER
    stop: str | None = None
    is_daemon: bool = False
    wanted: Mapping[str, Wanted] = field(default_factory=dict)

    def context(self, cluster: Cluster, schedulers: frozenset[str]) -> EligibilityContext:
        """What single rules look at in a cluster."""
        return EligibilityContext(
            cluster, self.policy, self.selection, schedulers,
            ledger=self.ledger, is_daemon=self.is_daemon, stop=self.stop, wanted=self.wanted,
        )  # fmt: skip


class _Try(NamedTuple):
    """One eviction that was tried. ``order``: its number in the walk as it stands; ``wave`` 0: it does not go."""

    chosen: Chosen
    order: int | None
    objection: tuple[str, str] | None
    wave: int = 0
    instead_of: Pod | None = None


def tried(
    cluster: Cluster,
    cycle: CycleResult,
    walk_again: Callable[[OwnGate], CycleResult],
    own: OwnRules,
    schedulers: Schedulers,
    by_state: frozenset[PluginOfProfile],
) -> tuple[tuple[ForetoldMove, ...], tuple[ForetoldRefusal, ...]]:
    """Whom our gate would let go, in waves in the order of the walk, and whom it or the API server would not.

    ``walk_again``: the walk with our gate asked on the way. ``by_state``: plugins whose victims need not be Ready.
    """
    allowances = Allowances(cluster, own, schedulers.names, by_state)
    if own.policy.descheduler.after_refusal is AfterRefusal.NEXT:
        tries = [*_going_on(cycle, walk_again(allowances), allowances.waves)]
        leaving = [item.chosen for item in tries if item.objection is None]
    else:
        tries = [*_as_it_stands(cycle, allowances)]
        leaving = [chosen for chosen in cycle.chosen if chosen.refusal is None]
    landed = dict(zip((chosen.pod.key for chosen in leaving), foretell(cluster, leaving, schedulers), strict=True))
    moves = tuple(_move(item, landed[item.chosen.pod.key]) for item in tries if item.objection is None)
    return moves, tuple(_refusal(item, *item.objection) for item in tries if item.objection is not None)


def _as_it_stands(cycle: CycleResult, allowances: Allowances) -> Iterator[_Try]:
    """Our gate does not change the walk."""
    for order, chosen in enumerate(cycle.chosen, 1):
        objection = _servers(chosen) or allowances.objection(chosen.pod, chosen.profile, chosen.plugin)
        yield _Try(chosen, order, objection, 0 if objection else allowances.spend(chosen.pod))


def _going_on(cycle: CycleResult, other: CycleResult, waves: Mapping[str, int]) -> Iterator[_Try]:
    """The walk that goes on after a refusal; ``cycle``: the one that does not know of any."""
    order_of = {chosen.pod.key: order for order, chosen in enumerate(cycle.chosen, 1)}
    refused: dict[PluginOfProfile, list[Pod]] = defaultdict(list)
    for chosen in other.chosen:
        pod, order = chosen.pod, order_of.pop(chosen.pod.key, None)
        objection, plugin = chosen.objection or _servers(chosen), (chosen.profile, chosen.plugin)
        if objection is not None:
            refused[plugin].append(pod)
        in_place_of = refused[plugin] if objection is None and order is None else []
        yield _Try(chosen, order, objection, waves.get(pod.key, 0), in_place_of.pop(0) if in_place_of else None)
    for chosen in cycle.chosen:
        if chosen.pod.key in order_of:
            text = "is not chosen any more once the walk has gone on after a refusal (policy: descheduler.afterRefusal)"
            yield _Try(chosen, order_of[chosen.pod.key], ("AfterRefusal", text))


def _servers(chosen: Chosen) -> tuple[str, str] | None:
    return ("PodDisruptionBudget", chosen.refusal) if chosen.refusal else None


def _move(item: _Try, found: Landed) -> ForetoldMove:
    chosen = item.chosen
    return ForetoldMove(
        pod=reference_to(chosen.pod),
        from_node=chosen.pod.node_name or "",
        to_node=found.node,
        landing=found.landing,
        order=UNSET if item.order is None else item.order,
        profile=chosen.profile,
        objective=chosen.plugin,
        reason=chosen.plugin,
        message=f"{chosen.reason}; {found.text}",
        wave=item.wave,
        instead_of=UNSET if item.instead_of is None else reference_to(item.instead_of),
    )


def _refusal(item: _Try, rule: str, message: str) -> ForetoldRefusal:
    chosen = item.chosen
    refusal = ForetoldRefusal(
        pod=reference_to(chosen.pod),
        rule=rule,
        message=message if message.startswith(chosen.pod.key) else f"{chosen.pod.key}: {message}",
        chosen_by=chosen.plugin,
        profile=chosen.profile,
        order=UNSET if item.order is None else item.order,
    )
    return refusal if chosen.refusal is None else structs.replace(refusal, server_would_refuse=True)


class Allowances:
    """What limits and budgets leave, spent move by move; a wave ends where one of them is used up in it.

    ``waves``: of each pod that goes.
    """

    def __init__(
        self, cluster: Cluster, own: OwnRules, schedulers: frozenset[str], by_state: frozenset[PluginOfProfile]
    ) -> None:
        self.waves: dict[str, int] = {}
        self._cluster = cluster
        self._own = own
        self._schedulers = schedulers
        self._by_state = by_state
        self._index = {pod.key: number for number, pod in enumerate(cluster.pods)}
        self._strict = _Judged(self._judged(own.policy))
        self._in_wave: Counter[tuple[str, str]] = Counter()
        self._in_plan: Counter[tuple[str, str]] = Counter()
        self._wave = 1

    @cached_property
    def _lenient(self) -> _Judged:
        """For pods that were chosen for what state they are in."""
        return _Judged(self._judged(with_unready(self._own.policy)))

    @cached_property
    def _context(self) -> EligibilityContext:
        return self._own.context(self._cluster, self._schedulers)

    def _judged(self, policy: Policy) -> Eligibility:
        own = self._own
        return decide_eligibility(
            self._cluster, policy, own.selection, self._schedulers,
            ledger=own.ledger, is_daemon=own.is_daemon, stop=own.stop, wanted=own.wanted,
        )  # fmt: skip

    def objection(self, pod: Pod, profile: str, plugin: str) -> tuple[str, str] | None:
        """Rule and reason against one more eviction; None: it may go."""
        if pod.is_finished:
            found = what_binds_finished(self._context, pod)
            return self._over_limits(pod) if found is None else (found.rule, found.message)
        judged = self._lenient if not pod.is_ready and (profile, plugin) in self._by_state else self._strict
        index = self._index[pod.key]
        if index not in judged.movable:
            refused = judged.eligibility.refusals[index]
            return refused.rule, refused.message
        method = judged.eligibility.method_of(index)
        if method is not MoveMethod.EVICT:
            return "Method", f"is moved by {method.lower()} (policy: disruption.moveBy), and a DeschedulerPolicy evicts"
        return self._over_limits(pod) or self._over_groups(judged.groups[index])

    def spend(self, pod: Pod) -> int:
        """Count a move; its wave."""
        index = self._index[pod.key]
        judged = self._strict if pod.is_ready or pod.is_finished else self._lenient
        groups = [] if pod.is_finished else judged.groups[index]
        if any(self._in_wave[group.rule, group.name] >= group.allowed_per_wave for group in groups):
            self._wave += 1
            self._in_wave.clear()
        for group in groups:
            self._in_wave[group.rule, group.name] += 1
            self._in_plan[group.rule, group.name] += 1
        for key in (("", ""), ("node", pod.node_name or ""), ("namespace", pod.namespace)):
            self._in_plan[key] += 1
        self.waves[pod.key] = self._wave
        return self._wave

    def _over_groups(self, groups: list[DisruptionGroup]) -> tuple[str, str] | None:
        for group in groups:
            if group.allowed_per_wave <= 0:
                return group.rule, f"{group.name} allows none now"
            if group.allowed_in_plan is not None and self._in_plan[group.rule, group.name] >= group.allowed_in_plan:
                return group.rule, f"{group.name} allows {group.allowed_in_plan} in one plan"
        return None

    def _over_limits(self, pod: Pod) -> tuple[str, str] | None:
        limits = self._strict.eligibility.limits
        total, node, namespace = limits.names
        for name, most, spent in (
            (total, limits.max_evictions, self._in_plan["", ""]),
            (node, limits.max_evictions_per_node, self._in_plan["node", pod.node_name or ""]),
            (namespace, limits.max_evictions_per_namespace, self._in_plan["namespace", pod.namespace]),
        ):
            if most is not None and spent >= most:
                return "CycleLimits", f"{name}: {most} are reached"
        return None


def what_binds_finished(context: EligibilityContext, pod: Pod) -> Refusal | None:
    """The first of the rules that forbids evicting a finished pod."""
    return next((item for item in explain_pod(context, pod) if item.rule in _BINDS_FINISHED), None)


class _Judged:
    """Who may be moved, and in which groups each counts."""

    def __init__(self, eligibility: Eligibility) -> None:
        self.eligibility = eligibility
        self.movable = frozenset(eligibility.movable)
        self.groups: dict[int, list[DisruptionGroup]] = defaultdict(list)
        for group in eligibility.groups:
            for pod in group.pods:
                self.groups[pod].append(group)
