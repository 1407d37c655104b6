"""What is said of a plan that repairs violations."""

from __future__ import annotations

from rescheduler.model.plan.plan import Refusal
from rescheduler.planning.assignment.staying import Staying, because
from rescheduler.planning.objectives.fault_domains.part import ViolationCounter
from rescheduler.planning.objectives.fault_domains.state import ViolationsState
from rescheduler.planning.objectives.separate_antagonists.messages import MOST_NAMED, MOST_REFUSALS, counted
from rescheduler.planning.problem.problem import Problem

_PODS_OF_A_PART = 3


def reason_of(problem: Problem, before: ViolationsState, pod: int) -> str:
    """Why a pod moves: the violations that it takes part in, or the room or company that it makes."""
    node = problem.columns.cluster.nodes[int(problem.start.node_of[pod])].name
    for part in before.parts_of(pod):
        if part.cost and pod in _blamed(part):
            return f"repairs {part.describe()} on {node}"
    return f"leaves {node}, so that violations elsewhere can be repaired"


def outcome(
    problem: Problem, before: ViolationsState, after: ViolationsState, evictions: int, staying: Staying
) -> tuple[str, tuple[Refusal, ...]]:
    """The message, and refusals of pods that keep violations."""
    if not before.cost:
        return "no spread or affinity is violated", ()
    gone = counted(before.cost - after.cost, "violation")
    text = f"{gone} of spread and affinity repaired by {counted(evictions, 'eviction')}"
    text = text if evictions else "no violation of spread or affinity could be repaired"
    left = sorted((part for part in after.parts if part.cost), key=lambda part: -part.cost)
    if not left:
        return text, ()
    blamed = [pod for part in left for pod in _blamed(part)]
    refusals = {pod: staying.why(pod) for pod in list(dict.fromkeys(blamed))[:MOST_REFUSALS]}
    told = [_part(problem, part) for part in left[:MOST_NAMED]]
    more = [f"and {counted(len(left) - MOST_NAMED, 'more constraint')}"] if len(left) > MOST_NAMED else []
    stay = f"{counted(after.cost, 'violation')} {'stays' if after.cost == 1 else 'stay'}"
    return f"{text}; {stay}: {'; '.join([*told, *more])}{because(refusals.values())}", tuple(refusals.values())


def _blamed(part: ViolationCounter) -> list[int]:
    """Pods that take part in what is violated."""
    blame = part.blame()
    return [pod for pod, amount in zip(blame.pods.tolist(), blame.amounts.tolist(), strict=True) if amount]


def _part(problem: Problem, part: ViolationCounter) -> str:
    """What stays violated, and by whom."""
    pods, own = problem.columns.cluster.pods, _blamed(part)
    named = ", ".join(pods[pod].key for pod in own[:_PODS_OF_A_PART])
    more = f" and {len(own) - _PODS_OF_A_PART} more" if len(own) > _PODS_OF_A_PART else ""
    return f"{part.cost} of {part.describe()} by {named}{more}"
