"""HiGHS as SciPy asks it: how it is stopped is said here alone, by the machine's time or by counted work.

HiGHS has no deterministic time. Where work is counted, branches and steps of the simplex are limited to what is left at
the pace of a model, which is about what they take; a model whose root alone takes more than what is left is not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import scipy  # its parts are imported when they are first named

from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.deadline import Deadline

_LEAST_BRANCH_SECONDS: Final = 0.0015
_STEP_SECONDS, _STEP_SECONDS_AN_ENTRY = 1e-5, 1e-8


class Pace(NamedTuple):
    """Seconds that models of one kind take, for each thousand entries squared: the root, and one branch more."""

    root: float
    branch: float


class MixedInteger(NamedTuple):
    """Minimise ``cost`` (float64[V]) of ``constraints``; ``integrality``: float64[V], 1 where a value is whole."""

    cost: FloatArray
    integrality: FloatArray
    bounds: scipy.optimize.Bounds
    constraints: Sequence[scipy.optimize.LinearConstraint]
    pace: Pace

    def solved(
        self, deadline: Deadline, most_branches: int, *, least_seconds: float = 0.05, relative_gap: float | None = None
    ) -> scipy.optimize.OptimizeResult | None:
        """The best that was found and proven in time; None where nothing was asked."""
        options: dict[str, float] = {"node_limit": most_branches}
        if relative_gap is not None:
            options["mip_rel_gap"] = relative_gap
        wall = deadline.wall_seconds()
        if wall is not None:
            return self._asked({**options, "time_limit": max(least_seconds, wall)})
        root, branch = self._seconds()
        left = deadline.remaining() - root
        if left < 0:
            return None
        found = self._asked({**options, "node_limit": min(most_branches, 1 + int(left / branch))})
        deadline.work(root + branch * (found.mip_node_count or 0))
        return found

    def _asked(self, options: dict[str, float]) -> scipy.optimize.OptimizeResult:
        return scipy.optimize.milp(
            self.cost,
            integrality=self.integrality,
            bounds=self.bounds,
            constraints=self.constraints,
            options=options,
        )

    def _seconds(self) -> tuple[float, float]:
        """What the root takes, and what each branch."""
        entries = sum(scipy.sparse.csr_array(row.A).nnz for row in self.constraints) / 1000
        return self.pace.root * entries**2, max(_LEAST_BRANCH_SECONDS, self.pace.branch * entries**2)


class Linear(NamedTuple):
    """Minimise ``cost`` (float64[V]) within ``bounds`` (float64[V, 2]); rows are at most, or exactly, so much."""

    cost: FloatArray
    at_most: tuple[scipy.sparse.csr_array, FloatArray]
    exactly: tuple[scipy.sparse.csr_array, FloatArray] | None
    bounds: FloatArray

    def solved(self, deadline: Deadline) -> scipy.optimize.OptimizeResult:
        """The best; its status is not 0 where it was not found in time."""
        wall = deadline.wall_seconds()
        if wall is not None:
            return self._asked({"time_limit": max(0.01, wall)})
        entries = sum(rows.nnz for rows, _ in (self.at_most, *([self.exactly] if self.exactly else [])))
        step = _STEP_SECONDS + _STEP_SECONDS_AN_ENTRY * entries
        found = self._asked({"maxiter": 1 + int(deadline.remaining() / step)})
        deadline.work(step * found.nit)
        return found

    def _asked(self, options: dict[str, float]) -> scipy.optimize.OptimizeResult:
        rows, most = self.at_most
        same, amounts = self.exactly or (None, None)
        return scipy.optimize.linprog(
            self.cost,
            A_ub=rows,
            b_ub=most,
            A_eq=same,
            b_eq=amounts,
            bounds=self.bounds,
            method="highs",
            options=options,
        )
