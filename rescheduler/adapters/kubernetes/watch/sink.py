"""Where a reflector puts what it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from rescheduler.model.daemon.notices import Notice

Hear = Callable[[Notice], None]


class Sink(Protocol):
    """Takes decoded objects of one list. Called by one thread, the reflector's own.

    Objects come as the kind decodes them; metadata, name and namespace may be missing, as in any input. What is raised
    here is told as a fault, and everything is read again after a while.
    """

    def replace(self, objects: Iterable[Any]) -> None:
        """All the objects that there are, in place of those before.

        They are read from the server while one iterates, which raises if the list breaks off: then keep what there was.
        """

    def upsert(self, found: Any) -> None:
        """An object is new or has changed. The same one, or an older state of it, may come again."""

    def delete(self, found: Any) -> None:
        """An object is gone. Nothing but ``metadata`` may be looked at; it may not have been known."""


def deaf(_notice: Notice) -> None:
    """Hears nothing."""
