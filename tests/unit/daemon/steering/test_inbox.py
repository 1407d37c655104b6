"""What other threads ask is done by the thread that owns the inbox, once and in order, or never."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rescheduler.daemon.steering.inbox import Inbox
from rescheduler.daemon.steering.steering_errors import BusyError, UnknownPlanError


def elsewhere(act: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """``act`` in a thread of its own, and what it returns or raises."""
    told: list[Any] = []

    def run() -> None:
        try:
            told.append(act())
        except Exception as error:  # noqa: BLE001 - looked at by the test
            told.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, told


def test_the_owner_does_what_others_ask_and_they_get_the_answer() -> None:
    """Each in the owner's thread, one after the other; an error reaches whoever asked."""
    has_mail = threading.Semaphore(0)
    inbox = Inbox(has_mail.release)
    done_in: list[int] = []

    def act(number: int) -> int:
        done_in.append(threading.get_ident())
        if number == 3:
            raise UnknownPlanError("three")
        return number

    asked = [elsewhere(lambda number=number: inbox.ask(lambda: act(number))) for number in range(6)]
    for _ in asked:
        has_mail.acquire()
    inbox.answer()
    for thread, _ in asked:
        thread.join()
    assert done_in == [threading.get_ident()] * 6
    told = [found for _, [found] in asked]
    assert [found for found in told if isinstance(found, int)] == [0, 1, 2, 4, 5]
    assert isinstance(told[3], UnknownPlanError)


def test_the_owner_itself_does_not_wait() -> None:
    """It would wait for ever."""
    assert Inbox().ask(lambda: 7) == 7


def test_what_was_not_answered_in_time_is_never_done() -> None:
    """Whoever asked was told that nothing was done."""
    inbox, done = Inbox(wait_seconds=0.0), []
    thread, told = elsewhere(lambda: inbox.ask(lambda: done.append(1)))
    thread.join()
    inbox.answer()
    assert isinstance(told[0], BusyError)
    assert done == []


def test_nobody_else_answers() -> None:
    """In another thread nothing is done, and who must be the owner is told that he is not."""
    inbox, done = Inbox(wait_seconds=0.0), []
    asked, _ = elsewhere(lambda: inbox.ask(lambda: done.append(1)))
    asked.join()
    thread, _ = elsewhere(inbox.answer)
    thread.join()
    assert done == []
    thread, told = elsewhere(inbox.require_owner)
    thread.join()
    assert "another thread than the loop's" in str(told[0])
    inbox.require_owner()
