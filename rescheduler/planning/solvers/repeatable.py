"""CP-SAT set up so that the same question gives the same answer, and Ctrl-C stays ours."""

from __future__ import annotations

from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.cp_sat import cp_model


def repeatable_solver(seed: int, deadline: Deadline, deterministic_seconds: float) -> cp_model.CpSolver:
    """One worker and a limit in deterministic time make answers repeatable; the deadline is only the outer stop."""
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    # The solver would put the default handler back after it, and Ctrl-C would then kill us with holds standing.
    parameters.catch_sigint_signal = False
    parameters.num_workers = 1
    parameters.random_seed = seed
    parameters.max_time_in_seconds = max(0.01, deadline.remaining())
    parameters.max_deterministic_time = deterministic_seconds
    return solver
