"""The port of engines: tasks in, results as they come; and what can become of a task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple, Protocol

from rescheduler.extension_points import ReschedulerError
from rescheduler.model.printable import in_one_line

MOST_RETRIES: Final = 3
"""How often a task is done again whose worker died."""

Work = Callable[[bytes], bytes]
"""A function of a module, so that every process finds it by name; what it raises is a fault that stays one."""


class EngineError(ReschedulerError):
    """No engine, or not any more: names what was found and how to go on."""


class Done(NamedTuple):
    """What became of one task: its result, or why there is none."""

    key: str
    result: bytes | None
    failure: str = ""


class Engine(Protocol):
    """Does tasks by key, and hands each on once, in the order in which they end."""

    def run(self, work: Work, tasks: Mapping[str, bytes]) -> Iterator[Done]:
        """Do them all. Raises EngineError where that cannot be gone on with."""


def attempt(work: Work, key: str, task: bytes) -> Done:
    """Do a task here; an exception is its failure, in one line."""
    try:
        return Done(key, work(task))
    except Exception as error:  # whatever it is, the other tasks go on  # noqa: BLE001
        text = in_one_line(error)[:500]
        return Done(key, None, f"{type(error).__name__}: {text}" if not isinstance(error, ReschedulerError) else text)
