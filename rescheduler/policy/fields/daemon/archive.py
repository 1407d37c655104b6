"""The archive that ``run`` keeps for back-tests."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from rescheduler.model.objects.resources import parse_quantity
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import PositiveDurationSeconds, parse_positive_duration

_DAY_SECONDS = 86400.0
_DAYS = re.compile(r"([0-9]{1,4})d", re.ASCII)


def parse_days(text: str) -> float:
    """``30d`` or a Go duration, above zero, in seconds. Raises ValueError."""
    match = _DAYS.fullmatch(text.strip())
    if match is not None and int(match[1]):
        return int(match[1]) * _DAY_SECONDS
    return parse_positive_duration(text.strip())


def parse_size(text: str) -> int:
    """A quantity such as ``10Gi``, above zero, in bytes. Raises ValueError."""
    size = int(parse_quantity(text.strip()))
    if size <= 0:
        raise ValueError(f"{text[:40]!r} leaves no room at all; write a size such as 10Gi")
    return size


def _seconds(value: object) -> object:
    return parse_days(value) if isinstance(value, str) else value


def _bytes(value: object) -> object:
    return parse_size(value) if isinstance(value, str) else value


Days: TypeAlias = Annotated[
    float,
    BeforeValidator(_seconds),
    Field(gt=0),
    WithJsonSchema({"type": "string", "pattern": r"^([0-9]+d|(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+))$"}),
    PlainSerializer(lambda seconds: f"{seconds / _DAY_SECONDS:g}d", return_type=str, when_used="json"),
]
"""Seconds above 0, written as days or as a Go duration."""
SizeBytes: TypeAlias = Annotated[
    int,
    BeforeValidator(_bytes),
    Field(gt=0),
    WithJsonSchema({"type": "string"}),
    PlainSerializer(lambda size: f"{size / 2**20:g}Mi", return_type=str, when_used="json"),
]
"""Bytes, written as a quantity."""


class ArchivePolicy(PolicyModel):
    """Snapshots with load that ``run`` keeps while it leads; docs/back-testing.md."""

    path: Annotated[str, Field(min_length=1, max_length=4096)] = "archive"
    """The folder; a relative one lies in the state folder (``$XDG_STATE_HOME/rescheduler``)."""
    every: PositiveDurationSeconds = 300.0
    """How often a snapshot is kept."""
    keep: Days = 30 * _DAY_SECONDS
    """How long, counted before the newest snapshot; also in days, such as 30d."""
    max_size: SizeBytes = 10 * 2**30
    """How large the archive may become; the oldest snapshots go first."""
