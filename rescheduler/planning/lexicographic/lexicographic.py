"""Plans for several objectives one after another: each begins where those before it end and keeps what they reached.

Start reading at ``plan_in_order``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from msgspec.structs import replace as with_changes

from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import PodReference
from rescheduler.planning.lexicographic.budgeted import plan_rationed
from rescheduler.planning.lexicographic.goal import Goal
from rescheduler.planning.lexicographic.guarding import nobody_moves
from rescheduler.planning.lexicographic.weighing import as_told, orders_of, weighed
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.plan_budgets import Rations, left_of, rations_of
from rescheduler.planning.problem.plan_request import Answer, PlannedMove, PlannedPlace, Question
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.waves.closing import close
from rescheduler.planning.waves.free_places import places_already_free, seat_nominated

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


def told_of_budgets(
    goal: Goal, answer: Answer, question: Question, rations: Rations | None, barring: Sequence[str]
) -> Answer:
    """The answer, naming what budgets keep in place and rates that are used up, where more could be wished for."""
    has_all = answer.helped == answer.wanted
    if answer.helped is None:
        has_all = answer.value <= 0 and not goal.is_better_higher
    if has_all:
        return answer
    left = left_of(() if rations is None else rations.limits, question.placement)
    moved = {move.pod for move in answer.moves}
    spent = [
        f"{ration} leaves no more evictions"
        for ration in left
        if ration.allowed <= len(moved & ration.pods) and ration.name not in answer.message
    ]
    return replace(answer, message="; ".join([answer.message, *barring, *spent])) if barring or spent else answer


MAKE_ROOM = "MakeRoom"


@dataclass
class Course:
    """What has been planned so far.

    ``start``: the placement after it, without what is closed; ``closed``: nodes that must receive nothing; ``guards``:
    objectives that later ones must not worsen. ``answers``: one for each objective, with seconds; its moves count waves
    from 1. ``seated``: pending pods that only wait for others to end, on the node the scheduler nominated them to.
    ``rations``: of which pods only some may move in the plan; ``barring``: what budgets keep where it is, in words.
    """

    start: Placement
    eligibility: Eligibility
    waves: int = 0
    closed: set[int] = field(default_factory=set)
    guards: list[Goal] = field(default_factory=list)
    moves: list[tuple[str, PlannedMove]] = field(default_factory=list)
    placements: list[PlannedPlace] = field(default_factory=list)
    answers: list[tuple[Goal, Answer, float]] = field(default_factory=list)
    seated: set[int] = field(default_factory=set)
    rations: Rations | None = None
    barring: Sequence[str] = ()

    def copy(self) -> Course:
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


def plan_in_order(goals: Sequence[Goal], question: Question) -> Course:
    """Answer for every goal, the most important first; the deadline is shared, and what one leaves the next may use.

    ``question`` is about the snapshot as it stands. Neighbouring goals with a weight are planned for together.
    """
    rations = rations_of(question.eligibility, question.prediction.columns)
    barring = budgets_that_bar(question.eligibility)
    course = Course(question.placement.copy(), rations.eligibility, rations=rations, barring=barring)
    deadline = Deadline(question.clock, question.deadline_seconds)
    if goals and goals[0].name != MAKE_ROOM:
        _let_in(course, places_already_free(question, deadline.part(0.2)))
    left = len(goals)
    for group in _grouped(goals):
        seconds = deadline.remaining() * len(group) / left
        left -= len(group)
        if group[0].name != MAKE_ROOM:  # which sees to them by itself
            course.seated.update(seat_nominated(question.prediction, course.start))
        if len(group) == 1:
            _plan_one(course, group[0], question, seconds, course.guards)
        else:
            _plan_weighted(course, group, question, seconds)
    order = {goal.name: number for number, goal in enumerate(goals)}
    course.answers.sort(key=lambda answered: order[answered[0].name])
    return course


def _plan_one(course: Course, goal: Goal, question: Question, seconds: float, guards: Sequence[Goal]) -> None:
    question.progress(f"planning: {goal.name}")
    started = question.clock.monotonic()
    asked = replace(_asked(course, question, seconds), move_cost=goal.move_cost)
    answer = plan_rationed(goal, asked, guards, () if course.rations is None else course.rations.dealt)
    answer = told_of_budgets(goal, answer, asked, course.rations, course.barring)
    _take(course, goal, answer, question.clock.monotonic() - started)


def _plan_weighted(course: Course, group: Sequence[Goal], question: Question, seconds: float) -> None:
    """Try orders of the group, each with its share of the time, and keep what has the highest weighted sum."""
    deadline = Deadline(question.clock, seconds)
    started = question.clock.monotonic()
    asked = _asked(course, question, seconds)
    problem = Problem(asked.prediction, asked.placement, asked.eligibility)
    orders = list(orders_of(group))
    idle = {goal.name: goal.plan(nobody_moves(asked)) for goal in group}
    alone: dict[str, Answer] = {}
    best = weighed(group, problem, {})
    for number, order in enumerate(orders):
        trial = course.copy()
        for place, goal in enumerate(order):
            share = deadline.remaining() / (len(orders) - number) / (len(order) - place)
            _plan_one(trial, goal, question, share, course.guards)
        answers = {goal.name: answer for goal, answer, _ in trial.answers[len(course.answers) :]}
        alone.setdefault(order[0].name, answers[order[0].name])
        found = weighed(group, problem, answers)
        best = found if found.is_better_than(best) else best
    spent = (question.clock.monotonic() - started) / len(group)
    for goal, answer in as_told(group, best, alone, idle):
        _take(course, goal, answer, spent)


def _grouped(goals: Sequence[Goal]) -> Iterable[list[Goal]]:
    """Goals one by one, neighbours with a weight together; pending pods are not weighed, but helped in their turn."""
    group: list[Goal] = []
    for goal in goals:
        if group and (goal.weight is None or group[-1].weight is None or MAKE_ROOM in (goal.name, group[-1].name)):
            yield group
            group = []
        group.append(goal)
    if group:
        yield group


def _asked(course: Course, question: Question, seconds: float) -> Question:
    """The question of the next objective."""
    placement = course.start.copy()
    close(placement, course.closed)
    placed = {place.pod for place in course.placements} | course.seated
    moved = {move.pod for _, move in course.moves}
    eligibility = with_changes(
        course.eligibility,
        movable=tuple(pod for pod in course.eligibility.movable if pod not in moved),
        helpable=tuple(pod for pod in course.eligibility.helpable if pod not in placed),
    )
    return replace(question, placement=placement, eligibility=eligibility, deadline_seconds=seconds)


def _take(course: Course, goal: Goal, answer: Answer, seconds: float) -> None:
    """Let the moves of an answer happen."""
    last = max((move.wave for move in answer.moves), default=0)
    waves: list[list[PlannedMove]] = [[] for _ in range(last)]
    for move in answer.moves:
        waves[move.wave - 1].append(move)
    for wave in waves:
        for move in wave:
            course.start.move(move.pod, move.to_node)
        course.start.settle()
    course.moves += [(goal.name, replace(move, wave=move.wave + course.waves)) for move in answer.moves]
    earlier = len(course.placements)
    _let_in(course, [replace(place, wave=place.wave + course.waves) for place in answer.placements])
    course.waves += last
    course.closed.update(answer.closes)
    course.guards.append(goal)
    if answer.helped is not None and answer.wanted is not None:  # those let in before were wanted too
        answer = replace(answer, helped=answer.helped + earlier, wanted=answer.wanted + earlier)
    course.answers.append((goal, answer, seconds))


def _let_in(course: Course, places: Iterable[PlannedPlace]) -> None:
    for place in places:
        course.placements.append(place)
        course.start.assume(place.pod, place.node)
