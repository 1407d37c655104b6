"""What planning has proven so far about every allowed plan."""

from __future__ import annotations

from dataclasses import dataclass

HelpVector = tuple[int, ...]


@dataclass(frozen=True)
class Proven:
    """``most_help``: no plan helps more (by priority, highest first; None: not known).

    ``least_evictions``: no plan that helps just as much as ``for_help`` says takes fewer.
    """

    most_help: HelpVector | None = None
    least_evictions: int = 0
    for_help: HelpVector | None = None

    def bound_for(self, help_vector: HelpVector) -> int:
        """Fewest evictions with which this help could be had."""
        return self.least_evictions if help_vector == self.for_help else 0

    def is_best(self, help_vector: HelpVector, evictions: int) -> bool:
        """Whether a plan cannot be beaten in help or evictions."""
        return help_vector == self.most_help and evictions <= self.bound_for(help_vector)
