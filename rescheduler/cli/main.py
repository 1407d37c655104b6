"""The door from the shell: runs one command and gives its exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from rescheduler.cli.failures import DONE, INTERRUPTED, told_failures
from rescheduler.cli.streams import prepare_streams, write

PROGRAM = "rescheduler"
AS_PLUGIN = "kubectl-reschedule"
"""The name under which kubectl finds us; people call that ``kubectl reschedule``."""
STOPPED_BY_SIGTERM = frozenset({"run", "watcher"})
"""Commands that run until they are terminated, which is then no failure, however early it comes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (``sys.argv`` without ``arguments``); its exit code."""
    prepare_streams()
    words = sys.argv[1:] if arguments is None else list(arguments)
    with _ended_by_termination(words), told_failures() as ending:
        import typer

        from rescheduler.cli.app import application

        answer = typer.main.get_command(application(words)).main(
            args=words, prog_name=_program(), standalone_mode=False
        )
        if answer == INTERRUPTED:  # typer has caught the interruption itself
            raise KeyboardInterrupt
        ending.code = answer if isinstance(answer, int) else DONE
    return ending.code


def _program() -> str:
    """How we were called, as help should show it."""
    return AS_PLUGIN.replace("-", " ") if Path(sys.argv[0]).name.startswith(AS_PLUGIN) else PROGRAM


def complete(words: Sequence[str]) -> int:
    """Write what may be typed next, in the form that kubectl reads; the exit code."""
    prepare_streams()
    with told_failures() as ending:
        import typer

        from rescheduler.cli.app import application
        from rescheduler.cli.completion import suggestions

        found = suggestions(typer.main.get_command(application(words[:-1])), words)
        write("".join(f"{line}\n" for line in (*found.lines, f":{found.directive}")))
    return ending.code


@contextmanager
def _ended_by_termination(arguments: Sequence[str]) -> Iterator[None]:
    """SIGTERM and a closed terminal end a command as Ctrl-C does, so that what it wrote is taken back.

    Signals that somebody else handles already are left alone, and all are as before in the end.
    """
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                is_end = name == "SIGTERM" and not STOPPED_BY_SIGTERM.isdisjoint(arguments[:1])
                before[number] = signal.signal(number, _end if is_end else _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _end(_number: int, _frame: FrameType | None) -> None:
    """Leave at once: an exception might be swallowed by whatever is just being imported.

    Nothing is lost: such a command handles the signal itself once it has begun, and its files survive a kill.
    """
    os.write(2, b"stopped\n")  # nothing that could be in the midst of a write of its own
    os._exit(DONE)
