"""What a soak's report must show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

MOST_GROWTH: Final = 1.15
"""Of memory from the third quarter to the last."""
MOST_MEGABYTES: Final = 600.0


def broken_promises(report: dict[str, Any]) -> list[str]:
    """In words; empty: all were kept."""
    return list(_broken(report))


def _broken(report: dict[str, Any]) -> Iterator[str]:
    silent = [name for name, count in report["fired"].items() if not count]
    if silent:
        yield f"triggers that never fired: {', '.join(silent)}"
    unheard = [name for name, count in report["handled"].items() if not count and report["fired"][name]]
    if unheard:
        yield f"triggers that no round answered: {', '.join(unheard)}"
    if report["memoryGrowth"] > MOST_GROWTH or report["memoryMegabytes"]["peak"] > MOST_MEGABYTES:
        yield f"memory: {report['memoryMegabytes']}, grown by a factor of {report['memoryGrowth']:.2f}"
    for field, what in (
        ("evictedTwice", "pods evicted twice"),
        ("notTold", "evictions that the daemon does not tell of"),
        ("notGranted", "evictions told of that the API server did not grant"),
        ("faults", "faults"),
    ):
        if report[field]:
            yield f"{what}: {report[field]}"
    if report["exitCode"]:
        yield f"exit code {report['exitCode']}"
    if not report["evictions"]:
        yield "nothing was evicted: the soak shows nothing"
