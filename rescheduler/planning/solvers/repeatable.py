"""CP-SAT set up so that the same question gives the same answer, and Ctrl-C stays ours."""

from __future__ import annotations

from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.cp_sat import cp_model

_LEAST_SECONDS = 0.01


class RepeatableSolver(cp_model.CpSolver):
    """One worker and a limit in deterministic time make answers repeatable; the deadline is only the outer stop.

    Where the deadline counts work nothing else stops it: the limit is what is left of it at most, and what the search
    has done counts.
    """

    def __init__(self, seed: int, deadline: Deadline, deterministic_seconds: float) -> None:
        """To be asked once, at once."""
        super().__init__()
        self._deadline = deadline
        parameters = self.parameters
        # The solver would put the default handler back after it, and Ctrl-C would then kill us with holds standing.
        parameters.catch_sigint_signal = False
        parameters.num_workers = 1
        parameters.random_seed = seed
        parameters.max_deterministic_time = deterministic_seconds
        left = deadline.wall_seconds()
        if left is None:
            most = max(_LEAST_SECONDS, deadline.remaining())
            parameters.max_deterministic_time = min(deterministic_seconds, most)
        else:
            parameters.max_time_in_seconds = max(_LEAST_SECONDS, left)

    def count_work(self) -> None:
        """After ``solve``: what the search has done is work, where the deadline counts that."""
        self._deadline.work(self.deterministic_time)
