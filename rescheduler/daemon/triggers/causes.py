"""What asks for a round until it has gone: a burst together, and each cause again later if a round did not help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Final, Generic, TypeVar

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from rescheduler.model.daemon.rounds import RoundReport
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import PositiveDurationSeconds, format_duration

K = TypeVar("K", str, tuple[str, ...])
LONGEST_BURST: Final = 6
"""A burst that does not end is cut off after so many times ``debounce``."""
_MOST_DOUBLINGS: Final = 60


class TriggerBackOff(PolicyModel):
    """How long the same cause does not ask again after a round that did not help."""

    first: PositiveDurationSeconds = 60.0
    """After the first such round; doubled with each further one."""
    longest: PositiveDurationSeconds = 1800.0
    """The wait is never longer than this."""

    @model_validator(mode="after")
    def _grows(self) -> TriggerBackOff:
        if self.first > self.longest:
            found = {"first": format_duration(self.first), "longest": format_duration(self.longest)}
            raise PydanticCustomError("back_off", "first {first} is longer than longest {longest}", found)
        return self


@dataclass
class _Cause:
    """One cause. ``ripe_at``: from when on it asks; ``not_before``: it is left alone until then."""

    ripe_at: float
    not_before: float = -inf
    tries: int = 0
    is_asked: bool = False

    @property
    def wanted_at(self) -> float:
        return max(self.ripe_at, self.not_before)


class Causes(Generic[K]):
    """Causes by key. Times are seconds since the epoch; nothing is asked for twice within ``back_off.first``."""

    def __init__(self, back_off: TriggerBackOff, debounce: float) -> None:
        """``debounce``: causes that become ripe within so many seconds of each other ask together."""
        self._back_off = back_off
        self._debounce = debounce
        self._known: dict[K, _Cause] = {}

    def see(self, present: Mapping[K, float], now: float) -> tuple[K, ...]:
        """Those to ask for now, sorted; ``present``: every cause there is, and from when on it asks (infinite: never).

        What is present no more is forgotten, and so is how often it was tried.
        """
        self._known = {key: self._renewed(key, ripe_at, now) for key, ripe_at in present.items()}
        ripe = {key: cause for key, cause in self._known.items() if cause.wanted_at <= now}
        if not ripe or now < self._burst_ends(ripe.values()):
            return ()
        for cause in ripe.values():
            cause.tries += 1
            cause.is_asked = True
            cause.not_before = now + self._delay(cause)
        return tuple(sorted(ripe))

    def wake_at(self, now: float) -> float | None:
        """When something will have to be asked for, if nothing changes; None: never."""
        if not self._known:
            return None
        ripe = [cause for cause in self._known.values() if cause.wanted_at <= now]
        if ripe:
            return self._burst_ends(ripe)
        first = min(cause.wanted_at for cause in self._known.values())
        return None if first == inf else first + self._debounce

    def answered(self, report: RoundReport) -> None:
        """After a round, whoever asked for it: all that was ripe when it began was looked at, and waits."""
        for cause in self._known.values():
            if not cause.is_asked:
                if report.is_held or cause.wanted_at > report.started_at:
                    continue
                cause.tries += 1
            cause.not_before = max(cause.not_before, report.ended_at + self._delay(cause))
            cause.is_asked = cause.is_asked and report.is_held

    def forgive(self, not_before: float) -> None:
        """The world has changed in their favour: all may ask from that time on, as if for the first time."""
        for cause in self._known.values():
            if cause.tries:
                cause.tries = 0
                cause.not_before = min(cause.not_before, not_before)

    def _renewed(self, key: K, ripe_at: float, now: float) -> _Cause:
        cause = self._known.get(key)
        if cause is None:
            return _Cause(ripe_at)
        cause.ripe_at = ripe_at
        cause.not_before = min(cause.not_before, now + self._back_off.longest)  # a clock that was set back
        return cause

    def _burst_ends(self, ripe: Iterable[_Cause]) -> float:
        times = [cause.wanted_at for cause in ripe]
        return min(max(times) + self._debounce, min(times) + LONGEST_BURST * self._debounce)

    def _delay(self, cause: _Cause) -> float:
        doublings = min(cause.tries - 1, _MOST_DOUBLINGS)
        return min(self._back_off.first * 2.0**doublings, self._back_off.longest)
