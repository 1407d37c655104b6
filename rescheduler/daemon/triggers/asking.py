"""Asks all triggers whether it is time for a round; one that fails is told of, and asked again later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite
from typing import Final

from rescheduler.extension_points import Trigger
from rescheduler.model.daemon.notices import Fault
from rescheduler.model.daemon.rounds import Occasion, RoundReport, Sight
from rescheduler.model.printable import printable

REST_SECONDS: Final = 60.0
"""How long a trigger that has failed is left alone."""


class Asking:
    """The triggers of a policy, in its order.

    Triggers go by the clock of snapshots, which is that of the API server and of all times in its objects; who calls
    goes by his own. What is between the two is learned at each look.
    """

    def __init__(self, triggers: Sequence[Trigger], tell: Callable[[Fault], None] = lambda _: None) -> None:
        """``tell`` hears of triggers that fail."""
        self._triggers = tuple(triggers)
        self._tell = tell
        self._rests: dict[int, tuple[float, float]] = {}
        self._ahead = 0.0

    def look(self, sight: Sight, now: float | None = None) -> tuple[Occasion, ...]:
        """What the triggers ask for; never raises. ``now``: by the caller's clock (None: the two are one)."""
        self._ahead = 0.0 if now is None else sight.cluster.taken_at - now
        now = sight.cluster.taken_at
        found = []
        for number, trigger in self._awake(now):
            try:
                occasion = _checked(trigger.look(sight))
            except Exception as error:  # noqa: BLE001 - a trigger, ours or somebody's, never ends the daemon
                self._failed(number, now, error)
                continue
            if occasion is not None:
                found.append(occasion._replace(place=number))
        return tuple(found)

    def wake_at(self, now: float) -> float | None:
        """When the first of them wants to be asked though nothing changes; None: none does. By the caller's clock."""
        times = []
        now += self._ahead
        for number, trigger in self._awake(now):
            try:
                at = _finite(trigger.wake_at(now))
            except Exception as error:  # noqa: BLE001
                self._failed(number, now, error)
                continue
            if at is not None:
                times.append(at)
        first = min([*times, *(until for _, until in self._rests.values())], default=None)
        return None if first is None else first - self._ahead

    def answered(self, report: RoundReport) -> None:
        """Tell all of them what became of a round, whose times are by the caller's clock."""
        began, ended = report.started_at + self._ahead, report.ended_at + self._ahead
        report = replace(report, started_at=began, ended_at=ended)
        for number, trigger in enumerate(self._triggers):
            try:
                trigger.answered(report)
            except Exception as error:  # noqa: BLE001
                self._failed(number, report.ended_at, error)

    def _awake(self, now: float) -> list[tuple[int, Trigger]]:
        """Triggers that are not resting; a rest ends with its time, or when the clock is set back."""
        self._rests = {number: rest for number, rest in self._rests.items() if rest[0] <= now < rest[1]}
        return [(number, trigger) for number, trigger in enumerate(self._triggers) if number not in self._rests]

    def _failed(self, number: int, now: float, error: Exception) -> None:
        self._rests[number] = (now, now + REST_SECONDS)
        text = printable(f"{type(error).__name__}: {error}; it is asked again after {REST_SECONDS:.0f}s", 500)
        self._tell(Fault(now, f"trigger {self._triggers[number].name}", text))


def _checked(answer: object) -> Occasion | None:
    if answer is None or isinstance(answer, Occasion):
        return answer
    raise TypeError(f"look answered {answer!r}; wanted an Occasion or None")


def _finite(answer: float | None) -> float | None:
    if answer is None or isfinite(answer):
        return answer
    raise ValueError(f"wake_at answered {answer!r}; wanted seconds since the epoch or None")
