"""Plans for several objectives one after another: each begins where those before it end and keeps what they reached.

Start reading at ``plan_in_order``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from msgspec.structs import replace as with_changes

from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import MAKE_ROOM, PodReference, Status
from rescheduler.planning.lexicographic.budgeted import plan_within_budgets
from rescheduler.planning.lexicographic.guarding import guards_of, nobody_moves
from rescheduler.planning.lexicographic.warm_start import WarmStart
from rescheduler.planning.lexicographic.weighing import as_told, orders_of, weighed
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.objective import PlanningObjective
from rescheduler.planning.problem.plan_budgets import PlanBudget, PlanBudgets, left_of, plan_budgets_of
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlannedMove, PlannedPlace, PlanRequest
from rescheduler.planning.search.local_search import problem_of
from rescheduler.planning.search.search_state import SAME
from rescheduler.planning.waves.free_places import places_already_free, seat_nominated
from rescheduler.planning.waves.scheduler_choice import close

# Which budgets hold an objective back, for the end of its message.

MOST_TOLD = 2
RULE = "Budget"


def budgets_that_bar(eligibility: Eligibility) -> list[str]:
    """Why budgets keep pods where they are: each reason once with the number of its pods, the most frequent first."""
    reasons: Counter[str] = Counter()
    for refusal in eligibility.refusals.values():
        if refusal.rule == RULE and isinstance(refusal.pod, PodReference):
            reasons[refusal.message.removeprefix(f"{refusal.pod.key} is covered by ")] += 1
    found = [f"{count} pod{'s' if count != 1 else ''} stay because of {text}" for text, count in reasons.most_common()]
    more = len(found) - MOST_TOLD
    return found[:MOST_TOLD] + ([f"and {more} more reasons of budgets"] if more > 0 else [])


OUT_OF_TIME = "not planned for: the deadline was over before its turn came (policy: limits.deadline)"


def out_of_time(objective: PlanningObjective, request: PlanRequest) -> ObjectivePlan:
    """The answer where no time is left even to look at what there is: nothing moves, and nothing is known."""
    if objective.name != MAKE_ROOM:
        return ObjectivePlan(Status.UNKNOWN, 0.0, None, "", OUT_OF_TIME, is_judged=False)
    wanted = len(request.eligibility.helpable)
    return ObjectivePlan(Status.UNKNOWN, 0.0, None, "evictions", OUT_OF_TIME, helped=0, wanted=wanted)


@dataclass
class PlanInProgress:
    """What has been planned so far.

    ``start``: the placement after it, without what is closed; ``closed``: nodes that must receive nothing; ``guards``:
    objectives that later ones must not worsen. ``answers``: one for each objective, with seconds; its moves count waves
    from 1. ``seated``: pending pods that only wait for others to end, on the node the scheduler nominated them to.
    ``budgets``: of which pods only some may move in the plan; ``barring``: what budgets keep where it is, in words;
    ``warm``: where another plan ended.
    """

    start: Placement
    eligibility: Eligibility
    waves: int = 0
    closed: set[int] = field(default_factory=set)
    guards: list[PlanningObjective] = field(default_factory=list)
    moves: list[tuple[str, PlannedMove]] = field(default_factory=list)
    placements: list[PlannedPlace] = field(default_factory=list)
    answers: list[tuple[PlanningObjective, ObjectivePlan, float]] = field(default_factory=list)
    seated: set[int] = field(default_factory=set)
    budgets: PlanBudgets | None = None
    barring: Sequence[str] = ()
    warm: WarmStart = field(default_factory=WarmStart)

    @property
    def dealt(self) -> Sequence[PlanBudget]:
        """Budgets that planners do not know of."""
        return () if self.budgets is None else self.budgets.dealt

    def told(self, objective: PlanningObjective, answer: ObjectivePlan, request: PlanRequest) -> ObjectivePlan:
        """The answer, naming what budgets keep in place and rates that are used up, where more could be wished for."""
        has_all = answer.helped == answer.wanted
        if answer.helped is None:
            has_all = answer.value <= 0 and not objective.is_better_higher
        if has_all:
            return answer
        moved = {move.pod for move in answer.moves}
        spent = [
            f"{budget} leaves no more evictions"
            for budget in left_of(() if self.budgets is None else self.budgets.limits, request.placement)
            if budget.allowed <= len(moved & budget.pods) and budget.name not in answer.message
        ]
        if not (self.barring or spent):
            return answer
        return replace(answer, message="; ".join([answer.message, *self.barring, *spent]))

    def copy(self) -> PlanInProgress:
        """An independent copy."""
        return replace(
            self,
            start=self.start.copy(),
            closed=set(self.closed),
            guards=list(self.guards),
            moves=list(self.moves),
            placements=list(self.placements),
            answers=list(self.answers),
            seated=set(self.seated),
        )


def plan_in_order(
    objectives: Sequence[PlanningObjective], request: PlanRequest, warm: WarmStart | None = None
) -> PlanInProgress:
    """Plan for every objective, the most important first; the deadline is shared, and what one leaves the next may use.

    ``request`` is about the snapshot as it stands. Neighbouring objectives with a weight are planned for together.
    ``warm``: where the search of each begins (None: with nothing moved).
    """
    budgets = plan_budgets_of(request.eligibility, request.prediction.columns)
    barring = budgets_that_bar(request.eligibility)
    so_far = PlanInProgress(request.placement.copy(), budgets.eligibility, budgets=budgets, barring=barring)
    so_far.warm = warm or so_far.warm
    deadline = request.deadline()
    if objectives and objectives[0].name != MAKE_ROOM:
        _let_in(so_far, places_already_free(request, deadline.part(0.2)))
    left = len(objectives)
    for group in _grouped(objectives):
        share = len(group) / left
        seconds = deadline.remaining() * share
        nominal = deadline.seconds * share if left == len(objectives) else None  # later ones get what others leave
        left -= len(group)
        if group[0].name != MAKE_ROOM:  # which sees to them by itself
            so_far.seated.update(seat_nominated(request.prediction, so_far.start))
        if seconds <= 0.0:
            for objective in group:
                _take(so_far, objective, out_of_time(objective, _asked(so_far, request, 0.0, objective)), 0.0)
            continue
        if len(group) > 1:
            _plan_weighted(so_far, group, request, seconds)
            continue
        asked, started = _asked(so_far, request, seconds, group[0]), request.clock.monotonic()
        asked = replace(asked, nominal_seconds=nominal)
        answer = plan_within_budgets(group[0], asked, so_far.guards, so_far.dealt)
        before = so_far.start.copy() if answer.placements else None
        _take(so_far, group[0], so_far.told(group[0], answer, asked), request.clock.monotonic() - started)
        if before is not None:
            so_far.answers[:-1] = [*_with_those_let_in(so_far, request, before)]
    order = {objective.name: number for number, objective in enumerate(objectives)}
    so_far.answers.sort(key=lambda answered: order[answered[0].name])
    return so_far


def _plan_weighted(
    so_far: PlanInProgress, group: Sequence[PlanningObjective], request: PlanRequest, seconds: float
) -> None:
    """Try orders of the group, each with its share of the time, and keep what has the highest weighted sum."""
    deadline = Deadline(request.clock, seconds)
    started = request.clock.monotonic()
    asked = _asked(so_far, request, seconds)
    problem = problem_of(asked)
    orders = list(orders_of(group))
    idle = {objective.name: objective.plan(nobody_moves(asked)) for objective in group}
    alone: dict[str, ObjectivePlan] = {}
    best = weighed(group, problem, {})
    for number, order in enumerate(orders):
        trial = so_far.copy()
        for place, objective in enumerate(order):
            share = deadline.remaining() / (len(orders) - number) / (len(order) - place)
            asked, begun = _asked(trial, request, share, objective), request.clock.monotonic()
            answer = plan_within_budgets(objective, asked, so_far.guards, trial.dealt)
            _take(trial, objective, trial.told(objective, answer, asked), request.clock.monotonic() - begun)
        answers = {objective.name: answer for objective, answer, _ in trial.answers[len(so_far.answers) :]}
        alone.setdefault(order[0].name, answers[order[0].name])
        found = weighed(group, problem, answers)
        best = found if found.is_better_than(best) else best
    spent = (request.clock.monotonic() - started) / len(group)
    for objective, answer in as_told(group, best, alone, idle):
        _take(so_far, objective, answer, spent)


def _grouped(objectives: Sequence[PlanningObjective]) -> Iterable[list[PlanningObjective]]:
    """Objectives one by one, neighbours with a weight together; pending pods are helped in their turn."""
    group: list[PlanningObjective] = []
    for objective in objectives:
        if group and (
            objective.weight is None or group[-1].weight is None or MAKE_ROOM in (objective.name, group[-1].name)
        ):
            yield group
            group = []
        group.append(objective)
    if group:
        yield group


def _asked(
    so_far: PlanInProgress, request: PlanRequest, seconds: float, objective: PlanningObjective | None = None
) -> PlanRequest:
    """What the next objective is asked; without one, what is asked of all, and nobody is told of it."""
    if objective is not None:
        request.progress(f"planning: {objective.name}")
        request = replace(request, move_cost=objective.move_cost)
    placement = so_far.start.copy()
    close(placement, so_far.closed)
    placed = {place.pod for place in so_far.placements} | so_far.seated
    moved = {move.pod for _, move in so_far.moves}
    eligibility = with_changes(
        so_far.eligibility,
        movable=tuple(pod for pod in so_far.eligibility.movable if pod not in moved),
        helpable=tuple(pod for pod in so_far.eligibility.helpable if pod not in placed),
    )
    asked = replace(
        request, placement=placement, eligibility=eligibility, deadline_seconds=seconds, nominal_seconds=None
    )
    if objective is None or objective.name not in so_far.warm.drafts or seconds <= 0.0:
        return asked
    deadline = asked.deadline()
    start = so_far.warm.schedule(objective.name, asked)
    return replace(asked, start=start, deadline_seconds=deadline.remaining())


def _take(so_far: PlanInProgress, objective: PlanningObjective, answer: ObjectivePlan, seconds: float) -> None:
    """Let the moves of an answer happen."""
    last = max((move.wave for move in answer.moves), default=0)
    waves: list[list[PlannedMove]] = [[] for _ in range(last)]
    for move in answer.moves:
        waves[move.wave - 1].append(move)
    for wave in waves:
        for move in wave:
            so_far.start.move(move.pod, move.to_node)
        so_far.start.settle()
    so_far.moves += [(objective.name, replace(move, wave=move.wave + so_far.waves)) for move in answer.moves]
    earlier = len(so_far.placements)
    _let_in(so_far, [replace(place, wave=place.wave + so_far.waves) for place in answer.placements])
    so_far.waves += last
    so_far.closed.update(answer.closes)
    so_far.guards.append(objective)
    if answer.helped is not None and answer.wanted is not None:  # those let in before were wanted too
        answer = replace(answer, helped=answer.helped + earlier, wanted=answer.wanted + earlier)
    so_far.answers.append((objective, answer, seconds))


def _with_those_let_in(
    so_far: PlanInProgress, request: PlanRequest, before: Placement
) -> Iterator[tuple[PlanningObjective, ObjectivePlan, float]]:
    """Earlier answers as they are once pods that waited have their places too, which may cost what was reached.

    Moves for them make nothing worse that comes before (``plan_guarded``); that they take room, load a node, or stand
    beside an antagonist is what helping them means, and is told. ``before``: the placement that they were asked on.
    """
    heeded = [one for one, answer, _ in so_far.answers[:-1] if answer.is_judged and not one.is_kept_by_places]
    costs = guards_of(heeded, replace(request, placement=before))
    then = guards_of(heeded, replace(request, placement=so_far.start))
    worse = {
        one.name: after.cost - cost.cost
        for one, cost, after in zip(heeded, costs, then, strict=True)
        if after.cost > cost.cost + SAME * max(1.0, abs(cost.cost))
    }
    for objective, answer, seconds in so_far.answers[:-1]:
        by = worse.get(objective.name, 0.0)
        yield objective, _worsened(answer, -by if objective.is_better_higher else by), seconds


def _worsened(answer: ObjectivePlan, by: float) -> ObjectivePlan:
    """The bound stays: with fewer pods to count it was no worse."""
    if not by:
        return answer
    value = answer.value + by
    status = Status.FEASIBLE if answer.status is Status.OPTIMAL else answer.status
    message = f"{answer.message}; {value:g} once the pods that wait have the places that they get"
    return replace(answer, value=value, status=status, message=message)


def _let_in(so_far: PlanInProgress, places: Iterable[PlannedPlace]) -> None:
    for place in places:
        so_far.placements.append(place)
        so_far.start.assume(place.pod, place.node)
