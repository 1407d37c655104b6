"""Runs something in a thread, so that whoever waits for it can stop waiting."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
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
