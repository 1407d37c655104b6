"""Who is told of what is done, while it is done."""

from __future__ import annotations

from typing import Protocol

from rescheduler.model.daemon.notices import Notice
from rescheduler.model.plan.move_change import MoveChange


class Listener(Protocol):
    """Hears all that a daemon tells: a log, metrics, Events, an audit log."""

    def hear(self, notice: Notice) -> None:
        """Take a notice; never raises, and never waits for long."""


class Progress(Protocol):
    """Told of long work, for a terminal."""

    def __call__(self, step: str, done: int = 0, total: int | None = None) -> None:
        """``done`` of ``total`` (None: unknown) of ``step`` is finished."""


def no_progress(step: str, done: int = 0, total: int | None = None) -> None:
    """A Progress that shows nothing."""


class HearMoves(Protocol):
    """Told how far each move has come while a plan is carried out."""

    def __call__(self, change: MoveChange) -> None:
        """Take a change; never raises, and never waits for long."""


def nobody_hears(change: MoveChange) -> None:
    """For where nobody wants to know."""
