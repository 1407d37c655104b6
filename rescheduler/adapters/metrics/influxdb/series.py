"""What is asked of InfluxDB and what it answers, in whichever of its languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

CUT_SHORT: Final = "the answer was cut short by the server's limit of rows; raise max-row-limit"


@dataclass(frozen=True)
class SeriesSelection:
    """Fields of one measurement, by the tags of ``group``; several counters are added.

    ``tags``: values that series must have. ``excluded``: a tag, and the pattern of values that are left out.
    ``is_counter``: rates per second are wanted, falls left out.
    """

    measurement: str
    fields: tuple[str, ...]
    group: tuple[str, ...]
    tags: Mapping[str, str] = field(default_factory=dict)
    excluded: tuple[str, str] = ("", "")
    is_counter: bool = False


class InfluxSeries(NamedTuple):
    """Points as (seconds since the epoch, value as JSON gives it), by tags."""

    tags: Mapping[str, str]
    points: list[tuple[float, object]]


class Answer(NamedTuple):
    """Series, and what the server says about them."""

    series: list[InfluxSeries]
    warnings: tuple[str, ...] = ()
    is_partial: bool = False


class Span(NamedTuple):
    """A stretch of time in whole milliseconds, the end left out."""

    start_ms: int
    end_ms: int


class InfluxLanguage(Protocol):
    """InfluxQL or Flux over one session."""

    def newest(self, wanted: SeriesSelection, span: Span) -> Answer:
        """The newest point of each series. Raises MetricsError."""

    def regular(self, wanted: SeriesSelection, span: Span, step_ms: int) -> Answer:
        """One point for each step, at the step's end; steps begin with the span. Raises MetricsError."""


class Said:
    """Gathers what servers say about their answers."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self.warnings: list[str] = []
        self.is_partial = False

    def heard(self, answer: Answer) -> Answer:
        """The answer, after what it says was taken down."""
        self.warnings += [text for text in answer.warnings if text not in self.warnings]
        if answer.is_partial:
            self.is_partial = True
            self.warn(CUT_SHORT)
        return answer

    def warn(self, text: str) -> None:
        """Take down a warning."""
        if text not in self.warnings:
            self.warnings.append(text)
