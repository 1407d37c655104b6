"""The gate: the last and only place that gives leave to evict. Pure: state in, verdicts out.

Questions in order, and the first "no" ends it: the kill switch, whether this plan is still the one in force, whether
anything may be executed at all; for a daemon the cluster's health and the circuit breaker; was this pod sent already,
is it still the same pod on the same node; windows and rates; may it still be moved, and is its workload quiet; is its
destination still there; the limits of the plan, the floor under its workload and its PodDisruptionBudget, with every
open debt; and where the move rests on measured use, is that use still to be believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rescheduler.disruption.breaker import breaker_objection, is_on_trial
from rescheduler.disruption.health import Finding
from rescheduler.disruption.spent import Spent
from rescheduler.disruption.usage_trust import distrusted
from rescheduler.model.cluster import Cluster
from rescheduler.model.disruption import Eligibility
from rescheduler.model.ledger import Breaker
from rescheduler.model.permit import Permit
from rescheduler.model.plan import Move, Refusal
from rescheduler.model.pod import Pod
from rescheduler.model.taints import CORDON, tolerates
from rescheduler.model.trust import NodeTrust
from rescheduler.policy.safety import BreakerPolicy


class Caution(NamedTuple):
    """What binds a daemon, which nobody watches: findings about the cluster's health, and the circuit breaker."""

    findings: Sequence[Finding]
    breaker: Breaker
    rules: BreakerPolicy


@dataclass(frozen=True)
class GateContext:
    """What the gate looks at; ``cluster.taken_at`` is the time of all questions.

    ``eligibility`` is that of ``cluster``, decided with every pod in ``sent`` taken as gone. ``sent``: origin of each
    eviction of this plan sent so far, by uid ("" where unknown); ``sent_namespaces``: their number in each namespace.
    ``obstacles``: for pods (by uid) whose destination does not take them any more, the reason. ``trust``: in measured
    use; None where no move of this plan rests on it. ``stop``: why somebody wants nothing to be evicted. ``fence``:
    why this plan is not the one in force. ``caution``: None where a person said yes to this very plan.
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


def _not_eligible(pod: Pod, context: GateContext, spent: Spent) -> Iterator[tuple[str, str]]:
    """Rules of eligibility, a workload that is not quiet among them."""
    index = spent.index_of[pod.key]
    if index not in spent.movable:
        found = context.eligibility.refusals.get(index)
        rule, reason = ("Eligibility", "may not be moved") if found is None else (found.rule, found.message)
        yield rule, reason.removeprefix(f"{pod.key} ")


def _destination(move: Move, pod: Pod, context: GateContext) -> Iterator[tuple[str, str]]:
    """Whether there still is a place for the pod."""
    node = context.cluster.node_by_name.get(move.to_node)
    if node is None:
        yield "DestinationGone", f"has no place any more: node {move.to_node} is not there"
    elif not node.is_ready:
        yield "Destination", f"has no place any more: node {move.to_node} is not ready"
    elif node.is_unschedulable and not any(tolerates(item, CORDON) for item in pod.spec.tolerations):
        yield "Destination", f"has no place any more: node {move.to_node} is cordoned"
    if move.pod.uid in context.obstacles:
        yield "Destination", f"has no place on {move.to_node} any more: {context.obstacles[move.pod.uid]}"
