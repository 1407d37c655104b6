"""Runs in which pods of Deployments move by surge, and one read of twenty-five takes seconds; nothing else fails.

``python -m tests.soak.slow_surges FIRST LAST`` runs these seeds, and tells the first violation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from random import Random
from typing import Final

from tests.soak.invariants.catalogue import observers
from tests.soak.line.faults import Fault, Faults
from tests.soak.report import failure
from tests.soak.run import Outcome, Run
from tests.soak.seeded_bugs.seams import SeededBug
from tests.soak.seeded_bugs.stage import settings_of
from tests.soak.seeded_bugs.surges import RULE, SURGING, TOP

READS: Final = ("get pod", "look", "list pods", "ledger read")
SHARE: Final = 0.04
SECONDS: Final = (4.0, 12.0, 25.0)
NO_BUG: Final = SeededBug(
    "none", "nothing is wrong", (), nullcontext, policy=RULE, top=TOP,
    settings={**SURGING, "fault_rate": 0.0},
)  # fmt: skip
"""The stage on which bugs of surges are looked for, without any."""


class SlowReads(Faults):
    """Some reads are answered late."""

    def __init__(self, seed: int, now: Callable[[], float]) -> None:
        super().__init__(Random(seed), now, 0.0, 0.0)

    def draw(self, site: str, where: str = "") -> Fault | None:
        """Late, or on time."""
        if self.is_on and site in READS and self._random.random() < SHARE:
            return Fault("slow", self._random.choice(SECONDS))
        return None


def run_slowly(seed: int) -> Outcome:
    """One run."""
    return Run(settings_of(NO_BUG, seed), observers(), faults=lambda now: SlowReads(seed, now)).go()


def main(first: str, last: str) -> int:
    """1 at the first violation."""
    hours, last_steps = 0.0, 0
    for seed in range(int(first), int(last) + 1):
        outcome = run_slowly(seed)
        if outcome.violations:
            print(failure(outcome))
            return 1
        hours, last_steps = hours + outcome.hours, last_steps + outcome.guards["I34"]
    print(f"{hours:.0f} cluster-hours without a violation, I34 checked {last_steps} times")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
