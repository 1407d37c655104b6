"""Whether there is time to load a solver: the first that is asked in a process costs more than most plans take."""

from __future__ import annotations

import sys

from rescheduler.planning.problem.deadline import Deadline

LOADING_SECONDS = 0.5
"""What importing SciPy's optimizers takes at most, about; cheaper steps do without them where less is left."""


def may_use_programmes(deadline: Deadline) -> bool:
    """Whether linear and integer programmes can be asked within a deadline: the solver is there, or there soon.

    To load it is no counted work: what a process has loaded before must not decide there.
    """
    left = deadline.remaining()
    takes_no_time = deadline.counts_work or "scipy.optimize" in sys.modules
    return left > LOADING_SECONDS or (left > 0.0 and takes_no_time)
