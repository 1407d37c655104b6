"""A log for the length of a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from rescheduler.adapters.telemetry.log import DecisionLog, configure_logging


@contextmanager
def logging_to(stream: TextIO, level: str = "info", **options: Any) -> Iterator[DecisionLog]:
    """``configure_logging`` for the length of a ``with`` block."""
    log = configure_logging(level, stream, **options)
    try:
        yield log
    finally:
        log.close()
