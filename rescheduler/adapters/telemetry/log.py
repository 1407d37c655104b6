"""The log of a daemon: structlog over the standard library's handlers, so that libraries' lines come out alike."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TextIO

import structlog
from structlog.stdlib import BoundLogger, ProcessorFormatter, add_log_level

from rescheduler.adapters.telemetry.log_form import LibraryFloor, LogHandler, formatter
from rescheduler.adapters.telemetry.log_lines import Line, lines_of
from rescheduler.adapters.telemetry.redaction import Redaction
from rescheduler.adapters.telemetry.round_lines import detail_lines, round_line
from rescheduler.extension_points import Listener
from rescheduler.model.notices import Notice, PolicyLoaded, RoundEnded, Started

LEVELS: Final = ("debug", "info", "warning", "error")
"""What ``--log-level`` may be."""
LOGGER: Final = "rescheduler"
_DRY_RUN: Final = "DryRun"


class DecisionLog(Listener):
    """Writes a line for each decision. While the policy's mode is DryRun every line says so, libraries' lines too."""

    def __init__(self, handler: logging.Handler, restore: Callable[[], None], hide: Redaction) -> None:
        """Made by ``configure_logging``; ``restore`` puts logging back as it was.

        ``hide`` takes secrets out of every line: add those who know some, and give it to other listeners too.
        """
        self._handler = handler
        self._restore = restore
        self._logger = structlog.wrap_logger(
            logging.getLogger(LOGGER),
            processors=[add_log_level, structlog.processors.TimeStamper(fmt="iso", utc=True), _for_formatter],
            wrapper_class=BoundLogger,
            cache_logger_on_first_use=True,
        )
        self.hide = hide
        self.is_dry_run = False

    def hear(self, notice: Notice) -> None:
        """Write what there is to say of it."""
        if isinstance(notice, Started | PolicyLoaded):
            self.is_dry_run = notice.mode == _DRY_RUN
        if not isinstance(notice, RoundEnded):
            for line in lines_of(notice):
                self._write(line)
            return
        marks = {"dry_run": True} if notice.report.is_dry_run else {}
        self._write(round_line(notice.report), **marks)
        if logging.getLogger(LOGGER).isEnabledFor(logging.DEBUG):
            for line in detail_lines(notice.report):
                self._write(line, **marks)

    def write(self, level: str, event: str, **fields: Any) -> None:
        """A line of its own; ``level`` is one of ``LEVELS``."""
        self._write(Line(logging.getLevelNamesMapping()[level.upper()], event, fields))

    def close(self) -> None:
        """Put logging back as it was before."""
        self._restore()
        with suppress(OSError, ValueError):
            self._handler.flush()

    def _write(self, line: Line, **marks: Any) -> None:
        self._logger.log(line.level, line.event, **{**line.fields, **marks})


def configure_logging(
    level: str = "info",
    stream: TextIO | None = None,
    *,
    as_json: bool | None = None,
    hide: Redaction | None = None,
) -> DecisionLog:
    """Let everything in this process log to ``stream`` (standard error) from ``level`` on, one of ``LEVELS``.

    JSON unless the stream is a terminal; there without colour if NO_COLOR is set. ``hide`` takes secrets out of every
    line. Close the answer to undo this.
    """
    out = sys.stderr if stream is None else stream
    on_terminal = bool(getattr(out, "isatty", lambda: False)())
    hiding = Redaction() if hide is None else hide
    log: DecisionLog
    handler = LogHandler(out)
    handler.addFilter(LibraryFloor())
    handler.setFormatter(
        formatter(
            as_json=not on_terminal if as_json is None else as_json,
            colour=on_terminal and "NO_COLOR" not in os.environ,
            hide=hiding,
            is_dry_run=lambda: log.is_dry_run,
        )
    )
    log = DecisionLog(handler, _take_over(handler, logging.getLevelNamesMapping()[level.upper()]), hiding)
    return log


def _for_formatter(logger: Any, method: str, line: Any) -> Any:
    return ProcessorFormatter.wrap_for_formatter(logger, method, line)


def _take_over(handler: logging.Handler, level: int) -> Callable[[], None]:
    """Make the handler the only one; the answer undoes it."""
    root, ours, hook = logging.getLogger(), logging.getLogger(LOGGER), threading.excepthook
    before = root.level, ours.level, tuple(root.handlers)
    root.handlers[:] = [handler]
    root.setLevel(max(level, logging.INFO))
    ours.setLevel(level)
    logging.captureWarnings(True)
    threading.excepthook = _thread_ended

    def restore() -> None:
        root.setLevel(before[0])
        ours.setLevel(before[1])
        root.handlers[:] = before[2]
        logging.captureWarnings(False)
        threading.excepthook = hook

    return restore


def _thread_ended(found: threading.ExceptHookArgs) -> None:
    """A thread that ended by a fault: a line like all others, its traceback for those who look closely."""
    name = found.thread.name if found.thread is not None else "unknown"
    logger = logging.getLogger(f"{LOGGER}.threads")
    logger.error("a thread has ended by a fault: %s in %s", found.exc_type.__name__, name)
    if found.exc_value is not None:
        trace = (found.exc_type, found.exc_value, found.exc_traceback)
        logger.debug("where the fault was", exc_info=trace)
