"""Where words go: data to standard output, everything else to standard error; quiet when nobody reads any more."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from rescheduler.model.printable import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


WIDTH_OFF_A_TERMINAL = 120
MOST_WARNINGS_SHOWN = 20


def prepare_streams() -> None:
    """Let every character through: what the locale cannot write is written as an escape. A closed stream is mute."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - lives as long as the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def keep_answers_apart() -> None:
    """Let nothing but what is written to ``sys.stdout`` come to standard output: all else goes to standard error.

    Native code (a solver) writes to the file descriptor itself, past Python. For a whole process: call it once.
    """
    try:
        if sys.stdout.fileno() != _STANDARD_OUTPUT:
            return
        sys.stdout.flush()
        answers = os.dup(_STANDARD_OUTPUT)
        os.dup2(_STANDARD_ERROR, _STANDARD_OUTPUT)
    except (AttributeError, OSError, ValueError):
        return  # closed, or no file at all
    sys.stdout = open(  # noqa: SIM115, PTH123 - lives as long as the process
        answers, "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors, buffering=-1
    )


_STANDARD_OUTPUT, _STANDARD_ERROR = 1, 2


def is_terminal(stream: TextIO) -> bool:
    """Whether a person sees the stream."""
    return bool(stream) and not stream.closed and stream.isatty()


def write(text: str) -> None:
    """Data to standard output. A reader who has gone is no error: the rest is dropped."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop(sys.stdout)


def show(parts: Iterable[RenderableType], *, to_stderr: bool = False) -> None:
    """A report, part by part, in colour only on a terminal without NO_COLOR."""
    out = console(sys.stderr if to_stderr else sys.stdout)
    try:
        for part in parts:
            out.print(part)
        out.file.flush()
    except BrokenPipeError:
        _drop(sys.stderr if to_stderr else sys.stdout)


def say(text: str) -> None:
    """A line for the person, to standard error."""
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except (BrokenPipeError, ValueError):
        _drop(sys.stderr)


def confirmed(question: str) -> bool:
    """Ask on the terminal; anything but y or yes is a no."""
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def warn(warnings: Iterable[str]) -> None:
    """Warnings, each on its line; of many the first ones and how many more there are."""
    found = tuple(warnings)
    for text in found[:MOST_WARNINGS_SHOWN]:
        say(f"warning: {printable(text)}")
    if len(found) > MOST_WARNINGS_SHOWN:
        say(f"warning: and {len(found) - MOST_WARNINGS_SHOWN} more warnings; -o json lists each of them")


def console(stream: TextIO) -> Console:
    """A rich console that takes no text for markup, and adds nothing off a terminal."""
    from rich.console import Console

    class Plain(Console):
        """Leaves a reader who has gone to ``show``: rich itself would end the process."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    on_terminal = is_terminal(stream)
    return Plain(
        file=stream,
        force_terminal=on_terminal,
        no_color=True if not on_terminal or "NO_COLOR" in os.environ else None,
        width=None if on_terminal or "COLUMNS" in os.environ else WIDTH_OFF_A_TERMINAL,
        markup=False,
        emoji=False,
        highlight=False,
    )


def _drop(stream: TextIO) -> None:
    """Send what is still to come nowhere, so that the interpreter's own last flush does not complain either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    except (OSError, ValueError):
        pass
    finally:
        os.close(nowhere)
