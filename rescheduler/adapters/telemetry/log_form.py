"""The form of log lines: JSON for machines, words for a terminal; nothing in them that a terminal or a reader minds."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, Final, TextIO

from structlog.dev import ConsoleRenderer, plain_traceback
from structlog.processors import TimeStamper, format_exc_info
from structlog.stdlib import ProcessorFormatter, add_log_level, add_logger_name

from rescheduler.adapters.telemetry.redaction import Hide
from rescheduler.model.printable import printable

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
