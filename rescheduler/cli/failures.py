"""Errors as people see them: one paragraph on standard error and an exit code, never a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rescheduler.cli.streams import say
from rescheduler.model.printable import in_one_line, printable

DONE, FAILED, WRONG_USE, NOT_EMPTY, INTERRUPTED = 0, 1, 2, 3, 130
TRACEBACK_VARIABLE = "RESCHEDULER_TRACEBACK"


class UsageError(Exception):
    """The command line contradicts itself, or asks for something that cannot be; exit 2."""


@dataclass
class CommandEnd:
    """How a command ended: ``code`` is the process's exit code."""

    code: int = DONE


@contextmanager
def told_failures() -> Iterator[CommandEnd]:
    """Within this a failure is told, and is the exit code that it means."""
    ending = CommandEnd()
    try:
        yield ending
    except KeyboardInterrupt:
        say("interrupted")
        ending.code = INTERRUPTED
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        ending.code, text = _told(error)
        say(text)


def _told(error: Exception) -> tuple[int, str]:
    """Exit code and paragraph for one error."""
    if hasattr(error, "format_message"):  # typer's own: a wrong option or argument
        return _wrong_use(error)
    if isinstance(error, UsageError):
        return WRONG_USE, f"error: {_safe(str(error))}"
    if type(error).__name__ == "Abort":
        return INTERRUPTED, "interrupted"
    if "rescheduler.policy.reading.errors" in sys.modules:
        from rescheduler.policy.reading.errors import PolicyError

        if isinstance(error, PolicyError):
            return WRONG_USE, _safe(str(error))
    if "rescheduler.extension_points" in sys.modules:
        from rescheduler.extension_points import ExecutionInterruptedError, ReschedulerError

        if isinstance(error, ExecutionInterruptedError):
            return INTERRUPTED, "interrupted"
        if isinstance(error, ReschedulerError):
            return FAILED, f"error: {_safe(str(error))}"
    return FAILED, _unexpected(error)


def _wrong_use(error: Any) -> tuple[int, str]:
    text = _safe(in_one_line(error.format_message()))
    context = getattr(error, "ctx", None)
    advice = f" See {context.command_path} --help." if context is not None else ""
    return int(getattr(error, "exit_code", WRONG_USE)), f"error: {text}{'' if text[-1:] in '.?' else '.'}{advice}"


def _unexpected(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "error: there is not enough memory for this input"
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"error: {_safe(where + error.strerror)}"
    return (
        f"error: a fault of rescheduler's own, {type(error).__name__}: {_safe(in_one_line(error))[:500]}; "
        f"set {TRACEBACK_VARIABLE}=1 to see where, and please report it"
    )


def _safe(text: str) -> str:
    """Safe on a terminal, line by line."""
    return "\n".join(printable(line) for line in text.splitlines())
