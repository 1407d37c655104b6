"""The search for the best plan: cheap and certain steps first, the solver only for what they leave open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from rescheduler.extension_points import Progress
from rescheduler.model.columns.arrays import IntArray
from rescheduler.planning.objectives.make_room.any_depth_bound import least_by_net_gain, least_evictions
from rescheduler.planning.objectives.make_room.certificate import Certificate, certify
from rescheduler.planning.objectives.make_room.hole_ranking import candidate_nodes
from rescheduler.planning.objectives.make_room.one_by_one import plan_one_by_one
from rescheduler.planning.objectives.make_room.one_hop import OneHop
from rescheduler.planning.objectives.make_room.patterns.by_patterns import (
    PlanByPatterns,
    least_by_patterns,
    may_plan_by_patterns,
)
from rescheduler.planning.objectives.make_room.waiting import WaitingForReplacements
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.room_model.general import General
from rescheduler.planning.room_model.instance import Instance
from rescheduler.planning.room_model.instance_builder import build_instance
from rescheduler.planning.room_model.ranking import HelpVector, Proven, help_vector, helped_by, rank
from rescheduler.planning.waves.free_places import place_without_moves
from rescheduler.planning.waves.replay import violated_limits

# Whether a plan is worth most where each of the least important pods has a worth, by bounds on evictions alone.

MOST_COMPARED = 60


def is_worth_most(problem: Problem, best: WaveSchedule, least: int, least_for: Callable[[HelpVector], int]) -> bool:
    """Whether no number of helped pods of the last importance can be worth more than the schedule's.

    ``least``: the evictions that its help takes at least, ``least_for``: those of any help. Needs all more important
    pods helped, and few enough of the others to ask of each number.
    """
    evictions_per_pod = problem.pending_groups.evictions_per_pod
    helped, everybody = helped_by(problem, best), help_vector(problem, problem.pending)
    if (
        evictions_per_pod is None
        or helped[:-1] != everybody[:-1]
        or everybody[-1] > MOST_COMPARED
        or best.evictions > least
    ):
        return False
    worth = evictions_per_pod * helped[-1] - best.evictions
    others = (
        number for number in range(everybody[-1] + 1) if number != helped[-1] and evictions_per_pod * number >= worth
    )
    for number in others:
        reach = evictions_per_pod * number - least_for((*helped[:-1], number))
        if reach > worth or (reach == worth and number > helped[-1]):
            return False
    return True


LARGEST_MODEL = 30_000  # (kind of pod, node) pairs that a model may have
MOST_PLACED_TOGETHER = 60  # so many pending pods are placed in one go, those that fit already among the others
FIRST_ROUNDS = 3
AGAIN = 1  # times that the search by covers is begun again at other prices
ORDINARY_SHARE = 0.4  # of the time that is left, to do without pods that leave before they arrive
_LEAST_SECONDS, _SECONDS_PER_POD = 1.0, 1e-4  # a deadline below that may be too short for bounds and covers
_SHARE_OF_SIMPLE = 0.45
_SHARE_OF_PATTERNS = 0.7
SECONDS_PER_PAIR = 1e-4  # what building and presolving a model takes, a little overestimated


@dataclass
class SearchOutcome:
    """The best schedule so far and what is proven: the answer's substance."""

    best: WaveSchedule
    proven: Proven
    certificate: Certificate | None = None

    def is_done(self, problem: Problem) -> bool:
        """Whether the best schedule is proven best."""
        return self.proven.is_best(helped_by(problem, self.best), self.best.evictions)


class RoomSearch:
    """One run over a problem; each step only adds to the outcome."""

    def __init__(self, problem: Problem, deadline: Deadline, seed: int, progress: Progress) -> None:
        """Begin with the plan that moves nobody."""
        self.problem = problem
        self.deadline = deadline
        self.seed = seed
        self.progress = progress
        self.everybody: HelpVector = help_vector(problem, problem.pending)
        self.outcome = SearchOutcome(place_without_moves(problem), Proven())
        is_joint = len(problem.pending) <= MOST_PLACED_TOGETHER
        self.is_settled = helped_by(problem, self.outcome.best) == self.everybody
        self.waiting = WaitingForReplacements(problem, WaveSchedule() if is_joint else self.outcome.best)
        self._simple: list[WaveSchedule | None] = []
        self._least_for = partial(least_evictions, problem, self.waiting, deadline, seed)

    def begin_with(self, schedule: WaveSchedule) -> None:
        """A plan to start from."""
        self._offer(schedule)
        self.is_settled = helped_by(self.problem, self.outcome.best) == self.everybody and not schedule.evictions

    def run(self) -> SearchOutcome:
        """Search until the plan is proven best or time is over."""
        if self.is_settled:
            self.outcome.proven = Proven(self.everybody, 0, self.everybody)
            return self.outcome
        movable = len(self.problem.movable)
        if self.deadline.seconds < _LEAST_SECONDS + _SECONDS_PER_POD * movable:
            self._simply()
            if self.deadline.is_over():
                self._offer_simple()
                return self.outcome
        self.progress("looking for plans without chains")
        self._without_chains(self._least_for(self.everybody))
        self._apply_certificate()
        if not self._is_done() and not self.deadline.is_over():
            self.progress("looking for chains of moves")
            self._any_depth()
        return self.outcome

    def _simply(self) -> None:
        """Where time may be short, what is helped one by one, before anything is proven; no plan may fall behind it."""
        self.progress("helping one pod after the other")
        problem = self.problem.without_exchanges()
        for largest_first in (False, True):
            part = self.deadline.part(_SHARE_OF_SIMPLE)
            self._simple.append(plan_one_by_one(problem, self.waiting, part, largest_first=largest_first))

    def _offer_simple(self) -> None:
        for schedule in self._simple:
            self._offer(schedule)

    def _helped(self) -> HelpVector:
        return helped_by(self.problem, self.outcome.best)

    def _is_done(self) -> bool:
        return self.outcome.is_done(self.problem)

    def _offer(self, schedule: WaveSchedule | None) -> None:
        """Keep a plan that is better than the best so far, and within the limits."""
        if schedule is None or violated_limits(self.problem, schedule):
            return
        if rank(self.problem, schedule) > rank(self.problem, self.outcome.best):
            self.outcome.best = schedule

    def _without_chains(self, floor: int) -> None:
        """The search by covers, measured against the floor; where it cannot help all, a greedy plan beside it."""
        problem, waiting = self.problem.without_exchanges(), self.waiting
        has_prize = problem.pending_groups.evictions_per_pod is not None
        goal = Proven(self.everybody, -1 if has_prize else floor, self.everybody)  # less help may be worth more
        search = OneHop(problem, waiting, self.outcome.best, self.seed)
        search.run(goal, self.deadline.part(0.25), rounds=FIRST_ROUNDS)
        for largest_first in (True, False):
            if helped_by(problem, search.best) != self.everybody:
                part = self.deadline.part(0.5)
                search.offer(plan_one_by_one(problem, waiting, part, largest_first=largest_first))
        if helped_by(problem, search.best) != self.everybody:
            self._certify()
        if not self._with_patterns(search, floor):
            self._cover_again(search, goal)
        self._offer(search.best)
        self._offer_simple()
        helped = self._helped()
        most = helped if helped == self.everybody and not has_prize else None
        least = floor if helped == self.everybody else self._least_for(helped)
        if self.outcome.best.evictions > least:
            least = max(least, least_by_net_gain(problem, helped, self.deadline.part(0.2), self.seed))
        if self.outcome.best.evictions > least and not has_prize:
            enough = self.outcome.best.evictions - 1
            least = max(least, least_by_patterns(problem, helped, enough, self.deadline.part(0.9)))
        if has_prize and is_worth_most(problem, self.outcome.best, least, self._least_for):
            most = helped
        self.outcome.proven = Proven(most, least, helped)

    def _cover_again(self, search: OneHop, goal: Proven) -> None:
        """The search by covers goes on, and begins again at other prices."""
        ceiling = self.outcome.certificate.helpable if self.outcome.certificate else len(self.problem.pending)
        search.run(goal, self.deadline.part(0.5), most_helped=ceiling)
        for number in range(1, AGAIN + 1):
            if goal.is_best(helped_by(search.problem, search.best), search.best.evictions):
                break
            search.begin_again(number)
            search.run(goal, self.deadline.part(0.3), most_helped=ceiling)

    def _with_patterns(self, search: OneHop, floor: int) -> bool:
        """Also make room for evicted pods that find none, where covers leave a gap; whether that gave a better plan."""
        problem, best = search.problem, search.best
        is_all = helped_by(problem, best) == self.everybody
        if self.outcome.certificate is not None or not may_plan_by_patterns(problem):
            return False
        if is_all and best.evictions <= floor:
            return False
        patterns = PlanByPatterns(problem, self.seed)
        most = best.evictions - 1 if is_all else problem.remaining.in_all
        patterns.run(most, floor, self.deadline.part(_SHARE_OF_PATTERNS))
        search.offer(patterns.best)
        return search.best is not best

    def _certify(self) -> None:
        """A ceiling on help that no rearrangement exceeds, kept if it is below what is wanted."""
        self.progress("proving what no rearrangement can do")
        certificate = certify(self.problem, self.deadline)
        if certificate is not None and certificate.helpable < len(self.problem.pending):
            self.outcome.certificate = certificate

    def _apply_certificate(self) -> None:
        """With one priority the ceiling proves the best plan's help where they meet."""
        certificate, helped = self.outcome.certificate, self._helped()
        if self.problem.pending_groups.evictions_per_pod is not None:
            return
        if certificate is not None and len(helped) == 1 and certificate.helpable <= helped[0]:
            self.outcome.proven = Proven(helped, self.outcome.proven.bound_for(helped), helped)

    def _any_depth(self) -> None:
        problem = self.problem
        nodes = self._nodes_for_the_solver()
        if nodes is None:
            return
        instance = build_instance(problem, nodes)
        if self.deadline.remaining() < instance.size * SECONDS_PER_PAIR:
            return
        floor = self.outcome.proven.bound_for(self.everybody)
        search = General(problem, instance, self.deadline, self.seed, self.outcome.best, floor)
        search.run()
        before = self.outcome.proven
        self._offer(search.best)
        if self.outcome.best.evict_first and not self.deadline.is_over():
            self.progress("looking for a plan in which every pod arrives before it departs")
            self._offer(self._without_exchanges(instance))
        helped = self._helped()
        most = search.proven.most_help or before.most_help
        if helped == self.everybody and self.problem.pending_groups.evictions_per_pod is None:
            most = helped
        least = max(before.bound_for(helped), search.proven.bound_for(helped))
        self.outcome.proven = Proven(most, least, helped)

    def _without_exchanges(self, instance: Instance) -> WaveSchedule | None:
        """A plan with as few evictions as the best one, in which no pod leaves before it arrives."""
        most = self.outcome.best.evictions
        remaining = replace(self.problem.remaining, in_all=min(most, self.problem.remaining.in_all))
        problem = self.problem.without_exchanges()
        problem.remaining = remaining
        nothing = place_without_moves(problem)
        search = General(problem, instance, self.deadline.part(ORDINARY_SHARE), self.seed, nothing, most)
        search.run()
        return search.best

    def _nodes_for_the_solver(self) -> IntArray | None:
        """All nodes where that is not too many, else candidates; None where even those are too many for the time."""
        problem = self.problem
        affordable = min(LARGEST_MODEL, self.deadline.seconds / (4 * SECONDS_PER_PAIR))
        if self._size_of_whole() <= affordable:
            return np.arange(problem.node_count)
        pods_per_node = max(1.0, len(problem.movable) / max(1, problem.node_count))
        number = int((affordable / pods_per_node) ** 0.5)
        nodes = candidate_nodes(problem, self.waiting, self.outcome.best, number)
        return nodes if len(nodes) <= 2 * number else None

    def _size_of_whole(self) -> int:
        """About how many (kind of pod, node) pairs a model of the whole cluster would have."""
        problem = self.problem
        _, first = np.unique(problem.columns.shape_of[problem.movable], return_index=True)
        masks, kinds = np.unique(problem.mask_numbers[first], return_counts=True)
        open_to = [int(problem.masks[mask].sum()) for mask in masks.tolist()]
        waiting = [int(problem.static_mask(members[0])[1].sum()) for members in self.waiting.classes]
        return int(np.dot(open_to, kinds)) + sum(waiting)
