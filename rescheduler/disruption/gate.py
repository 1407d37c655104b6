"""The gate: the last and only place that gives leave to evict. Pure: state in, verdicts out.

Questions in order, and the first "no" ends it: may anything be executed at all, was this pod sent already, is it still
the same pod on the same node, may it still be moved, is its destination still there, do the limits of the plan, and
the budgets with every open debt, leave room for one more; and where the move rests on measured use, is that use still
to be believed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rescheduler.disruption.circumstances import DEFAULT_SCHEDULERS, EVERYTHING
from rescheduler.disruption.debts import most_replicas, with_debts
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.disruption.usage_trust import distrusted
from rescheduler.extension_points import Gate
from rescheduler.model.cluster import Cluster
from rescheduler.model.disruption import DisruptionGroup, Eligibility, Selection
from rescheduler.model.permit import Permit
from rescheduler.model.plan import Move, PodReference, Refusal
from rescheduler.model.pod import Pod
from rescheduler.model.trust import NodeTrust
from rescheduler.policy.models import Mode, Policy

Recheck = Callable[[Cluster, Sequence[Move]], Mapping[str, str]]
"""Asks the filters again: for each pod (by uid) whose destination does not take it any more, the reason."""
AskTrust = Callable[[], NodeTrust]
"""Asks how far measured use is believed right now."""


@dataclass(frozen=True)
class GateContext:
    """What the gate looks at.

    ``eligibility`` is that of ``cluster``, decided with every pod in ``sent`` taken as gone. ``sent``: origin of each
    eviction of this plan sent so far, by uid ("" where unknown); ``sent_namespaces``: their number in each namespace.
    ``obstacles``: see Recheck. ``trust``: in measured use; None where no move of this plan rests on it.
    """

    cluster: Cluster
    eligibility: Eligibility
    may_execute: bool
    sent: Mapping[str, str] = field(default_factory=dict)
    sent_namespaces: Mapping[str, int] = field(default_factory=dict)
    obstacles: Mapping[str, str] = field(default_factory=dict)
    trust: NodeTrust | None = None


def permit_wave(moves: Sequence[Move], context: GateContext) -> tuple[Permit | Refusal, ...]:
    """One verdict for each move, in order; a permit given here counts against those that come after it."""
    spent = _Spent(moves, context)
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


def _objections(move: Move, pod: Pod | None, context: GateContext, spent: _Spent) -> Iterator[tuple[str, str]]:
    """Rule and reason of everything that speaks against a move, in the gate's order."""
    if not context.may_execute:
        yield "Mode", "is left alone: nothing is executed without a confirmation, or a policy with mode Execute"
    if move.pod.uid in spent.origins:
        yield "AlreadySent", "was sent for eviction already by this plan"
    if pod is None:
        yield "PodGone", "is not there any more"
    else:
        yield from _objections_to(pod, move, context, spent)
        yield from spent.exhausted(move)
        yield from distrusted(move, context.trust)


def _objections_to(pod: Pod, move: Move, context: GateContext, spent: _Spent) -> Iterator[tuple[str, str]]:
    """What has changed about the pod or its destination since the plan was made."""
    if pod.uid != move.pod.uid:
        yield "PodReplaced", f"is another pod of the same name now (uid {pod.uid}, not {move.pod.uid})"
    if pod.node_name != move.from_node:
        yield "PodMoved", f"is on {pod.node_name or 'no node'} now, not on {move.from_node}"
    yield from _not_eligible(pod, context, spent)
    if move.to_node not in context.cluster.node_by_name:
        yield "DestinationGone", f"has no place any more: node {move.to_node} is not there"
    if pod.uid in context.obstacles:
        yield "Destination", f"has no place on {move.to_node} any more: {context.obstacles[pod.uid]}"


def _not_eligible(pod: Pod, context: GateContext, spent: _Spent) -> Iterator[tuple[str, str]]:
    index = spent.index_of[pod.key]
    if index not in spent.movable:
        found = context.eligibility.refusals.get(index)
        rule, reason = ("Eligibility", "may not be moved") if found is None else (found.rule, found.message)
        yield rule, reason.removeprefix(f"{pod.key} ")


class _Spent:
    """What this plan has used up of its limits and budgets, the permits of this call included."""

    def __init__(self, moves: Sequence[Move], context: GateContext) -> None:
        self.origins = dict(context.sent)
        self.index_of = _indices(moves, context.cluster)
        self.movable = frozenset(self.index_of.values()).intersection(context.eligibility.movable)
        self._namespaces = Counter(context.sent_namespaces)
        self._limits = context.eligibility.limits
        self._groups: defaultdict[int, list[DisruptionGroup]] = defaultdict(list)
        for group in context.eligibility.groups:
            for index in self.movable.intersection(group.pods):
                self._groups[index].append(group)
        self._of_group: Counter[tuple[str, str]] = Counter()

    def exhausted(self, move: Move) -> Iterator[tuple[str, str]]:
        """Limits of the plan first, then the budgets of the pod."""
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
        for group in self._groups[self.index_of[move.pod.key]]:
            number, allowed = self._of_group[(group.rule, group.name)], group.allowed_per_wave
            if number >= allowed:
                yield group.rule, f"would be eviction {number + 1} of {group.name}, which allows {allowed} now"

    def add(self, move: Move) -> None:
        """A permit was given."""
        self.origins[move.pod.uid] = move.from_node
        self._namespaces[move.pod.namespace] += 1
        for group in self._groups[self.index_of[move.pod.key]]:
            self._of_group[(group.rule, group.name)] += 1


def _indices(moves: Sequence[Move], cluster: Cluster) -> dict[str, int]:
    """Index of each pod that is to move and is there, by key."""
    names = {move.pod.name for move in moves}
    wanted = {move.pod.key for move in moves}
    return {pod.key: index for index, pod in enumerate(cluster.pods) if pod.name in names and pod.key in wanted}


class PolicyGate(Gate):
    """The gate of one plan under one policy.

    It remembers two things only: from which node each move leaves, and the most replicas it ever saw of owners that
    are known by their pods alone (their wanted number would seem to fall while a pod is being replaced).
    """

    def __init__(
        self,
        policy: Policy,
        selection: Selection = EVERYTHING,
        *,
        is_confirmed: bool = True,
        schedulers: frozenset[str] = DEFAULT_SCHEDULERS,
        recheck: Recheck | None = None,
        trust: AskTrust | None = None,
    ) -> None:
        """``is_confirmed``: a person said yes to this plan; otherwise only a policy with mode Execute lets pods go.

        ``recheck`` asks the filters again; None: somebody else does (the executor's proof). ``trust`` is asked before
        each wave; None: the plan was not made by measured use (no provider, or requests stood in for it).
        """
        self._policy = policy
        self._selection = selection
        self._may_execute = is_confirmed or policy.mode is Mode.EXECUTE
        self._schedulers = schedulers
        self._recheck = recheck
        self._trust = trust
        self._origins: dict[str, str] = {}
        self._replicas: dict[str, int] = {}

    def permit(
        self, moves: Sequence[Move], cluster: Cluster, sent: Sequence[PodReference]
    ) -> tuple[Permit | Refusal, ...]:
        """One answer for each move; see ``permit_wave``."""
        self._origins.update((move.pod.uid, move.from_node) for move in moves)
        self._replicas = most_replicas(self._replicas, cluster)
        indebted = with_debts(cluster, frozenset(reference.uid for reference in sent))
        eligibility = decide_eligibility(
            indebted, self._policy, self._selection, self._schedulers, remembered_replicas=self._replicas
        )
        return permit_wave(
            moves,
            GateContext(
                cluster=cluster,
                eligibility=eligibility,
                may_execute=self._may_execute,
                sent={reference.uid: self._origins.get(reference.uid, "") for reference in sent},
                sent_namespaces=Counter(reference.namespace for reference in sent),
                obstacles=self._recheck(cluster, moves) if self._recheck is not None else {},
                trust=self._trust() if self._trust is not None else None,
            ),
        )
