"""An order that ends a plan at once: not even what it has begun is waited for."""

from __future__ import annotations

from collections.abc import Callable

from rescheduler.execution.stopping import PlanStoppedError


class Ending:
    """``ask``: why the plan is to end; None: it is not."""

    def __init__(self, ask: Callable[[], str | None]) -> None:
        self._ask = ask
        self._has_come = False

    def check(self) -> None:
        """Raise PlanStoppedError if the plan is to end, once: what comes after that is its end."""
        reason = None if self._has_come else self._ask()
        if reason is not None:
            self._has_come = True
            raise PlanStoppedError(f"stopped: {reason}; nothing more is evicted")

    def came(self) -> bool:
        """Whether the plan was ended so; from now on nothing more is asked."""
        came = self._has_come or self._ask() is not None
        self._has_come = True
        return came
