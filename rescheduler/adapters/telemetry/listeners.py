"""Hands each notice to every listener; one that fails harms neither the daemon nor the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rescheduler.extension_points import Listener
from rescheduler.model.notices import Fault, Notice

Hear = Callable[[Notice], None]
"""Takes a notice; never raises."""


class Listeners(Listener):
    """All of them as one. May be told from several threads at once, as each listener must allow."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._listeners = tuple(listeners)
        self._failing: set[int] = set()

    def hear(self, notice: Notice) -> None:
        """Tell everybody. A listener that fails is told of to the others, once until it works again."""
        faults: list[tuple[int, Exception]] = []
        for place, listener in enumerate(self._listeners):
            try:
                listener.hear(notice)
            except Exception as error:  # noqa: BLE001 - a listener's fault is its own
                faults.append((place, error))
            else:
                self._failing.discard(place)
        for place, fault in faults:
            if place not in self._failing:
                self._failing.add(place)
                self._tell_others(place, notice, fault)

    def _tell_others(self, place: int, notice: Notice, error: Exception) -> None:
        name = type(self._listeners[place]).__name__
        # Not the error's own words: nobody knows what stands in them.
        fault = Fault(notice.at, name, f"could not take in {type(notice).__name__}: {type(error).__name__}")
        for other, listener in enumerate(self._listeners):
            if other != place and other not in self._failing:
                try:
                    listener.hear(fault)
                except Exception:  # noqa: BLE001 - found out with the next notice
                    self._failing.add(other)
