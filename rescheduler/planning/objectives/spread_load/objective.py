"""Bring nodes below their target by real use, with as few and as cheap moves as possible: start reading here."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.plan.plan import Status
from rescheduler.model.usage.demand import trimaran_demand
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.spread_load.messages import (
    NOTHING_TO_JUDGE,
    UNIT,
    Before,
    describe,
    hot_nodes_that_stay,
)
from rescheduler.planning.objectives.spread_load.state import LoadState
from rescheduler.planning.objectives.spread_load.whole_model import WholePlan, solve_whole
from rescheduler.planning.problem.amounts import fits
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.objective import PlanningObjective
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.problem.prices import relative_price
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import RemainingLimits, remaining_limits
from rescheduler.planning.search.answering import as_answer
from rescheduler.planning.search.local_search import improve, improve_simply, problem_of
from rescheduler.policy.fields.objectives import SpreadLoadArgs

NOTHING = 1e-5
"""Overload that does not count: far below a millicore on a usual node, and what solvers of programs leave open."""
SIMPLE_SHARE = 0.9  # at most, for what no plan may fall behind
WHOLE_SHARE = 0.3
PLAN_SHARE = 0.8  # the rest of the time is for telling which moves need guidance


class SpreadLoad(PlanningObjective):
    """Nodes below their target by real use, with as few and as cheap moves as possible."""

    name = "SpreadLoad"
    arguments = SpreadLoadArgs

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """Plan within the deadline; requests stay the hard constraint, and no node is brought above its target.

        Resources whose use nobody observes are left out. The value is the use above the targets that is left, each
        resource counted in average nodes. UNKNOWN, and nothing moves, where there is no load that can be believed.
        """
        deadline = request.deadline()
        problem = problem_of(request)
        state = LoadState(problem, self.observed, self.args.shares, is_strict=True)
        if problem.columns.node_count and not (state.load.is_known.any() and state.load.resources):
            message = "; ".join([NOTHING_TO_JUDGE, *self.observed.notes])
            return ObjectivePlan(Status.UNKNOWN, 0.0, None, UNIT, message, is_judged=False)
        before = Before(state)
        simple = improve_simply(request, problem, state, deadline.part(SIMPLE_SHARE))
        limits = remaining_limits(request.eligibility.limits, request.placement)
        bound = 0.0 if deadline.is_over() else least_overload(problem, state, limits)
        whole = _whole(request, problem, state, deadline.part(WHOLE_SHARE)) if state.cost > bound else None
        bound, hint = (bound, ()) if whole is None else (max(bound, whole.bound), whole.moves)
        part, cheap = deadline.part(PLAN_SHARE), is_best_effort(problem)
        plan = improve(request, problem, state, part, simple, floor=bound, is_cheap=cheap, hint=hint)
        bound = plan.cost_after if plan.cost_after <= bound + NOTHING else bound
        refusals = hot_nodes_that_stay(request, plan.current, state)
        return as_answer(
            request,
            problem,
            plan,
            deadline,
            value=plan.cost_after,
            bound=bound,
            unit=UNIT,
            message=describe(request, before, state, plan, bound, refusals, self.observed.notes),
            reason=lambda pod, _: _reason(problem, before, pod),
            refusals=refusals,
        )

    def state(self, problem: Problem) -> LoadState:
        """Use above the targets."""
        return LoadState(problem, self.observed, self.args.shares)

    @property
    def observed(self) -> ObservedUse:
        """The load that it judges."""
        assert self.setting.observed is not None
        return self.setting.observed


def _reason(problem: Problem, before: Before, pod: int) -> str:
    origin = int(problem.start.node_of[pod])
    name = problem.columns.cluster.nodes[origin].name
    return f"relieves {name}" if before.over[:, origin].any() else f"makes way on {name} for a pod of a hot node"


def _whole(request: PlanRequest, problem: Problem, state: LoadState, deadline: Deadline) -> WholePlan | None:
    """The whole question as one program, if it is small; its plan where moves cost something counts that in."""
    limits = remaining_limits(request.eligibility.limits, request.placement)
    free = np.zeros(len(problem.movable))
    whole = solve_whole(problem, state, limits, free, deadline.part(0.5))
    if whole is None or not request.move_cost:
        return whole
    prices = problem.prices(np.arange(len(problem.movable)))
    fees = np.array([request.move_cost * relative_price(price) for price in prices.tolist()])
    priced = solve_whole(problem, state, limits, fees, deadline)
    return whole if priced is None else WholePlan(whole.bound, priced.moves)


def is_best_effort(problem: Problem) -> BoolArray:
    """Movable pods that request neither cpu nor memory and have no limit on them: first to give way, bool[M]."""
    shapes = problem.columns.shapes
    bare = (not shape.requests and trimaran_demand(shape).is_best_effort for shape in shapes)
    of_shape = np.fromiter(bare, dtype=np.bool_, count=len(shapes))
    found: BoolArray = of_shape[problem.columns.shape_of[problem.movable]]
    return found


def least_overload(problem: Problem, state: LoadState, limits: RemainingLimits) -> float:
    """A proven lower bound, whatever is moved where and in what order, in the unit of the state's cost.

    Each node's relief by j departures is at most concave in j, so that the largest marginal reliefs over all nodes
    bound any plan of as many evictions; and what all nodes together use above what they may cannot go away at all.
    """
    over = state.over()
    start = float(over.sum())
    if start == 0.0:
        return 0.0
    marginals = [
        _marginals(state.uses[:, rows], over[:, node], int(min(limits.of_node[node], limits.in_all)))
        for node, rows in _leavers(problem, state).items()
    ]
    largest = np.sort(np.concatenate([np.zeros(1), *marginals]))[::-1][: max(0, limits.in_all)]
    return max(0.0, start - float(largest.sum()), _unavoidable(state))


def _leavers(problem: Problem, state: LoadState) -> dict[int, IntArray]:
    """Rows of the pods that may leave each hot node for some other one, by node."""
    rows = np.flatnonzero(state.hot()[state.node_of] & (state.uses > 0).any(axis=0))
    if not len(rows):
        return {}
    room = _most_room(problem)
    shapes = problem.columns.shape_of[problem.movable[rows]].astype(np.int64)
    looks = problem.mask_numbers[rows] * len(problem.columns.shapes) + shapes
    _, first, number = np.unique(looks, return_index=True, return_inverse=True)
    found = [_place(problem, state, int(row), room) for row in rows[first].tolist()]
    can_leave = np.array([count > 1 for count, _ in found])[number]
    only = np.array([node if count == 1 else NOWHERE for count, node in found])[number]
    can_leave |= (only != NOWHERE) & (only != state.node_of[rows])
    rows = rows[can_leave]
    at = state.node_of[rows]
    order = np.argsort(at, kind="stable")
    nodes, starts = np.unique(at[order], return_index=True)
    return dict(zip(nodes.tolist(), np.split(rows[order], starts[1:]), strict=bool(len(rows))))


def _place(problem: Problem, state: LoadState, row: int, room: IntArray) -> tuple[int, int]:
    """How many nodes of known load could take a pod if all that may leave had left, and the first of them."""
    mask = problem.static_mask(int(problem.movable[row]))[1]
    found = mask & state.load.is_known & fits(problem.requests[:, row], room)
    return int(found.sum()), int(np.argmax(found))


def _most_room(problem: Problem) -> IntArray:
    """Room of each node once all movable pods have left it, int64[R, N]."""
    room: IntArray = problem.free.copy()
    for resource in range(len(room)):
        np.add.at(room[resource], problem.origin, problem.held[resource])
    return room


def _marginals(uses: FloatArray, over: FloatArray, most: int) -> FloatArray:
    """Upper bounds of the relief by the first, second, ... departure from one node; they never grow."""
    reliefs = np.sort(np.minimum(uses, over[:, None]).sum(axis=0))[::-1]
    by_pod = np.cumsum(reliefs)
    by_resource = np.minimum(np.cumsum(np.sort(uses, axis=1)[:, ::-1], axis=1), over[:, None]).sum(axis=0)
    total = np.minimum(np.minimum(by_pod, by_resource), over.sum())
    marginals: FloatArray = np.diff(total, prepend=0.0)[: max(0, most)]
    return marginals


def _unavoidable(state: LoadState) -> float:
    """What known nodes use together above what they may use together; no move between them changes that."""
    load = state.load
    known = load.is_known
    excess = (load.use[:, known].sum(axis=1) - load.allowed[:, known].sum(axis=1)) / load.unit
    return float(np.maximum(0.0, excess).sum())
