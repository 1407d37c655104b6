"""Judges plans from the instance alone, with plain sums and none of the planner's code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.snapshot_form import Snapshot


@dataclass
class Judgement:
    """What a plan is worth: evictions, helped pods by priority (highest first), and what is wrong with it."""

    evictions: int = 0
    helped: tuple[int, ...] = ()
    faults: list[str] = field(default_factory=list)


def judge(snapshot: Snapshot, moves: Sequence[tuple[int, int]], placements: Sequence[tuple[int, int]]) -> Judgement:
    """Replay moves and then placements one by one, pods and nodes by number: room must be there before each arrival."""
    verdict = Judgement(evictions=len(moves))
    home = list(snapshot.homes)
    used = [[0] * len(snapshot.resources) for _ in snapshot.capacities]
    for pod, node in enumerate(home):
        if node is not None:
            _add(used[node], snapshot.requests[pod], 1)
    moved: set[int] = set()
    for pod, node in moves:
        origin = home[pod]
        if origin is None or pod in moved or origin == node:
            verdict.faults.append(f"pod {pod} cannot move to node {node}: pending, moved before, or there already")
            continue
        _arrive(snapshot, used, pod, node, verdict)
        _add(used[origin], snapshot.requests[pod], -1)
        home[pod] = node
        moved.add(pod)
    for pod, node in placements:
        if home[pod] is not None:
            verdict.faults.append(f"pod {pod} is placed but was not pending")
            continue
        _arrive(snapshot, used, pod, node, verdict)
        home[pod] = node
    waiting = [pod for pod, node in enumerate(snapshot.homes) if node is None]
    priorities = sorted({snapshot.priorities[pod] for pod in waiting}, reverse=True)
    verdict.helped = tuple(
        sum(home[pod] is not None and snapshot.priorities[pod] == level for pod in waiting) for level in priorities
    )
    return verdict


def _arrive(snapshot: Snapshot, used: list[list[int]], pod: int, node: int, verdict: Judgement) -> None:
    request = snapshot.requests[pod]
    for row, asked in enumerate(request):
        if asked and used[node][row] + asked > snapshot.capacities[node][row]:
            verdict.faults.append(f"no room for pod {pod} on node {node} in {snapshot.resources[row]}")
            break
    _add(used[node], request, 1)


def _add(used: list[int], request: tuple[int, ...], sign: int) -> None:
    for row, amount in enumerate(request):
        used[row] += sign * amount
