"""Metrics that a sample can do without: where they cannot be read, a warning takes their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rescheduler.extension_points import MetricsError

T = TypeVar("T")


def unless_refused(what: str, read: Callable[[], T], warn: Callable[[str], None]) -> T | None:
    """What ``read`` gives; None and a warning where it raises MetricsError: cpu and memory are worth more."""
    try:
        return read()
    except MetricsError as error:
        warn(f"{what} is left out: {error}")
        return None
