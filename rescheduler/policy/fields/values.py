"""Durations, shares and counts as policies write them."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, TypeAlias

from pydantic import BeforeValidator, PlainSerializer, PlainValidator, StringConstraints, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

from rescheduler.model.printable import shown

_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+", re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)", re.ASCII)
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
LONGEST_SECONDS = 10 * 365 * 86400.0
_DURATION_FORM = "write it like 90s, 5m or 1h30m"
_SHARE_FORM = "write a whole number of pods such as 1, or a share such as 10%"


def parse_duration(text: str) -> float:
    """Read a Go duration (``90s``, ``5m``, ``1h30m``, ``0``) as seconds. Raises ValueError."""
    if text == "0":
        return 0.0
    if len(text) > 40 or _DURATION.fullmatch(text) is None:
        raise ValueError(f"{text[:40]!r} is not a duration; {_DURATION_FORM}")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    if seconds > LONGEST_SECONDS:
        raise ValueError(f"{text!r} is longer than ten years; {_DURATION_FORM}")
    return seconds


def parse_positive_duration(text: str) -> float:
    """Read a Go duration above zero as seconds. Raises ValueError."""
    seconds = parse_duration(text)
    if seconds <= 0:
        raise ValueError(f"{text!r} leaves no time at all; {_DURATION_FORM}")
    return seconds


def format_duration(seconds: float) -> str:
    """Write seconds as the shortest Go duration of hours, minutes, seconds or milliseconds."""
    if seconds != int(seconds):
        return f"{seconds * 1000:g}ms" if seconds < 1 else f"{seconds:g}s"
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds > 60 and seconds % size == 0:
            return f"{int(seconds) // size}{unit}"
    return f"{int(seconds)}s"


def _duration(value: object, info: ValidationInfo) -> float:
    if isinstance(value, float) and info.mode == "python":  # from code, in seconds; a file says its unit
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value == 0:
        return 0.0
    if not isinstance(value, str):
        raise PydanticCustomError("duration", "{found} is not a duration; " + _DURATION_FORM, {"found": shown(value)})
    return parse_duration(value)


def _positive_duration(value: object, info: ValidationInfo) -> float:
    return parse_positive_duration(value) if isinstance(value, str) else _at_least_a_moment(_duration(value, info))


def _at_least_a_moment(seconds: float) -> float:
    if seconds <= 0:
        raise PydanticCustomError("duration", "0 leaves no time at all; " + _DURATION_FORM)
    return seconds


def _count_or_unlimited(value: object) -> int | None:
    """A whole number, or no limit at all, which a file has to say: nothing, as everywhere, is the default."""
    if value == UNLIMITED:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_COUNT:
        return value
    text = "found {found}; write a whole number from 0 to {most}, or unlimited"
    raise PydanticCustomError("count_or_unlimited", text, {"found": shown(value), "most": LARGEST_COUNT})


def _count_or_share(value: object) -> int | str:
    """A number of pods, 0 or more, or a percentage below 100."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0 or value > LARGEST_COUNT:
            raise PydanticCustomError("share", "{found} is out of range; " + _SHARE_FORM, {"found": str(value)})
        return value
    match = re.fullmatch(r"([0-9]{1,3})%", value) if isinstance(value, str) else None
    if match is None or int(match.group(1)) > 100:
        raise PydanticCustomError("share", "found {found}; " + _SHARE_FORM, {"found": shown(value)})
    if int(match.group(1)) == 100:
        raise PydanticCustomError(
            "share", "100% would allow a whole workload to be down at once; write a share below 100%, or a number"
        )
    return match.group()


def _share(value: object, largest: float) -> float:
    """A fraction or a percentage above 0 up to ``largest``, or 0."""
    match = re.fullmatch(r"([0-9]{1,4}(?:\.[0-9]+)?)%", value) if isinstance(value, str) else None
    number = float(match.group(1)) / 100 if match else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= largest:
        found = {"found": shown(value)}
        raise PydanticCustomError("fraction", "found {found}; write a share such as 0.7 or 70%", found)
    return float(number)


def fraction(value: object) -> float:
    """A share above 0 and at most 1, also written as a percentage. Raises PydanticCustomError."""
    found = _share(value, 1.0)
    if not found:
        raise PydanticCustomError("fraction", "0 leaves nothing at all; write a share such as 0.7 or 70%")
    return found


LARGEST_COUNT = 1_000_000
UNLIMITED = "unlimited"
"""How a policy says that there is no limit where one would stand by default."""
_DURATION_SCHEMA = {"type": "string", "pattern": r"^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$"}
_WRITTEN = PlainSerializer(format_duration, return_type=str, when_used="json")

DurationSeconds: TypeAlias = Annotated[float, BeforeValidator(_duration), WithJsonSchema(_DURATION_SCHEMA), _WRITTEN]
"""Seconds, 0 or more, written as a Go duration."""

PositiveDurationSeconds: TypeAlias = Annotated[
    float, BeforeValidator(_positive_duration), WithJsonSchema(_DURATION_SCHEMA), _WRITTEN
]
"""Seconds above 0, written as a Go duration."""

CountOrShare: TypeAlias = Annotated[
    int | str,
    PlainValidator(_count_or_share),
    WithJsonSchema({"oneOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]{1,2}%$"}]}),
]
"""A number of pods, or a share such as ``10%``."""

CountOrUnlimited: TypeAlias = Annotated[
    int | None,
    PlainValidator(_count_or_unlimited),
    PlainSerializer(lambda number: UNLIMITED if number is None else number, when_used="json"),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0, "maximum": LARGEST_COUNT}, {"const": UNLIMITED}]}),
]
"""A whole number, or None where a policy says ``unlimited``."""

SHARE_SCHEMA: Final[dict[str, Any]] = {
    "oneOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": r"^[0-9]{1,4}(\.[0-9]+)?%$"}]
}

Fraction: TypeAlias = Annotated[float, BeforeValidator(fraction), WithJsonSchema(SHARE_SCHEMA)]
"""A share above 0 and at most 1, also written as a percentage."""

Share: TypeAlias = Annotated[float, BeforeValidator(lambda value: _share(value, 1.0)), WithJsonSchema(SHARE_SCHEMA)]
"""A share from 0 to 1, also written as a percentage."""

Margin: TypeAlias = Annotated[float, BeforeValidator(lambda value: _share(value, 99.0)), WithJsonSchema(SHARE_SCHEMA)]
"""A share of 0 or more, also written as a percentage."""

NamespaceName: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=63)]
"""One namespace by its whole name."""
