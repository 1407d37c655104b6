"""What a plan says of itself: who is not helped and why, which limit binds, what the certificate proves."""

from __future__ import annotations

from collections import Counter

from rescheduler.model.plan import Status
from rescheduler.planning.draft import Schedule
from rescheduler.planning.make_room.search import Outcome
from rescheduler.planning.problem import RESOURCE_REASONS, Problem

MOST_NAMED = 5


def describe(
    problem: Problem, outcome: Outcome, schedule: Schedule, status: Status, notes: list[str]
) -> tuple[str, tuple[str, ...]]:
    """The message, and the names of the limits that bind."""
    placed = {pod for pod, _, _ in schedule.places}
    left = [pod for pod in problem.pending if pod not in placed]
    wanted = len(problem.pending)
    if not wanted:
        return "no pending pod is to be helped", ()
    parts = [_summary(len(placed), wanted, schedule)]
    limits: tuple[str, ...] = ()
    if left:
        parts.append(_not_helped(problem, left))
        limits = binding_limits(problem, schedule)
        parts += [f"{limit} binds" for limit in limits]
        parts.append(_proof(problem, outcome, status))
    elif status is Status.FEASIBLE:
        bound = outcome.proven.bound_for(outcome.proven.for_help or ())
        parts.append(f"fewer evictions are not ruled out: at least {bound} are needed")
    return "; ".join([part for part in parts if part] + notes), limits


def binding_limits(problem: Problem, schedule: Schedule) -> tuple[str, ...]:
    """Limits of the whole plan that leave no further eviction somewhere."""
    limits = problem.limits
    moved = [pod for wave in schedule.waves for pod, _ in wave]
    per_node = Counter(int(problem.start.node_of[pod]) for pod in moved)
    per_namespace = Counter(problem.columns.cluster.pods[pod].namespace for pod in moved)
    caps = (
        ("limits.maxEvictions", limits.max_evictions, len(moved)),
        ("limits.maxEvictionsPerNode", limits.max_evictions_per_node, max(per_node.values(), default=0)),
        ("limits.maxEvictionsPerNamespace", limits.max_evictions_per_namespace, max(per_namespace.values(), default=0)),
    )
    return tuple(f"{name} ({cap})" for name, cap, used in caps if cap is not None and used >= cap)


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
    """The reasons against most nodes, in the scheduler's words."""
    counts: Counter[str] = Counter()
    hopeless = 0
    for rejection in problem.prediction.reasons(pod, problem.start):
        counts[rejection.reason] += int(rejection.nodes.sum())
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
