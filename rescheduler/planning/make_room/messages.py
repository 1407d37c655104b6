"""What a plan says of itself: who is not helped and why, which limit binds, what the certificate proves."""

from __future__ import annotations

from collections import Counter

from rescheduler.model.plan import Status
from rescheduler.planning.draft import Schedule
from rescheduler.planning.make_room.binding_limits import BindingLimits
from rescheduler.planning.make_room.search import Outcome
from rescheduler.planning.problem import RESOURCE_REASONS, Problem

MOST_NAMED = 5


def describe(
    problem: Problem, outcome: Outcome, schedule: Schedule, status: Status, limits: BindingLimits, notes: list[str]
) -> str:
    """The message of an answer."""
    placed = {pod for pod, _, _ in schedule.places}
    left = [pod for pod in problem.pending if pod not in placed]
    wanted = len(problem.pending)
    if not wanted:
        return "no pending pod is to be helped"
    parts = [_summary(len(placed), wanted, schedule)]
    if left:
        parts.append(_not_helped(problem, left))
        if limits.names:
            would = f"{limits.evictions} evictions would help {limits.helped} of {wanted}"
            parts.append(f"{' and '.join(limits.names)} binds: {would}")
        parts.append(_proof(problem, outcome, status))
    elif status is Status.FEASIBLE:
        bound = outcome.proven.bound_for(outcome.proven.for_help or ())
        parts.append(f"fewer evictions are not ruled out: at least {bound} are needed")
    return "; ".join([part for part in parts if part] + notes)


def _summary(helped: int, wanted: int, schedule: Schedule) -> str:
    evictions = schedule.evictions
    if helped == wanted and not evictions:
        return f"all {wanted} pending pods fit already" if wanted > 1 else "the pending pod fits already"
    by = f"by {evictions} eviction{'s' if evictions != 1 else ''}" if evictions else "without evictions"
    return f"{helped} of {wanted} pending pod{'s' if wanted != 1 else ''} get{'s' if helped == 1 else ''} a place {by}"


def _not_helped(problem: Problem, left: list[int]) -> str:
    pods = problem.columns.cluster.pods
    names = ", ".join(f"{pods[pod].key} ({_why(problem, pod)})" for pod in left[:MOST_NAMED])
    more = f" and {len(left) - MOST_NAMED} more" if len(left) > MOST_NAMED else ""
    return f"not helped: {names}{more}"


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


def _proof(problem: Problem, outcome: Outcome, status: Status) -> str:
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
