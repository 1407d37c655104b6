"""The table of measurements, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.scheduling.measuring import Row

_HEAD = ("what", "how", "median", "least", "calls", "times faster")


def table(rows: Iterable[Row]) -> str:
    """One line for each measurement; the last column compares medians with the slowest way of the same thing."""
    lines = [_HEAD, ("---",) * len(_HEAD)]
    lines.extend((row.what, row.how, _told(row.times.median), _told(row.times.least), f"{row.calls:,}",
                  "" if row.ratio is None else f"{row.ratio:,.0f}" if row.ratio > 10 else f"{row.ratio:.1f}")
                 for row in rows)  # fmt: skip
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _told(seconds: float) -> str:
    if seconds >= 0.1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} µs"
