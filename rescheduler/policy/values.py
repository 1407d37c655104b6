"""Durations and percentages as policies write them."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BeforeValidator

_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
LONGEST_SECONDS = 10 * 365 * 86400.0


def parse_duration(text: str) -> float:
    """Read a Go duration (``90s``, ``5m``, ``1h30m``, ``0``) as seconds. Raises ValueError."""
    if text == "0":
        return 0.0
    if len(text) > 40 or _DURATION.fullmatch(text) is None:
        raise ValueError(f"{text[:40]!r} is not a duration; write it like 90s, 5m or 1h30m")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    if seconds > LONGEST_SECONDS:
        raise ValueError(f"{text!r} is longer than ten years")
    return seconds


def _duration(value: object) -> float:
    if isinstance(value, float):  # a default, already in seconds
        return value
    if value == 0 and not isinstance(value, bool):
        return 0.0
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a duration; write it like 90s, 5m or 1h30m")  # noqa: TRY004
    return parse_duration(value)


def _percentage(value: str) -> str:
    match = re.fullmatch(r"(\d{1,3})%", value)
    if match is None or int(match.group(1)) > 100:
        raise ValueError(f"{value!r} is not a percentage; write it like 10%, from 0% to 100%")
    return value


DurationSeconds: TypeAlias = Annotated[float, BeforeValidator(_duration)]
Percentage: TypeAlias = Annotated[str, AfterValidator(_percentage)]
