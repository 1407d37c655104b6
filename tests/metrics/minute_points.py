"""What services that keep minutes make of a scene, for answers in the forms that their API documents give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.metrics.contract import Scene


class HostMinutes(NamedTuple):
    """One series: (milliseconds, percent) by minute, oldest first."""

    identity: str
    host: str
    metric: str
    points: list[tuple[int, float]]


def minutes(scene: Scene, start_ms: float, end_ms: float, resolution_ms: int) -> Iterator[HostMinutes]:
    """All series of a scene within a span; a rival is a second series of the same host's name in full."""
    named = list(scene.hosts.items())
    named += [(f"{host}.example.com", loads) for host, loads in scene.rivals.items()]
    for host, loads in named:
        for metric, values in (
            ("cpu.utilization", [(one.at, one.cpu) for one in loads]),
            ("memory.utilization", [(one.at, one.memory) for one in loads]),
        ):
            points = _rolled([(at, value) for at, value in values if start_ms <= at * 1000 <= end_ms], resolution_ms)
            yield HostMinutes(f"id-{host}-{metric}", host, metric, points)


def _rolled(values: Sequence[tuple[float, float]], resolution_ms: int) -> list[tuple[int, float]]:
    """The last value of each span, in percent, at the beginning of the span."""
    found: dict[int, float] = {}
    for at, value in values:
        found[int(at * 1000) // resolution_ms * resolution_ms] = 100 * value
    return sorted(found.items())
