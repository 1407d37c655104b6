"""What of a draft can still be done: within the limits, in some order, as far as time allows."""

from __future__ import annotations

from collections import Counter, defaultdict

from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import Draft, WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import RemainingLimits
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.sequencing import possible_part, sequence
from rescheduler.planning.waves.wave_packing import as_far_as_possible
from rescheduler.planning.waves.waves import GroupsOfPods


def still_possible(problem: Problem, limits: RemainingLimits, draft: Draft, deadline: Deadline) -> WaveSchedule:
    """Waves of as much of a draft as problem and limits let happen, its earlier moves first; perhaps none."""
    places = {pod: node for pod, node in draft.places.items() if pod in problem.pending}
    draft = Draft(_within_limits(problem, limits, draft), places)
    if draft.places:
        return _with_places(problem, draft, deadline)
    waves, _ = as_far_as_possible(
        problem, GroupsOfPods(problem), list(draft.moves.items()), deadline, may_exchange=problem.may_evict_first
    )
    waves.close()
    return waves.schedule


def as_possible_here(
    problem: Problem, limits: RemainingLimits, schedule: WaveSchedule, deadline: Deadline
) -> WaveSchedule:
    """A schedule that was possible with other pods free to move: itself if all of its own still are."""
    if all(pod in problem.row_of_movable for wave in schedule.waves for pod, _ in wave):
        return schedule
    return still_possible(problem, limits, schedule.draft, deadline)


def _with_places(problem: Problem, draft: Draft, deadline: Deadline) -> WaveSchedule:
    found = sequence(problem, draft, deadline).schedule
    if found is None:
        found = sequence(problem, possible_part(problem, draft), deadline).schedule
    return WaveSchedule() if found is None or replay(problem, found) else found


def _within_limits(problem: Problem, limits: RemainingLimits, draft: Draft) -> dict[int, int]:
    """The moves of pods that may move, node by node as far as limits allow: of nodes that few leave first.

    What leaves one node is kept whole or not at all, since half of it seldom is of use.
    """
    leaving: dict[int, list[int]] = defaultdict(list)
    for pod in draft.moves:
        if pod in problem.row_of_movable:
            leaving[int(problem.start.node_of[pod])].append(pod)
    pods = problem.columns.cluster.pods
    kept: set[int] = set()
    spent: Counter[str] = Counter()
    for node in sorted(leaving, key=lambda node: (len(leaving[node]), node)):
        names = Counter(pods[pod].namespace for pod in leaving[node])
        if len(leaving[node]) > min(limits.in_all - len(kept), limits.of_node[node]):
            continue
        if all(spent[name] + count <= limits.of(name) for name, count in names.items()):
            kept.update(leaving[node])
            spent.update(names)
    return {pod: node for pod, node in draft.moves.items() if pod in kept}
