"""The waves of a plan as steps that a page can show one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil
from typing import NamedTuple

from rescheduler.report.plan.flows import Flow

MOST_STEPS = 40


class Step(NamedTuple):
    """One wave, or a few that follow each other where there are many; ``label`` and ``short`` name them."""

    label: str
    short: str
    flows: tuple[Flow, ...]


def steps_of(flows: Sequence[Flow]) -> tuple[Step, ...]:
    """The steps in order; ``flows`` are sorted by wave. No step for a plan of one wave, which is its own only step."""
    waves = [(number, tuple(found)) for number, found in groupby(flows, key=lambda flow: flow.wave)]
    if len(waves) <= 1:
        return ()
    return tuple(_steps(waves, ceil(len(waves) / MOST_STEPS)))


def _steps(waves: Sequence[tuple[int, tuple[Flow, ...]]], each: int) -> Iterator[Step]:
    for start in range(0, len(waves), each):
        part = waves[start : start + each]
        first, last = part[0][0], part[-1][0]
        flows = tuple(flow for _, found in part for flow in found)
        yield Step(
            _label(first, last) + _leaving_first(flows), f"{first}" if first == last else f"{first}-{last}", flows
        )


def _leaving_first(flows: Sequence[Flow]) -> str:
    """What to say of a step in which pods are down while others leave."""
    waves = sorted({flow.wave for flow in flows if flow.leaves_first})
    if not waves:
        return ""
    if len({flow.wave for flow in flows}) == 1:
        return ": pods leave before they arrive"
    return f": in wave {', '.join(map(str, waves))} pods leave before they arrive"


def _label(first: int, last: int) -> str:
    if first == last:
        return f"Wave {first}" if first else "Fits already"
    return f"Waves {first} to {last}" if first else f"Up to wave {last}"
