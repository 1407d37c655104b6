"""The whole question as one model, for clusters small enough, solved and put in order until that is proven best."""

from __future__ import annotations

from rescheduler.planning.attempts import Attempt
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.draft import Draft, Schedule
from rescheduler.planning.empty_nodes.emptying_attempts import EmptyingAttempts, Known
from rescheduler.planning.empty_nodes.situation import Situation
from rescheduler.planning.empty_nodes.solution import Solution, keeps_limits, solution_of
from rescheduler.planning.empty_nodes.whole_prices import whole_prices
from rescheduler.planning.general import General
from rescheduler.planning.instance import Instance
from rescheduler.planning.sequencing import Sequencing, possible_part, sequence


class ExactSearch(General):
    """Solves, puts in order and cuts off as the search for room does; ``solution`` is the best so far.

    ``most``: no plan reaches more, in whole prices (None: not known); ``fewest``: none that reaches it takes fewer
    evictions.
    """

    def __init__(
        self,
        situation: Situation,
        instance: Instance,
        deadline: Deadline,
        seed: int,
        solution: Solution,
        known: Known | None = None,
    ) -> None:
        """``instance``: of the whole cluster; ``solution``: what to begin with; ``known``: what is proven already."""
        super().__init__(situation.problem, instance, deadline, seed, solution.schedule)
        self.situation = situation
        self.solution = solution
        self.prices = whole_prices(situation.price)
        self.most: int | None = None if known is None else known.most
        self.fewest = 0 if known is None else known.fewest
        self._emptying = EmptyingAttempts(situation, instance, deadline, seed, self.prices, self._cuts, known)
        self._attempts = self._emptying

    @property
    def bound(self) -> float | None:
        """No plan reaches more; in real prices, None if that is not known."""
        return None if self.most is None else self.prices.real(self.most)

    def _is_general(self) -> bool:
        """Whether what is proven of the present model holds for every plan."""
        return self._is_complete and (self._layers == 0 or self._layers >= self._most_moves())

    def _learn(self, attempt: Attempt) -> None:
        bound = self._emptying.value_bound
        if bound is not None and self._is_general() and (self.most is None or bound < self.most):
            self.most, self.fewest = bound, 0
        if not self._is_complete or not attempt.is_help_proven:
            return
        if attempt.help[0] == self.most:
            least = attempt.evictions_bound
            if not self._is_general():  # a plan of e moves fits in e layers
                least = min(least, self._layers + 1)
            self.fewest = max(self.fewest, least)

    def _salvage(self, draft: Draft) -> None:
        part = possible_part(self.problem, draft)
        schedule = sequence(self.problem, part, self.deadline).schedule if part.moves else None
        if schedule is not None:
            self._offer(schedule)

    def _offer(self, schedule: Schedule) -> bool:
        if not keeps_limits(self.situation, schedule):
            return False
        found = solution_of(self.situation, schedule)
        is_better = found.is_better_than(self.solution)
        if is_better:
            self.solution, self.best = found, schedule
        return is_better

    def _react(self, attempt: Attempt, found: Sequencing) -> bool:
        """As for room; a plan that was cut off though its pods could be named otherwise ends all proofs."""
        before = len(self._cuts)
        goes_on = super()._react(attempt, found)
        if len(self._cuts) > before and not attempt.decoded.is_unique:
            self._is_complete = False
        return goes_on

    def _is_finished(self) -> bool:
        value = round(self.solution.value * self.prices.scale)
        return self.most is not None and value >= self.most and self.solution.evictions <= self.fewest
