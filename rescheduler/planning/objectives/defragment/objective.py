"""Make room for as many further pods of some shapes as possible by few moves: start reading here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.plan.plan import Status
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.defragment.ceiling import Ceiling
from rescheduler.planning.objectives.defragment.destinations import Unguided, following_the_scheduler
from rescheduler.planning.objectives.defragment.exact import best_plan
from rescheduler.planning.objectives.defragment.messages import blocked_nodes, describe, reason_of, refusals_of
from rescheduler.planning.objectives.defragment.rounds import GreedyRounds
from rescheduler.planning.objectives.defragment.situation import DefragmentSituation, arriving_and_held
from rescheduler.planning.objectives.defragment.wanted_shapes import WantedShapes, WeightedShape
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.objective import PlanningObjective
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.answering import as_answer
from rescheduler.planning.search.local_search import LocalSearchResult, begun_with, simply_arranged
from rescheduler.planning.search.objective_state import ObjectiveState
from rescheduler.planning.search.search_state import SAME, SearchState
from rescheduler.planning.waves.scheduler_choice import close
from rescheduler.planning.waves.waves import GroupsOfPods
from rescheduler.policy.fields.objectives import DefragmentArgs

# What the objective Defragment thinks of a placement: the less the shapes fit, the higher the cost.


class DefragmentState(ObjectiveState):
    """Cost: the weighted number of pods of the wanted shapes that fit, negated."""

    def __init__(self, problem: Problem, shapes: WantedShapes) -> None:
        """Begin with the start of the problem."""
        self._problem = problem
        self._shapes = shapes
        self._arriving, self._held = arriving_and_held(problem)
        self._free = problem.free.copy()
        self._node_of = problem.origin.astype(np.int64)
        self._worth = shapes.worth(self._free)
        self.cost = -float(self._worth.sum())

    def change(self, row: int) -> FloatArray:
        """By how much fewer shapes fit with the pod on each node, float64[N]; 0 where it is."""
        here = int(self._node_of[row])
        after = self._shapes.worth(self._free - self._arriving[:, [row]])
        change: FloatArray = self._worth - after - self._gain_of_leaving(row, here)
        change[here] = 0.0
        return change

    def promising(self) -> IntArray:
        """Pods whose departure alone lets more shapes fit, those first that let the most."""
        free = self._free[:, self._node_of] + self._held  # of the few that moved, what they held before
        gain = self._shapes.worth(free, self._node_of) - self._worth[self._node_of]
        order = np.argsort(-gain, kind="stable")
        found: IntArray = order[gain[order] > 0]
        return found

    def move(self, row: int, node: int) -> None:
        """Take a pod to a node."""
        here = int(self._node_of[row])
        self._free[:, here] += self._holding(row, here)
        self._free[:, node] -= self._holding(row, node)
        self._node_of[row] = node
        for place in (here, node):
            worth = float(self._shapes.worth(self._free[:, [place]], np.array([place]))[0])
            self.cost -= worth - float(self._worth[place])
            self._worth[place] = worth

    def _gain_of_leaving(self, row: int, here: int) -> float:
        free = self._free[:, [here]] + self._holding(row, here)[:, None]
        return float(self._shapes.worth(free, np.array([here]))[0] - self._worth[here])

    def _holding(self, row: int, node: int) -> IntArray:
        """What a pod holds on a node: on its first one, what was read there."""
        amounts = self._held if node == self._problem.origin[row] else self._arriving
        found: IntArray = amounts[:, row]
        return found


SEARCH_SHARE = 0.7  # of the time that is left at each step
_BOUND_SHARE = 0.5
_SIMPLE_SHARE = 0.8  # at most, for what no plan may fall behind
_EXACT_SHARE = 0.5
_START_SHARE = 0.3
_FOLLOWING_SHARE = 0.6


class Defragment(PlanningObjective):
    """Room for as many further pods of some shapes as possible, by few moves."""

    name = "Defragment"
    arguments = DefragmentArgs
    is_better_higher = True

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """The most pods of the wanted shapes, then the fewest evictions for it.

        Each shape is counted as if it were alone. Plans within the deadline; the plan is never worse than doing
        nothing, every prefix of its waves is allowed, and no plan within the limits reaches more than ``bound``.
        """
        deadline = request.deadline()
        situation = DefragmentSituation(request, self.shapes)
        state = DefragmentState(situation.problem, situation.shapes)
        current = SearchState(
            situation.problem, state, situation.limits, guards=request.guards, move_cost=request.move_cost
        )
        before = state.cost
        request.progress("looking for room for the shapes")
        schedule, is_best = _searched(situation, request, current, deadline)
        request.progress("proving how much room there can be")
        bound = -state.cost if is_best and not request.move_cost else _bound(situation, current, deadline)
        request.progress("predicting destinations")
        if request.is_guided_by_holds and current.moved:
            part = deadline.part(_FOLLOWING_SHARE)
            schedule = following_the_scheduler(current, schedule, _gainers(situation, current), part)
        return _answer(situation, request, LocalSearchResult(current, schedule, before, state.cost), bound, deadline)

    def state(self, problem: Problem) -> DefragmentState:
        """Minus the worth of the pods of the shapes that fit."""
        return DefragmentState(problem, WantedShapes(self.setting.columns, self.shapes))

    @cached_property
    def shapes(self) -> Sequence[WeightedShape]:
        """What one of each requests, and its weight."""
        return [(shape.requests, shape.weight) for shape in self.args.shapes]


def _bound(situation: DefragmentSituation, current: SearchState, deadline: Deadline) -> float:
    part = deadline.part(_BOUND_SHARE)
    return max(Ceiling(situation, part).value(part), -current.state.cost)


def _searched(
    situation: DefragmentSituation, request: PlanRequest, current: SearchState, deadline: Deadline
) -> tuple[WaveSchedule, bool]:
    """A schedule, whose moves stand on the search state, and whether no plan is better."""
    search, groups = deadline.part(SEARCH_SHARE), GroupsOfPods(situation.problem)
    if not request.is_guided_by_holds:
        begun = begun_with(current, request, groups, search.part(_START_SHARE))
        schedule = Unguided(situation, current).run(search)
        if begun is None or not begun.is_better_than(current):
            return schedule, False
        current.reset(begun.moves)
        return begun.schedule, False
    simple = simply_arranged(current, request, groups, deadline.part(_SIMPLE_SHARE))
    current.reset([])
    exact = None if search.is_over() else best_plan(situation, request, current, search.part(_EXACT_SHARE))
    if exact is not None and exact.is_best:
        return exact
    kept, cost = list(current.moved.items()), current.cost
    current.reset([])
    rounds = GreedyRounds(situation, current)
    if not search.is_over():
        rounds.run(search)
    if simple.cost < min(cost, current.cost) - SAME:
        current.reset(simple.moves)
        return simple.schedule, False
    if exact is None or current.cost < cost:
        return rounds.schedule, False
    current.reset(kept)
    return exact


def _answer(
    situation: DefragmentSituation,
    request: PlanRequest,
    improvement: LocalSearchResult,
    bound: float,
    deadline: Deadline,
) -> ObjectivePlan:
    current = improvement.current
    closes = _gainers(situation, current)
    held = request.placement.copy()
    close(held, closes)
    answer = as_answer(
        request,
        Problem(request.prediction, held, request.eligibility),
        improvement,
        deadline,
        value=0.0 - current.state.cost,
        bound=bound,
        unit="pods" if situation.shapes.is_counted else "weighted pods",
        message=describe(situation, current, bound),
        reason=reason_of(situation, current),
        refusals=refusals_of(situation, blocked_nodes(situation), request.eligibility),
    )
    status = answer.status if answer.moves or answer.status == Status.OPTIMAL else Status.UNKNOWN
    return replace(answer, status=status, closes=closes)


def _gainers(situation: DefragmentSituation, current: SearchState) -> tuple[int, ...]:
    """Nodes that pods left and where more fits than before: they are kept for the shapes."""
    shapes = situation.shapes
    left: IntArray = np.unique(situation.problem.origin[list(current.moved)].astype(np.int64))
    gains = shapes.worth(current.free[:, left], left) - shapes.worth(situation.problem.free[:, left], left)
    return tuple(left[gains > 0].tolist())
