"""Every call site struck by every fault that applies to it, once each, in small scenes that come by all of them."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator
from random import Random

from tests.soak.invariants.catalogue import observers
from tests.soak.kill_points import settings_of
from tests.soak.line.faults import Fault, Faults
from tests.soak.run import Outcome, Run

SEED = 11
GUIDANCE = {"can gate": "Guide", "gate": "Guide", "ungate": "Guide", "nominate": "Guide",
            "can taint": "Taint", "taint": "Taint", "untaint": "Taint"}  # fmt: skip
"""What makes a process come by a site; Hold for all others."""
VISITS = (1, 2)
SECONDS = {"slow": 70.0, "timeout, effect later": 40.0, "pause": 45.0}
STATUSES = (400, 401, 403, 404, 409, 410, 413, 422)


class StrikeAt(Faults):
    """One fault at some visits of one site, and nothing else."""

    def __init__(self, now: Callable[[], float], pair: tuple[str, str], visits: tuple[int, ...] = VISITS) -> None:
        super().__init__(Random(f"{pair}"), now, 0.0, 0.0)
        self._pair = pair
        self._visits = visits
        self._count = 0

    def draw(self, site: str, where: str = "") -> Fault | None:
        """The fault, if this is the site and its visit has come."""
        if site != self._pair[0]:
            return None
        self._count += 1
        if self._count not in self._visits:
            return None
        self.struck[self._pair] += 1
        return Fault(self._pair[1], SECONDS.get(self._pair[1], 0.0), self._random.choice(STATUSES))


def run_pair(pair: tuple[str, str]) -> tuple[Outcome, float]:
    """One small run in which this fault strikes at this site, and the processor time it took."""
    began = time.process_time()
    settings = settings_of(GUIDANCE.get(pair[0], "Hold"), SEED)
    outcome = Run(settings, observers(), faults=lambda now: StrikeAt(now, pair)).go()
    return outcome, time.process_time() - began


def run_pairs(pairs: Iterable[tuple[str, str]], processes: int) -> Iterator[tuple[Outcome, float]]:
    """One run for each pair, in order."""
    if processes == 1:
        yield from map(run_pair, pairs)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap(run_pair, pairs, chunksize=8)
