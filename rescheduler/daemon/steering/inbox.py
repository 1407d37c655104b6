"""What other threads ask of the loop: each request waits in line until the loop's own thread answers it.

Health, gate, rounds and policies belong to that thread alone: they remember what they have seen, and hold no locks.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitedTooLongError
from typing import Any, Final, TypeVar

from rescheduler.daemon.steering.steering_errors import BusyError

T = TypeVar("T")
WAIT_SECONDS: Final = 30.0
"""How long a request waits for its turn; a plan takes some seconds to be made, and answers come in between."""
MOST_WAITING: Final = 64


class Inbox:
    """Belongs to the thread that made it. ``wake`` is called when something waits."""

    def __init__(self, wake: Callable[[], None] = lambda: None, *, wait_seconds: float = WAIT_SECONDS) -> None:
        self._wake = wake
        self._wait_seconds = wait_seconds
        self._owner = threading.get_ident()
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()

    def ask(self, act: Callable[[], T]) -> T:
        """What ``act`` returns or raises, called by the owner; at once if that is who asks.

        Raises BusyError where its turn does not come in time: then it never comes.
        """
        if threading.get_ident() == self._owner:
            return act()
        if len(self._waiting) >= MOST_WAITING:
            raise BusyError
        future: Future[T] = Future()
        self._waiting.append((future, act))
        self._wake()
        try:
            return future.result(self._wait_seconds)
        except WaitedTooLongError:
            if future.cancel():
                raise BusyError from None
            return future.result()  # its turn has come just now

    def answer(self) -> None:
        """Answer all that wait; in any thread but the owner's nothing."""
        if threading.get_ident() != self._owner:
            return
        while self._waiting:
            future, act = self._waiting.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(act())
            except Exception as error:  # noqa: BLE001 - whoever asked is told, whatever it is
                future.set_exception(error)

    def require_owner(self) -> None:
        """Raise RuntimeError in any thread but the owner's."""
        if threading.get_ident() != self._owner:
            raise RuntimeError("called from another thread than the loop's: hand it over by Inbox.ask")
