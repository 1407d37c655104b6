"""The gate: the last and only place that gives leave to evict. Pure: state in, verdicts out.

Questions in order, and the first "no" ends it: the kill switch, whether this plan is still the one in force, whether
anything may be executed at all; for a daemon the cluster's health and the circuit breaker; was this pod sent already,
is it still the same pod on the same node, and moved by a method that is carried out; windows and rates; may it still
be moved, and is its workload quiet; is its destination still there; the limits of the plan, the floor under its
workload and its PodDisruptionBudget, with every open debt; and where the move rests on measured use, is that use still
to be believed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rescheduler.disruption.gate.breaker import breaker_objection, is_on_trial
from rescheduler.disruption.gate.health import Finding
from rescheduler.model.columns.selectors import NodeTable
from rescheduler.model.columns.taints import BANS, CORDON, is_tolerated
from rescheduler.model.daemon.ledger import Breaker
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.node import Node, node_mark
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility
from rescheduler.model.plan.leaving_taint import is_leaving_taint
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, Refusal
from rescheduler.model.usage.trust import NodeTrust, Trust, TrustState
from rescheduler.policy.fields.daemon.safety import BreakerPolicy

# A move that rests on measured use needs both its nodes measured well: here use may only forbid, never allow.

USAGE_BASED: Final = frozenset({"SpreadLoad"})
"""Objectives whose moves rest on measured use wherever it is measured."""
_UNKNOWN: Final = Trust(TrustState.MISSING, "nothing was measured of it")


def distrusted(move: Move, trust: NodeTrust | None) -> Iterator[tuple[str, str]]:
    """Rule and reason against a usage-based move; nothing against any other. ``trust`` None: see GateContext."""
    if trust is None or move.objective not in USAGE_BASED:
        return
    if trust.freeze:
        yield "UsageFrozen", f"stays: nothing moves by usage now: {trust.freeze}"
    for node in (move.from_node, move.to_node):
        found = trust.by_node.get(node, _UNKNOWN)
        if not found.is_usable:
            yield "UsageTrust", f"stays: the usage of node {node} is {found.state}: {found.reason or 'no reason given'}"


# What a plan has used up of its limits and budgets, the permits of the wave at hand included.

RATES: Final = ("Budget", "RampUp", "Breaker")
"""Windows and rates, asked before the pod itself is looked at."""
FLOORS: Final = ("WorkloadBudget", "StatefulSet", "PodDisruptionBudget", "Surge", "Migrate")
"""How many pods may be missing, or on their way, in the order of the gate's questions."""


class Spent:
    """Counts on. ``permits``: permits given in this wave; ``origins``: see ``GateContext.sent``, permits included."""

    def __init__(
        self,
        moves: Sequence[Move],
        cluster: Cluster,
        eligibility: Eligibility,
        sent: Mapping[str, str],
        sent_namespaces: Mapping[str, int],
    ) -> None:
        self.permits = 0
        self.origins = dict(sent)
        self.index_of = cluster.indices_of([move.pod.key for move in moves])
        self.movable = frozenset(self.index_of.values()).intersection(eligibility.movable)
        self._namespaces = Counter(sent_namespaces)
        self._limits = eligibility.limits
        self._groups: defaultdict[int, list[DisruptionGroup]] = defaultdict(list)
        for group in eligibility.groups:
            for index in self.movable.intersection(group.pods):
                self._groups[index].append(group)
        self._of_group: Counter[tuple[str, str]] = Counter()

    def over_rates(self, move: Move) -> Iterator[tuple[str, str]]:
        """Windows and rates that leave no room for one more."""
        yield from self._over(move, RATES)

    def over_limits(self, move: Move) -> Iterator[tuple[str, str]]:
        """Limits of the plan first, then the floors of workloads, then PodDisruptionBudgets."""
        from_here = sum(node == move.from_node for node in self.origins.values())
        caps = (
            ("of this plan", len(self.origins), self._limits.max_evictions),
            (f"from node {move.from_node}", from_here, self._limits.max_evictions_per_node),
            (
                f"from namespace {move.pod.namespace}",
                self._namespaces[move.pod.namespace],
                self._limits.max_evictions_per_namespace,
            ),
        )
        for what, number, cap in caps:
            if cap is not None and number >= cap:
                yield "Limits", f"would be eviction {number + 1} {what}; the policy allows {cap}"
        for rule in FLOORS:
            yield from self._over(move, (rule,))

    def add(self, move: Move) -> None:
        """A permit was given."""
        self.permits += 1
        self.origins[move.pod.uid] = move.from_node
        self._namespaces[move.pod.namespace] += 1
        for group in self._groups[self.index_of[move.pod.key]]:
            self._of_group[(group.rule, group.name)] += 1

    def _over(self, move: Move, rules: Sequence[str]) -> Iterator[tuple[str, str]]:
        for group in self._groups[self.index_of[move.pod.key]]:
            number, allowed = self._of_group[(group.rule, group.name)], _allowed(group)
            if group.rule in rules and number >= allowed:
                detail = f" ({group.detail})" if group.detail else ""
                yield group.rule, f"would be eviction {number + 1} of {group.name}, which allows {allowed} now{detail}"


def _allowed(group: DisruptionGroup) -> int:
    """In one wave, and of what a window leaves: evictions that were sent are in the window already."""
    in_plan = group.allowed_in_plan
    return group.allowed_per_wave if in_plan is None else min(group.allowed_per_wave, in_plan)


class Caution(NamedTuple):
    """What binds a daemon, which nobody watches: findings about the cluster's health, and the circuit breaker."""

    findings: Sequence[Finding]
    breaker: Breaker
    rules: BreakerPolicy


# By which methods pods are moved, and by whom. The one place that says so.

EVICTIONS: Final = frozenset({MoveMethod.EVICT})
"""What everybody does who carries plans out."""
ALL_METHODS: Final = frozenset(MoveMethod)
"""What a run does that has an id of its own, under a policy of our own: pods of earlier runs are given back first."""
CALLED: Final = {MoveMethod.EVICT: "eviction", MoveMethod.SURGE: "surge", MoveMethod.MIGRATE: "migration"}
WHO_DOES: Final = {
    MoveMethod.EVICT: "which apply and run carry out",
    MoveMethod.SURGE: "which apply and run carry out under a policy of our own",
    MoveMethod.MIGRATE: "which apply and run carry out under a policy of our own",
}
UNREAD_POLICIES: Final = (
    "NetworkPolicies were not read, and one of them may go by the label pod-template-hash (deploy/surge.yaml grants "
    "the right to read them)"
)


def other_methods(moves: Sequence[Move]) -> Iterator[str]:
    """A sentence for each method of a plan's moves but eviction."""
    for method in (MoveMethod.SURGE, MoveMethod.MIGRATE):
        number = sum(move.method is method for move in moves)
        if number:
            what = "1 of these moves is" if number == 1 else f"{number} of these moves are"
            yield f"{what} by {CALLED[method]}, {WHO_DOES[method]}"


@dataclass(frozen=True)
class GateContext:
    """What the gate looks at; ``cluster.taken_at`` is the time of all questions.

    ``eligibility`` is that of ``cluster``, decided with every pod in ``sent`` taken as gone. ``sent``: origin of each
    eviction of this plan sent so far, by uid ("" where unknown); ``sent_namespaces``: their number in each namespace.
    ``obstacles``: for pods (by uid) whose destination does not take them any more, the reason. ``trust``: in measured
    use; None where no move of this plan rests on it. ``stop``: why somebody wants nothing to be evicted. ``fence``:
    why this plan is not the one in force. ``caution``: None where a person said yes to this very plan.
    ``carried_out``: methods by which whoever asks can move pods.
    """

    cluster: Cluster
    eligibility: Eligibility
    may_execute: bool
    sent: Mapping[str, str] = field(default_factory=dict)
    sent_namespaces: Mapping[str, int] = field(default_factory=dict)
    obstacles: Mapping[str, str] = field(default_factory=dict)
    trust: NodeTrust | None = None
    stop: str | None = None
    fence: str | None = None
    caution: Caution | None = None
    carried_out: frozenset[MoveMethod] = EVICTIONS


def permit_wave(moves: Sequence[Move], context: GateContext) -> tuple[Permit | Refusal, ...]:
    """One verdict for each move, in order; a permit given here counts against those that come after it."""
    spent = Spent(moves, context.cluster, context.eligibility, context.sent, context.sent_namespaces)
    verdicts: list[Permit | Refusal] = []
    for move in moves:
        pod = context.cluster.pod_by_key.get(move.pod.key)
        objection = next(_objections(move, pod, context, spent), None)
        if objection is None:
            assert pod is not None  # else there is an objection
            spent.add(move)
            verdicts.append(Permit(move, pod.resource_version))
        else:
            verdicts.append(Refusal(rule=objection[0], message=f"{move.pod.key} {objection[1]}", pod=move.pod))
    return tuple(verdicts)


def _objections(move: Move, pod: Pod | None, context: GateContext, spent: Spent) -> Iterator[tuple[str, str]]:
    """Rule and reason of everything that speaks against a move, in the gate's order."""
    yield from _orders(context)
    if context.caution is not None:
        yield from _cautions(context.caution, context.cluster.taken_at, spent)
    if move.pod.uid in spent.origins:
        yield "AlreadySent", "was sent for eviction already by this plan"
    if pod is None:
        yield "PodGone", "is not there any more"
    else:
        yield from _changes(pod, move)
        yield from _method(move, pod, context, spent)
        yield from spent.over_rates(move)
        yield from _not_eligible(pod, context, spent)
        yield from _destination(move, pod, context)
        yield from spent.over_limits(move)
        yield from distrusted(move, context.trust)


def _orders(context: GateContext) -> Iterator[tuple[str, str]]:
    """What forbids everything, whatever the move."""
    if context.stop is not None:
        yield "Stop", f"is left alone: everything is stopped: {context.stop}"
    if context.fence is not None:
        yield "Fence", f"is left alone: {context.fence}"
    if not context.may_execute:
        yield "Mode", "is left alone: nothing is executed without a confirmation, or a policy with mode Execute"


def _cautions(caution: Caution, now: float, spent: Spent) -> Iterator[tuple[str, str]]:
    """What forbids everything to a daemon."""
    for finding in caution.findings:
        yield "Health", f"is left alone: {finding}"
    objection = breaker_objection(caution.breaker, caution.rules, now)
    if objection is not None:
        yield "Breaker", f"is left alone: {objection}"
    if is_on_trial(caution.breaker) and spent.permits:
        yield "Breaker", "is left alone: the circuit breaker is open, and one eviction is on trial"


def _changes(pod: Pod, move: Move) -> Iterator[tuple[str, str]]:
    """What has changed about the pod itself since the plan was made."""
    if pod.uid != move.pod.uid:
        yield "PodReplaced", f"is another pod of the same name now (uid {pod.uid}, not {move.pod.uid})"
    if pod.node_name != move.from_node:
        yield "PodMoved", f"is on {pod.node_name or 'no node'} now, not on {move.from_node}"


def _method(move: Move, pod: Pod, context: GateContext, spent: Spent) -> Iterator[tuple[str, str]]:
    """A move by any other method than the plan's own would rest on rules that do not hold for it."""
    if move.method not in context.carried_out:
        yield "Method", f"is to be moved by {CALLED[move.method]}, {WHO_DOES[move.method]}"
    if move.method is MoveMethod.SURGE and context.cluster.network_policies is None:
        yield "Surge", f"cannot be moved by surge: {UNREAD_POLICIES}"
    index = spent.index_of[pod.key]
    method = context.eligibility.method_of(index)
    if index in spent.movable and move.method is not method:
        yield "Method", f"is moved by {method.lower()} as the policy stands now, and the plan says {move.method}"


def _not_eligible(pod: Pod, context: GateContext, spent: Spent) -> Iterator[tuple[str, str]]:
    """Rules of eligibility, a workload that is not quiet among them."""
    index = spent.index_of[pod.key]
    if index not in spent.movable:
        found = context.eligibility.refusals.get(index)
        rule, reason = ("Eligibility", "may not be moved") if found is None else (found.rule, found.message)
        yield rule, reason.removeprefix(f"{pod.key} ")


def _ban(node: Node, pod: Pod) -> Taint | None:
    """A taint that keeps a pod off: it may have come since the plan was proven. Our own closes nodes for a while."""
    for taint in node.taints:
        is_ban = taint.effect in BANS and not is_leaving_taint(taint)
        if is_ban and not is_tolerated(taint, pod.spec.tolerations):
            return taint
    return None


def _is_selected(node: Node, pod: Pod) -> bool:
    """Whether a pod's node selector and required affinity name a node: its labels may be others by now."""
    rules = pod.spec.node_affinity
    required = None if rules is None else rules.required
    if required is None and not pod.spec.node_selector:
        return True
    return bool(NodeTable([node]).demanded(pod.spec.node_selector, required)[0])


def _destination(move: Move, pod: Pod, context: GateContext) -> Iterator[tuple[str, str]]:
    """Whether there still is a place for the pod."""
    if not move.has_destination:
        return
    node = context.cluster.node_by_name.get(move.to_node)
    if node is None:
        yield "DestinationGone", f"has no place any more: node {move.to_node} is not there"
    elif (mark := node_mark(node)) is not None:
        yield "Destination", f"has no place any more: node {move.to_node}, which {mark}"
    elif not node.is_ready:
        yield "Destination", f"has no place any more: node {move.to_node} is not ready"
    elif node.is_unschedulable and not is_tolerated(CORDON, pod.spec.tolerations):
        yield "Destination", f"has no place any more: node {move.to_node} is cordoned"
    elif (ban := _ban(node, pod)) is not None:
        yield (
            "Destination",
            f"has no place any more: node {move.to_node} has taint {ban.key}, which it does not tolerate",
        )
    elif not _is_selected(node, pod):
        yield "Destination", f"has no place any more: its node selector or affinity leaves node {move.to_node} out"
    if move.pod.uid in context.obstacles:
        yield "Destination", f"has no place on {move.to_node} any more: {context.obstacles[move.pod.uid]}"
