"""What was foretold beside what was seen, case by case, and the sums of it by profile."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import NamedTuple

ALL = "all"


class Foretold(NamedTuple):
    """Our answer for one pod: names of all best nodes, how many nodes are feasible, and the words of a failure."""

    best: tuple[str, ...]
    feasible: int
    message: str = ""


class Seen(NamedTuple):
    """The scheduler's answer: the node it chose, or the words in which it refused."""

    node: str | None
    message: str = ""


class Judgement(NamedTuple):
    """One case. ``is_expected`` says whether everything agrees that can be compared."""

    profile: str
    foretold: Foretold
    seen: Seen

    @property
    def is_placed(self) -> bool:
        """Whether the scheduler found a node."""
        return self.seen.node is not None

    @property
    def has_verdict(self) -> bool:
        """Schedulable or not: both say the same."""
        return self.is_placed == bool(self.foretold.best)

    @property
    def has_message(self) -> bool:
        """Both name the same reasons with the same numbers of nodes; what the scheduler adds on preemption aside."""
        return not self.is_placed and same_reasons(self.foretold.message, self.seen.message)

    @property
    def is_in_best(self) -> bool:
        """The node chosen is one of those that tie for the best."""
        return self.is_placed and self.seen.node in self.foretold.best

    @property
    def is_expected(self) -> bool:
        """Nothing to explain."""
        return self.is_in_best or (self.has_verdict and self.has_message)


def same_reasons(foretold: str, seen: str) -> bool:
    """Whether the scheduler's message begins with all of ours, to the end of its list of reasons."""
    return foretold.endswith(".") and seen.startswith(foretold) and seen[len(foretold) :][:1] in ("", " ")


@dataclass
class Row:
    """Sums over cases. ``single``: placed cases with one best node among several feasible ones.

    ``choices``: placed cases with several feasible nodes; ``luck``: how many of them a blind choice among the
    feasible nodes would be expected to hit.
    """

    cases: int = 0
    verdicts: int = 0
    unschedulable: int = 0
    messages: int = 0
    placed: int = 0
    in_best: int = 0
    choices: int = 0
    single: int = 0
    luck: float = 0.0

    def add(self, case: Judgement) -> None:
        """Count one case."""
        best, feasible = len(case.foretold.best), case.foretold.feasible
        self.cases += 1
        self.verdicts += case.has_verdict
        self.unschedulable += not case.is_placed
        self.messages += case.has_message
        self.placed += case.is_placed
        self.in_best += case.is_in_best
        if case.is_placed and feasible > 1:
            self.choices += 1
            self.single += best == 1
            self.luck += best / feasible

    def as_data(self) -> dict[str, float]:
        """All sums by name, for a result file."""
        return {item.name: round(getattr(self, item.name), 3) for item in fields(self)}


def tally(cases: Iterable[Judgement]) -> dict[str, Row]:
    """Sums by profile, sorted by name, and over all at the end."""
    rows: dict[str, Row] = {}
    total = Row()
    for case in cases:
        rows.setdefault(case.profile, Row()).add(case)
        total.add(case)
    return {**dict(sorted(rows.items())), ALL: total}
