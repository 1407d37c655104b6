"""Why each move is made, in words."""

from __future__ import annotations

from collections.abc import Mapping

from rescheduler.model.objects.resources import CPU, MEMORY, format_amount
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import Problem


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
