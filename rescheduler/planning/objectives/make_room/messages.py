"""What a plan says of itself: who is not helped and why, which limit binds, what the certificate proves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rescheduler.model.objects.resources import CPU, MEMORY, format_amount
from rescheduler.model.plan.plan import Status
from rescheduler.planning.objectives.make_room.hand_off import NodesToAdd, needed
from rescheduler.planning.objectives.make_room.levels import BindingLimits
from rescheduler.planning.objectives.make_room.opening import HelpWanted
from rescheduler.planning.objectives.make_room.search import SearchOutcome
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import RESOURCE_REASONS, Problem

# Why each move is made, in words.


def reasons_of_moves(problem: Problem, schedule: WaveSchedule) -> Mapping[int, str]:
    """A sentence per moved pod: whose room it frees, where, and how much."""
    pods = problem.columns.cluster.pods
    nodes = problem.columns.cluster.nodes
    guests: dict[int, list[int]] = {}
    for pod, node, _ in schedule.places:
        guests.setdefault(node, []).append(pod)
    arriving: dict[int, list[int]] = {}
    for wave in schedule.waves:
        for pod, node in wave:
            arriving.setdefault(node, []).append(pod)
    reasons = {}
    for wave in schedule.waves:
        for pod, _ in wave:
            origin = int(problem.start.node_of[pod])
            helped = guests.get(origin) or arriving.get(origin, [])
            names = ", ".join(pods[other].key for other in helped[:3]) or "the pods that follow"
            more = f" and {len(helped) - 3} more" if len(helped) > 3 else ""
            chain = "" if origin in guests else ", which moves in turn" if helped else ""
            where = nodes[origin].name
            reasons[pod] = f"makes room for {names}{more}{chain} on {where}: frees {_freed(problem, pod)}"
    return reasons


def _freed(problem: Problem, pod: int) -> str:
    amounts = dict(
        problem.columns.cluster.pods[pod].held or problem.columns.shapes[problem.columns.shape_of[pod]].requests
    )
    names = [CPU, MEMORY, *sorted(set(amounts) - {CPU, MEMORY})]
    told = [f"{format_amount(name, amounts[name])}{_unit(name)}" for name in names if amounts.get(name)]
    return ", ".join(told) or "a pod's place"


def _unit(name: str) -> str:
    if name == MEMORY:
        return " memory"
    return f" {name}"


MOST_NAMED = 5


def describe(
    asked: HelpWanted,
    problem: Problem,
    outcome: SearchOutcome,
    schedule: WaveSchedule,
    status: Status,
    limits: BindingLimits,
    notes: list[str],
) -> str:
    """The message of an answer; ``problem`` is the whole one."""
    placed = {pod for pod, _, _ in schedule.places}
    left = [pod for pod in problem.pending if pod not in placed]
    wanted = len(asked.waiting())
    if not wanted:
        return "no pending pod is to be helped"
    parts = [_summary(len(placed), wanted, schedule)]
    lost = asked.incomplete()
    if lost:
        parts.append(f"not helped: {_named(problem, lost)}, which go together with pods that may not be helped")
    if left:
        parts.append(_not_helped(problem, left))
        parts += _groups_left_out(problem, left)
        if problem.pending_groups.evictions_per_pod is not None:
            parts.append(_prize_told(problem.pending_groups.evictions_per_pod, status))
            parts += [_proof(problem, outcome, status)] if status is Status.INFEASIBLE else []
            return "; ".join([part for part in parts if part] + notes)
        if limits.names:
            would = f"{limits.evictions} evictions would help {limits.helped} of {wanted}"
            parts.append(f"{' and '.join(limits.names)} binds: {would}")
        parts.append(_proof(problem, outcome, status))
    elif status is Status.FEASIBLE:
        bound = outcome.proven.bound_for(outcome.proven.for_help or ())
        parts.append(f"fewer evictions are not ruled out: at least {bound} are needed")
    return "; ".join([part for part in parts if part] + notes)


def _summary(helped: int, wanted: int, schedule: WaveSchedule) -> str:
    evictions = schedule.evictions
    if helped == wanted and not evictions:
        return f"all {wanted} pending pods fit already" if wanted > 1 else "the pending pod fits already"
    by = f"by {evictions} eviction{'s' if evictions != 1 else ''}" if evictions else "without evictions"
    pods, get = "pods" if wanted != 1 else "pod", "gets" if wanted == 1 else "get"
    return f"{helped} of {wanted} pending {pods} {get} a place {by}"


def _not_helped(problem: Problem, left: list[int]) -> str:
    pods = problem.columns.cluster.pods
    names = ", ".join(f"{pods[pod].key} ({_why(problem, pod)})" for pod in left[:MOST_NAMED])
    more = f" and {len(left) - MOST_NAMED} more" if len(left) > MOST_NAMED else ""
    return f"not helped: {names}{more}"


def told(problem: Problem, to_add: NodesToAdd) -> list[str]:
    """Which nodes to add, in words."""
    parts = []
    names = problem.columns.cluster.nodes
    if to_add.pods:
        node = names[to_add.example]
        asked = {name for pod in to_add.pods for name in needed(problem, [pod])}
        shape = ", ".join(f"{format_amount(name, amount)} {name}" for name, amount in node.allocatable if name in asked)
        least = f"{to_add.count}" if to_add.count == to_add.enough else f"at least {to_add.count}"
        like = f"node{'s' if to_add.enough != 1 else ''} like {node.name} ({shape})"
        whom = f"{len(to_add.pods)} pod{'s' if len(to_add.pods) != 1 else ''}"
        enough = "" if to_add.count == to_add.enough else f", {to_add.enough} are enough"
        parts.append(f"{least} more {like} would help {whom}{enough}")
    if to_add.too_large:
        most = ", ".join(f"{amount} {name}" for name, amount in needed(problem, to_add.too_large).items())
        parts.append(
            f"larger than every node that lets them in: {_named(problem, to_add.too_large)}; a node needs {most}"
        )
    return parts


def _named(problem: Problem, pods: Sequence[int]) -> str:
    names = ", ".join(problem.columns.cluster.pods[pod].key for pod in pods[:MOST_NAMED])
    return names + (f" and {len(pods) - MOST_NAMED} more" if len(pods) > MOST_NAMED else "")


def _groups_left_out(problem: Problem, left: Sequence[int]) -> list[str]:
    """Groups that are left out whole, told once each."""
    pending_groups = problem.pending_groups
    groups = [
        pending_groups.groups[number]
        for number in sorted({pending_groups.group_of[pod] for pod in left if pod in pending_groups.group_of})
    ]
    told = [f"{_named(problem, group)} go together and are helped all or none" for group in groups[:MOST_NAMED]]
    if len(groups) > MOST_NAMED:
        told.append(f"{len(groups) - MOST_NAMED} more groups are left out whole")
    return told


def _prize_told(evictions_per_pod: int, status: Status) -> str:
    evictions = f"{evictions_per_pod} eviction{'s' if evictions_per_pod != 1 else ''}"
    if status is Status.INFEASIBLE:
        return f"helping one pod may take at most {evictions} more (prize)"
    if status is Status.OPTIMAL:
        return f"proven: none of them can be helped by at most {evictions} more each (prize)"
    return f"no way was found to help them by at most {evictions} more each (prize); not proven that there is none"


def _why(problem: Problem, pod: int) -> str:
    """The reasons against most nodes, in the scheduler's words and counted as it counts."""
    counts: Counter[str] = Counter()
    for refusal in problem.prediction.refusals(pod, problem.start):
        counts[refusal.reason] += int(refusal.nodes.sum())
    hopeless = 0
    for rejection in problem.prediction.reasons(pod, problem.start):
        if rejection.reason.startswith(RESOURCE_REASONS) and not rejection.is_resolvable:
            hopeless = max(hopeless, int(rejection.nodes.sum()))
    told = ", ".join(f"{count} {reason}" for reason, count in counts.most_common(3))
    if problem.node_count and hopeless == problem.node_count:
        return f"larger than every node: {told}"
    return told or "others need the room"


def _proof(problem: Problem, outcome: SearchOutcome, status: Status) -> str:
    if status is not Status.INFEASIBLE:
        return "not proven: time ran out before every plan was ruled out"
    if outcome.certificate is not None:
        ceiling = outcome.certificate.helpable
        return (
            f"proven by a linear programme: no rearrangement of the {len(problem.movable)} movable pods helps more than"
            f" {ceiling} of {len(problem.pending)}, so a node must be added or pods must become movable"
        )
    return (
        f"proven by exhaustive search over {problem.node_count} nodes and {len(problem.movable)} movable pods: no"
        " allowed order of moves within the limits helps more"
    )
