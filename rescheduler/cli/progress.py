"""Long work shown on a terminal: what is being done, and how much of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rescheduler.cli.streams import console, is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress as Display
    from rich.progress import TaskID


class ShownProgress:
    """A Progress on standard error that clears itself away; without a display it shows nothing."""

    def __init__(self, display: Display | None = None) -> None:
        self._display = display
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, step: str, done: int = 0, total: int | None = None) -> None:
        """Show ``done`` of ``total`` of one step in place of the step before."""
        if self._display is None:
            return
        for name, task in self._tasks.items():
            if name != step:
                self._display.update(task, visible=False)
        if step not in self._tasks:
            self._tasks[step] = self._display.add_task(step, total=total)
        self._display.update(self._tasks[step], completed=done, total=total, visible=True)
        self._display.start()

    def pause(self) -> None:
        """Clear the display away, to let others write; the next step brings it back."""
        if self._display is not None:
            self._display.stop()


def is_shown() -> bool:
    """Progress is for a person at a terminal who has not asked for plain output."""
    return is_terminal(sys.stderr) and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


@contextmanager
def shown_progress() -> Iterator[ShownProgress]:
    """Progress for the length of a ``with``."""
    if not is_shown():
        yield ShownProgress()
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    display = Progress(*columns, console=console(sys.stderr), transient=True)
    try:
        yield ShownProgress(display)
    finally:
        display.stop()
