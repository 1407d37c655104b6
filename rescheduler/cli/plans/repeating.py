"""``--watch``: a command that is run again whenever what it goes by has changed, until Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from rescheduler.cli.streams import console, is_terminal, say
from rescheduler.extension_points import ReschedulerError
from rescheduler.policy.reading.errors import PolicyError

if TYPE_CHECKING:
    from rescheduler.composition.changes import ClusterChanges


def repeated(once: Callable[[], object], changes: ClusterChanges) -> NoReturn:
    """Never returns. What is wrong at first ends the command; later it is told, and waited for until it is mended."""
    is_first = True
    while True:
        changes.look()
        if is_terminal(sys.stdout):
            console(sys.stdout).clear()
        try:
            once()
        except (ReschedulerError, PolicyError) as error:
            if is_first:
                raise
            say(f"error: {error}")
        is_first = False
        say("waiting for a change; Ctrl-C ends")
        changes.wait()
