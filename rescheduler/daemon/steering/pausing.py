"""The pause: a person keeps the daemon from carrying anything out, for a while or until told otherwise. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

from rescheduler.model.daemon.notices import Paused, Resumed
from rescheduler.model.printable import printable

RAN_OUT: Final = "the pause itself, which has run out"
"""Who resumes where nobody does."""


class Pause(NamedTuple):
    """Who has paused, why, since when, and until when; ``until`` None: until somebody resumes."""

    who: str
    reason: str
    at: float
    until: float | None = None

    def __str__(self) -> str:
        why = f": {printable(self.reason, 300)}" if self.reason else ""
        end = "" if self.until is None else f", until {_told(self.until)}"
        return f"paused by {printable(self.who, 300)}{why}{end}"


@dataclass(frozen=True)
class Switch:
    """Whether there is a pause. ``revision`` grows with each change, so that two people do not undo one another."""

    pause: Pause | None = None
    revision: int = 0

    @property
    def tag(self) -> str:
        """Names this state of the switch."""
        return f"switch-{self.revision}"

    def paused(self, who: str, reason: str, until: float | None, now: float) -> tuple[Switch, tuple[Paused, ...]]:
        """Somebody pauses, or changes a pause."""
        pause = Pause(who, reason, now, until)
        return Switch(pause, self.revision + 1), (Paused(now, who, reason, until),)

    def resumed(self, who: str, now: float) -> tuple[Switch, tuple[Resumed, ...]]:
        """Somebody resumes; where there is no pause nothing changes."""
        if self.pause is None:
            return self, ()
        return replace(self, pause=None, revision=self.revision + 1), (Resumed(now, who),)

    def at(self, now: float) -> tuple[Switch, tuple[Resumed, ...]]:
        """Time has passed: a pause may have run out."""
        if self.pause is None or self.pause.until is None or now < self.pause.until:
            return self, ()
        return self.resumed(RAN_OUT, now)


def _told(moment: float) -> str:
    try:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return "a time beyond the calendar"
