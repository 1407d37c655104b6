"""Long work on a terminal tells how much of it is done, and how long the rest will take."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.progress import Progress, TimeRemainingColumn

from rescheduler.cli import progress as module
from rescheduler.cli.progress import ShownProgress, shown_progress


def test_the_rest_takes_as_long_as_what_was_done_here() -> None:
    """What an earlier run had done already says nothing about the speed of this one."""
    now = [0.0]
    with Progress(console=Console(file=io.StringIO()), get_time=lambda: now[0], auto_refresh=False) as display:
        shown = ShownProgress(display)
        for now[0], done in ((0.0, 40), (10.0, 45), (20.0, 50)):
            shown("replaying", done, 100)
        [task] = display.tasks
        assert (task.completed, task.total, task.time_remaining) == (50, 100, 100.0)


def test_time_left_is_shown_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere there is no display at all."""
    for is_shown in (True, False):
        monkeypatch.setattr(module, "is_shown", lambda shown=is_shown: shown)
        with shown_progress() as found:
            display = found._display
            assert (display is not None) == is_shown
            assert display is None or any(isinstance(one, TimeRemainingColumn) for one in display.columns)
