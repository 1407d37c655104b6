"""Threads beside the others: one for an answer for which nobody need wait, one for work until it is told to end."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Event, Thread
from typing import TypeVar

Found = TypeVar("Found")


def in_background(run: Callable[[], Found], name: str) -> Future[Found]:
    """Run in a thread of this name that nobody waits for when the program ends."""
    answer: Future[Found] = Future()

    def work() -> None:
        try:
            answer.set_result(run())
        except BaseException as error:  # noqa: BLE001 - handed to the caller, who raises it
            answer.set_exception(error)

    Thread(target=work, name=name, daemon=True).start()
    return answer


class BackgroundThread:
    """Work that goes on from ``start`` until it sees that it is told to end; no program waits for it when that ends."""

    def __init__(self, run: Callable[[], None], name: str) -> None:
        """``run``: the work; it looks at ``stopping`` or is told in some other way."""
        self.stopping = Event()
        self._thread = Thread(target=run, name=name, daemon=True)

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin; once."""
        self._thread.start()

    def stop(self) -> None:
        """Ask it to end; from any thread."""
        self.stopping.set()

    def join(self, seconds: float) -> bool:
        """Wait so long for its end; whether it does not run, which it does not before ``start`` either."""
        if self.is_running:
            self._thread.join(seconds)
        return not self.is_running
