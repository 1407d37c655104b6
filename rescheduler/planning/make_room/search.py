"""The search for the best plan: cheap and certain steps first, the solver only for what they leave open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rescheduler.extension_points import Progress
from rescheduler.planning.any_depth_bound import least_evictions
from rescheduler.planning.candidates import candidate_nodes
from rescheduler.planning.certificate import Certificate, certify
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.draft import Schedule
from rescheduler.planning.general import General
from rescheduler.planning.instance_builder import build_instance
from rescheduler.planning.one_hop import OneHop
from rescheduler.planning.problem import Problem
from rescheduler.planning.proof_state import HelpVector, Proven
from rescheduler.planning.ranking import help_vector, helped_by, rank
from rescheduler.planning.waiting import Waiting
from rescheduler.planning.zero_moves import place_without_moves

LARGEST_WHOLE = 30_000  # (kind of pod, node) pairs: up to here a model of the whole cluster is worth building
CANDIDATES = 80


@dataclass
class Outcome:
    """The best schedule so far and what is proven: the answer's substance."""

    best: Schedule
    proven: Proven = Proven()
    certificate: Certificate | None = None


class Search:
    """One run over a problem; each step only adds to the outcome."""

    def __init__(self, problem: Problem, deadline: Deadline, seed: int, progress: Progress) -> None:
        """Begin with the plan that moves nobody."""
        self.problem = problem
        self.deadline = deadline
        self.seed = seed
        self.progress = progress
        self.everybody: HelpVector = help_vector(problem, problem.pending)
        self.outcome = Outcome(place_without_moves(problem))
        self.waiting = Waiting(problem, self.outcome.best)

    def run(self) -> Outcome:
        """Search until the plan is proven best or time is over."""
        if not self.waiting.pods:
            self.outcome.proven = Proven(self.everybody, 0, self.everybody)
            return self.outcome
        self.progress("looking for plans without chains")
        self._one_hop()
        self._bound()
        if not self._is_done():
            self.progress("proving what no rearrangement can do")
            self._certify()
        if not self._is_done() and not self.deadline.is_over():
            self.progress("looking for chains of moves")
            self._any_depth()
        return self.outcome

    def _helped(self) -> HelpVector:
        return helped_by(self.problem, self.outcome.best)

    def _is_done(self) -> bool:
        return self.outcome.proven.is_best(self._helped(), self.outcome.best.evictions)

    def _offer(self, schedule: Schedule | None) -> None:
        if schedule is not None and rank(self.problem, schedule) > rank(self.problem, self.outcome.best):
            self.outcome.best = schedule

    def _one_hop(self) -> None:
        search = OneHop(self.problem, self.waiting, self.deadline.part(0.3), self.seed)
        search.run()
        self._offer(search.best)

    def _bound(self) -> None:
        """What the helped pods cost at least, however deep the chains."""
        helped = self._helped()
        least = least_evictions(self.problem, self.waiting, helped, self.deadline.part(0.3), self.seed)
        most = helped if helped == self.everybody else self.outcome.proven.most_help
        self.outcome.proven = Proven(most, least, helped)

    def _certify(self) -> None:
        """A ceiling on help; with one priority it proves the best plan's help where they meet."""
        certificate = certify(self.problem)
        if certificate is None or certificate.helpable >= len(self.problem.pending):
            return
        self.outcome.certificate = certificate
        helped = self._helped()
        if len(helped) == 1 and certificate.helpable <= helped[0]:
            proven = self.outcome.proven
            self.outcome.proven = Proven(helped, proven.bound_for(helped), helped)

    def _any_depth(self) -> None:
        problem = self.problem
        nodes = np.arange(problem.node_count)
        if self._size_of_whole() > LARGEST_WHOLE:
            nodes = candidate_nodes(problem, self.waiting, self.outcome.best, CANDIDATES)
        instance = build_instance(problem, nodes)
        search = General(problem, instance, self.deadline, self.seed, self.outcome.best)
        search.run()
        before = self.outcome.proven
        self._offer(search.best)
        helped = self._helped()
        most = search.proven.most_help or before.most_help
        if helped == self.everybody:
            most = helped
        least = max(before.bound_for(helped), search.proven.bound_for(helped))
        self.outcome.proven = Proven(most, least, helped)

    def _size_of_whole(self) -> int:
        """About how many (kind of pod, node) pairs a model of the whole cluster would have."""
        problem = self.problem
        shapes = np.unique(problem.columns.shape_of[problem.movable])
        return problem.node_count * (len(shapes) + len(self.waiting.classes))
