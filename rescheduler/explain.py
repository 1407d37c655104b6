"""Why one pod or one node would or would not move: the plan, the rules and the scheduler's verdicts, asked about it.

Stands on the floor of ``cycle.py``: it puts together what eligibility, plan and predicted scheduler say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

import numpy as np
from msgspec import UNSET

from rescheduler.disruption.earlier.open_evictions import indebted, replicas_with_debts
from rescheduler.disruption.eligibility import NOTHING_REMEMBERED
from rescheduler.disruption.eligibility import explain_pod as objections_to
from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.disruption.methods.could_surge import could_surge
from rescheduler.extension_points import NOTHING_EARLIER, LedgerReading, ReschedulerError
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import EMPTY_NODES, Move, Plan, PlannedPlacement, Refusal, reference_to
from rescheduler.model.printable import first_few, printable
from rescheduler.policy.fields.policy import Policy
from rescheduler.report.explanation import Explanation, NodeVerdict
from rescheduler.report.plan.moves import BY_METHOD
from rescheduler.scheduling.prediction.verdict import reason_counts
from rescheduler.scheduling.scheduler_model import SchedulerModel
from rescheduler.scheduling.schedulers import DEFAULTS, Schedulers

MOST_NAMED: Final = 8


class NotInClusterError(ReschedulerError):
    """What was asked about is not in the cluster: names what is near it."""


def find_pod(cluster: Cluster, key: str) -> Pod:
    """The pod ``NAMESPACE/NAME``. Raises NotInClusterError."""
    pod = cluster.pod_by_key.get(key)
    if pod is None:
        aside = next((item for item in cluster.set_aside if item.kind == "Pod" and item.key == key), None)
        if aside is not None:
            raise NotInClusterError(printable(aside.text, 600))
        raise NotInClusterError(_not_found("pod", key, cluster.pod_by_key))
    return pod


def find_node(cluster: Cluster, name: str) -> Node:
    """The node of this name. Raises NotInClusterError."""
    node = cluster.node_by_name.get(name)
    if node is None:
        raise NotInClusterError(_not_found("node", name, cluster.node_by_name))
    return node


def explain_pod(
    cluster: Cluster,
    policy: Policy,
    selection: Selection,
    plan: Plan,
    pod: Pod,
    schedulers: Schedulers = DEFAULTS,
    earlier: LedgerReading = NOTHING_EARLIER,
) -> Explanation:
    """What the plan does with a pod; if nothing, which rules refuse it; and how the scheduler sees each node for it."""
    cluster = schedulers.configured(cluster)
    pod = cluster.pod_by_key[pod.key]
    moves = tuple(move for move in plan.moves if move.pod.key == pod.key)
    placements = tuple(place for place in plan.placements if place.pod.key == pod.key)
    refusals = (
        () if moves or placements else objections_to(_context(cluster, policy, selection, schedulers, earlier), pod)
    )
    notes = _could_surge(_context(cluster, policy, selection, schedulers, earlier), [pod]) if refusals else ()
    model = schedulers.model(cluster, is_for_planning=True)
    nodes = _verdicts(model, pod) if pod.is_active else ()
    verdict, message = _verdict(pod, plan, moves, placements, refusals) or ("Waits", _waiting(model, pod, nodes, plan))
    return Explanation(
        verdict=verdict,
        message=message,
        pod=reference_to(pod),
        on_node=UNSET if pod.node_name is None else pod.node_name,
        moves=moves,
        placements=placements,
        refusals=refusals,
        nodes=nodes,
        notes=notes or UNSET,
    )


def _verdict(
    pod: Pod,
    plan: Plan,
    moves: Sequence[Move],
    placements: Sequence[PlannedPlacement],
    refusals: Sequence[Refusal],
) -> tuple[str, str] | None:
    """What becomes of a pod, in a word and in words; None for a pending one that nothing is known of."""
    if moves and moves[0].destination is None:
        return "Leaves", f"goes in wave {moves[0].wave}, and nobody makes it again: {moves[0].reason}"
    if not pod.is_active:
        return "Leaves", "has finished" if pod.is_finished else "is terminating; it is left alone"
    if moves:
        move = moves[0]
        how = f" {BY_METHOD[move.method].partition(':')[0]}" if move.method in BY_METHOD else ""
        return "Moves", f"moves{how} from {move.from_node} to {move.to_node} in wave {move.wave}: {move.reason}"
    if placements:
        return "GetsAPlace", _place_found(placements[0], plan)
    if refusals:
        return "Refused", f"is left alone ({_rules(refusals)})"
    return None if pod.is_pending else ("Stays", _not_needed(plan))


def explain_node(
    cluster: Cluster,
    policy: Policy,
    selection: Selection,
    plan: Plan,
    node: Node,
    schedulers: Schedulers = DEFAULTS,
    earlier: LedgerReading = NOTHING_EARLIER,
) -> Explanation:
    """Which pods leave a node and arrive on it, and which rule keeps each of the others where it is."""
    moves = tuple(move for move in plan.moves if node.name in (move.from_node, move.to_node))
    placements = tuple(place for place in plan.placements if place.node == node.name)
    cluster = schedulers.configured(cluster)
    context = _context(cluster, policy, selection, schedulers, earlier)
    pods = cluster.pods_by_node.get(node.name, ())
    moved = {move.pod.key for move in moves}
    objections = {pod.key: objections_to(context, pod) for pod in pods if pod.key not in moved}
    leaving = sum(move.from_node == node.name for move in moves)
    arriving = len(moves) - leaving + len(placements)
    free = sum(not found for found in objections.values()) + leaving
    leave, arrive = "leaves" if leaving == 1 else "leave", "arrives" if arriving == 1 else "arrive"
    of_all = "its pod" if len(pods) == 1 else f"its {len(pods)} pods"
    parts = [*_conditions(node), f"{leaving} of {of_all} {leave}, {arriving} {arrive}"]
    parts.append(f"{free} of its pods may be moved")
    return Explanation(
        verdict="Moves" if moves or placements else "Stays",
        message="; ".join(parts),
        node=node.name,
        moves=moves,
        placements=placements,
        refusals=tuple(refusal for found in objections.values() for refusal in found[:1]),
        notes=_could_surge(context, [pod for pod in pods if objections.get(pod.key)]) or UNSET,
    )


def _could_surge(context: EligibilityContext, refused: Sequence[Pod]) -> tuple[str, ...]:
    """A sentence about those of some refused pods that a rule of the policy could let move."""
    found = could_surge(context, refused)
    if not found:
        return ()
    names = first_few([pod.key for pod in found], MOST_NAMED)
    whom = "it" if len(found) == 1 else "them"
    return (f"could move by surge if a rule named {whom}: {names} (policy: disruption.moveBy)",)


def gained_by_surge(plan: Plan, then: Plan) -> tuple[str, ...]:
    """What objectives would reach if a rule let all pods move by surge that can; ``then`` is that plan."""
    reached = {objective.name: objective for objective in plan.objectives}
    told = []
    for objective in then.objectives:
        before = reached.get(objective.name)
        if before is None or before.value is None or objective.value is None or before.value == objective.value:
            continue
        more = objective.value - before.value
        if objective.name == EMPTY_NODES and objective.unit in ("node", "nodes") and more > 0:
            told.append(f"EmptyNodes would empty {more:g} node{'' if more == 1 else 's'} more")
        elif objective.name != EMPTY_NODES:
            told.append(f"{objective.name} would come to {objective.value:g} {objective.unit}, not {before.value:g}")
    return (f"if a rule named all pods that can move by surge: {'; '.join(told)}",) if told else ()


def _context(
    cluster: Cluster, policy: Policy, selection: Selection, schedulers: Schedulers, earlier: LedgerReading
) -> EligibilityContext:
    return EligibilityContext(
        indebted(cluster, earlier.ledger),
        policy,
        selection,
        schedulers.names,
        replicas_with_debts(NOTHING_REMEMBERED, earlier.ledger),
        ledger=earlier.ledger,
        stop=earlier.stop,
    )


def _verdicts(model: SchedulerModel, pod: Pod) -> tuple[NodeVerdict, ...]:
    """The scheduler's verdict on each node as the cluster stands; the pod does not stand in its own way."""
    columns = model.columns
    reasons: list[list[str]] = [[] for _ in columns.cluster.nodes]
    for rejection in model.reasons(columns.pod_index[pod.key], Placement(columns)):
        for index in np.flatnonzero(rejection.nodes):
            if rejection.reason not in reasons[index]:  # several filters miss the same claim
                reasons[index].append(rejection.reason)
    return tuple(
        NodeVerdict(node.name, feasible=not found, reasons=tuple(found))
        for node, found in zip(columns.cluster.nodes, reasons, strict=True)
    )


def _place_found(place: PlannedPlacement, plan: Plan) -> str:
    if place.wave == 0:
        return f"fits on {place.node} already; the scheduler is expected to put it there"
    before = sum(move.wave <= place.wave for move in plan.moves)
    pods = "1 pod has" if before == 1 else f"{before} pods have"
    return f"gets a place on {place.node} at the end of wave {place.wave}, when {pods} moved"


def _waiting(model: SchedulerModel, pod: Pod, nodes: Sequence[NodeVerdict], plan: Plan) -> str:
    """Why a pending pod goes on waiting, with reasons counted as kube-scheduler counts them."""
    refusals = model.refusals(model.columns.pod_index[pod.key], Placement(model.columns))
    told = ", ".join(f"{count} {reason}" for reason, count in reason_counts(refusals).items())
    fitting = sum(node.feasible for node in nodes)
    summary = f"{fitting}/{len(nodes)} nodes are available" + (f": {told}" if told else "")
    messages = (objective.message for objective in plan.objectives if objective.message)
    answer = "; ".join(clause for clause in next(messages, "").split("; ") if f"{pod.key} ({told})" not in clause)
    return f"gets no place; {summary}" + (f"; the plan says: {answer}" if answer else "")


def _not_needed(plan: Plan) -> str:
    if plan.moves:
        return "may be moved, and the plan reaches what it does without it"
    wanted = [objective.wanted for objective in plan.objectives]
    if not any(wanted) and all(isinstance(number, int) for number in wanted):
        return "may be moved, and no pending pod waits for room"
    return "may be moved, and the plan proposes no moves at all"


def _conditions(node: Node) -> Iterable[str]:
    if node.problem is not None:
        yield f"cannot be used: {node.problem}"
    if node.is_virtual:
        yield "is virtual, so it is neither source nor target"
    if node.is_unschedulable:
        yield "is cordoned"
    if not node.is_ready:
        yield "is not ready"


def _rules(refusals: Sequence[Refusal]) -> str:
    return ", ".join(dict.fromkeys(refusal.rule for refusal in refusals))


def _not_found(kind: str, name: str, known: Iterable[str]) -> str:
    names = list(known)
    same = [key for key in names if key.rpartition("/")[2] == name.rpartition("/")[2]] if kind == "pod" else []
    near = same[:3] or get_close_matches(name, names[:20_000], n=3)
    hint = f"; did you mean {' or '.join(printable(one) for one in near)}?" if near else ""
    return f"the cluster has no {kind} {printable(name, 300)}{hint}"
