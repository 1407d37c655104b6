"""What people write on the command line, turned into values; a text that is none says what was wanted."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, TypeVar

import typer

from rescheduler.cli.failures import UsageError

T = TypeVar("T")


class OutputFormat(StrEnum):
    """Forms of output."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    HTML = "html"


def parsed(parse: Callable[[str], T]) -> Callable[[str | T], T]:
    """A parser for an option: a ValueError's text becomes the message."""

    def convert(value: str | T) -> T:
        if not isinstance(value, str):
            return value
        try:
            return parse(value)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    convert.__name__ = parse.__name__
    return convert


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """A reader of whole numbers from ``low`` to ``high``; it raises ValueError."""

    def read(text: str) -> int:
        if re.fullmatch(r"[-+]?[0-9]{1,18}", text.strip()) is None or not low <= int(text) <= high:
            raise ValueError(f"found {text[:40]!r}; wanted a whole number from {low} to {high}")
        return int(text)

    return read


def positive_duration(text: str) -> float:
    """A Go duration above zero in seconds. Raises ValueError."""
    from rescheduler.policy.fields.values import parse_positive_duration

    return parse_positive_duration(text.strip())


def duration(text: str) -> float:
    """A Go duration in seconds, 0 among them. Raises ValueError."""
    from rescheduler.policy.fields.values import parse_duration

    return parse_duration(text.strip())


def duration_in_days(text: str) -> float:
    """``30d`` or a Go duration, above zero, in seconds. Raises ValueError."""
    from rescheduler.policy.fields.daemon.archive import parse_days

    return parse_days(text)


def size_in_bytes(text: str) -> int:
    """A quantity such as ``10Gi``, above zero. Raises ValueError."""
    from rescheduler.policy.fields.daemon.archive import parse_size

    return parse_size(text)


def point_in_time(text: str) -> float:
    """An RFC 3339 time in seconds since the epoch. Raises ValueError."""
    from rescheduler.model.times import read_time

    seconds = read_time(text.strip())
    if seconds is None:
        raise ValueError(f"found {text[:40]!r}; wanted a time with its zone such as 2030-01-31T22:00:00Z")
    return seconds


class MomentInTime(NamedTuple):
    """A time, or one so many seconds after the cluster was read."""

    seconds: float
    is_relative: bool


def moment(text: str) -> MomentInTime:
    """``+2h`` from when the cluster was read, or an RFC 3339 time. Raises ValueError."""
    text = text.strip()
    if text.startswith("+"):
        return MomentInTime(positive_duration(text[1:]), is_relative=True)
    from rescheduler.model.times import read_time

    seconds = read_time(text)
    if seconds is None or seconds <= 0:
        raise ValueError(f"found {text[:40]!r}; wanted a time with its zone such as 2030-01-31T22:00:00Z, or +2h")
    return MomentInTime(seconds, is_relative=False)


def pod_key(text: str) -> str:
    """``NAMESPACE/NAME`` as it was given. Raises UsageError for anything else."""
    if text.count("/") != 1 or not all(text.split("/")):
        raise UsageError(f"found {text[:300]!r}; wanted a pod as NAMESPACE/NAME, such as default/web-1")
    return text
