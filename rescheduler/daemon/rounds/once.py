"""``--once``: one round, which must come about within a while, and whose failure is that of the process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rescheduler.adapters.telemetry.words import FAILED, STOPPED, outcome_of
from rescheduler.extension_points import Clock, ClusterError, ReschedulerError
from rescheduler.model.daemon.rounds import RoundReport
from rescheduler.policy.fields.values import format_duration

ONCE_SECONDS: Final = 600.0
"""How long the round may take to begin: the first reading of a very large cluster is a tenth of it."""


class RoundFailedError(ReschedulerError):
    """The one round that was asked for failed, or stopped early."""


class Once:
    """Nothing to it where no single round was asked for."""

    def __init__(self, clock: Clock, *, is_once: bool) -> None:
        self._clock = clock
        self._is_once = is_once
        self._began = clock.monotonic()

    def check(self, out_of_sync: Callable[[], Mapping[str, str]], *, leads: bool = False) -> None:
        """Raise ClusterError where the round should have begun long ago; ``out_of_sync``: kinds not read, and why."""
        if not self._is_once or self._clock.monotonic() - self._began <= ONCE_SECONDS:
            return
        missing = [f"{kind}: {reason}" for kind, reason in sorted(out_of_sync().items())]
        other = "see the faults in the log" if leads else "another process leads; ask it, by annotation or REST API"
        raise ClusterError(f"no round could begin within {format_duration(ONCE_SECONDS)}: {(*missing, other)[0]}")

    def judge(self, report: RoundReport | None) -> None:
        """Raise RoundFailedError for a round that failed or stopped early; what had to wait has not failed."""
        if self._is_once and report is not None and outcome_of(report) in (FAILED, STOPPED):
            raise RoundFailedError(f"the round {outcome_of(report)}: {report.reason}")
