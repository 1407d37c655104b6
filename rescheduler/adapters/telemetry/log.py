"""The log of a daemon: structlog over the standard library's handlers, so that libraries' lines come out alike."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any, Final, TextIO

import structlog
from structlog.dev import ConsoleRenderer, plain_traceback
from structlog.processors import TimeStamper, format_exc_info
from structlog.stdlib import BoundLogger, ProcessorFormatter, add_log_level, add_logger_name

from rescheduler.adapters.telemetry.log_lines import Line, detail_lines, lines_of, round_line
from rescheduler.adapters.telemetry.redaction import Hide, Redaction
from rescheduler.extension_points import Listener
from rescheduler.model.daemon.notices import Notice, PolicyLoaded, RoundEnded, Started
from rescheduler.model.printable import printable

# The form of log lines: JSON for machines, words for a terminal; nothing in them that a terminal or a reader minds.

LONGEST_TEXT: Final = 2000
"""Characters of one value; a certificate in words is the longest of what is told."""
DEEPEST: Final = 6
MOST_TRACE_LINES: Final = 60
QUIET_LIBRARIES: Final = (
    "aiohttp", "asyncio", "apscheduler", "botocore", "google", "grpc", "h11", "hpack", "http", "httpcore", "httpcore2",
    "httpx", "httpx2", "kubernetes", "opentelemetry", "prometheus_api_client", "requests", "requests_oauthlib",
    "urllib3", "uvicorn", "websocket", "websockets",
)  # fmt: skip
"""Libraries that speak HTTP: below a warning they would tell of headers, and so of tokens."""

EventDict = MutableMapping[str, Any]


class LibraryFloor(logging.Filter):
    """Drops what HTTP libraries say below a warning, however their loggers are set."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written."""
        return record.levelno >= logging.WARNING or record.name.partition(".")[0] not in QUIET_LIBRARIES


class LogHandler(logging.StreamHandler[TextIO]):
    """Writes lines; a reader who has gone, or a disk that is full, is no reason to end."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        """Drop the line."""


def formatter(*, as_json: bool, colour: bool, hide: Hide, is_dry_run: Callable[[], bool]) -> logging.Formatter:
    """Lines of ours and of libraries in one form."""

    def mark(_logger: Any, _method: str, line: EventDict) -> EventDict:
        return {**line, "dry_run": True} if is_dry_run() else line

    def clean(_logger: Any, _method: str, line: EventDict) -> EventDict:
        trace = str(line.pop("exception", ""))
        cleaned = {printable(hide(str(key)), 100): _cleaned(value, hide, DEEPEST) for key, value in line.items()}
        return cleaned if not trace else {**cleaned, "exception": _cleaned_trace(trace, hide)}

    stamp = TimeStamper(fmt="iso", utc=True)
    return ProcessorFormatter(
        foreign_pre_chain=[add_log_level, add_logger_name, stamp],
        processors=[
            ProcessorFormatter.remove_processors_meta,
            format_exc_info,
            mark,
            clean,
            _json if as_json else _words(colour),
        ],
    )


def _cleaned(value: Any, hide: Hide, deepest: int) -> Any:
    """Without secrets and without what does not print; hidden before it is cut, so that no half of one is left."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping) and deepest:
        return {printable(hide(str(key)), 100): _cleaned(item, hide, deepest - 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset) and deepest:
        return [_cleaned(item, hide, deepest - 1) for item in value]
    return printable(hide(str(value)), LONGEST_TEXT)


def _cleaned_trace(trace: str, hide: Hide) -> str:
    """A traceback keeps its lines: the last ones, which say most."""
    lines = hide(trace).split("\n")[-MOST_TRACE_LINES:]
    return "\n".join(printable(line, LONGEST_TEXT) for line in lines)


def _json(_logger: Any, _method: str, line: EventDict) -> str:
    first = {key: line[key] for key in ("timestamp", "level", "event") if key in line}
    return json.dumps({**first, **line}, ensure_ascii=False, default=str)


def _words(colour: bool) -> Callable[[Any, str, EventDict], str]:
    render = ConsoleRenderer(colors=colour, exception_formatter=plain_traceback, sort_keys=False, pad_event_to=0)

    def words(logger: Any, method: str, line: EventDict) -> str:
        flat = {key: _in_words(value) for key, value in line.items() if key != "logger"}
        return str(render(logger, method, flat))

    return words


def _in_words(value: Any) -> Any:
    if isinstance(value, Mapping):
        return " ".join(f"{key}={_in_words(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(str(_in_words(item)) for item in value)
    return value


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
