"""The measured agreement as a table."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.fidelity.comparison import Row

_HEAD = ("profile", "cases", "verdict", "refused", "message", "placed", "in best", "one best", "blind")


def table(rows: Mapping[str, Row]) -> str:
    """One line a profile: numbers of cases, and shares in percent."""
    lines = [_HEAD, *(_line(name, row) for name, row in rows.items())]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                  for column, (cell, width) in enumerate(zip(line, widths, strict=True))).rstrip()
        for line in lines
    )  # fmt: skip


def _line(name: str, row: Row) -> tuple[str, ...]:
    return (
        name,
        str(row.cases),
        share(row.verdicts, row.cases),
        str(row.unschedulable),
        share(row.messages, row.unschedulable),
        str(row.placed),
        share(row.in_best, row.placed),
        share(row.single, row.choices),
        share(row.luck, row.choices),
    )


def share(part: float, whole: int) -> str:
    """Percent with one digit, never rounded up to 100; a dash where there is nothing to share."""
    if whole == 0:
        return "-"
    if part == whole:
        return "100 %"
    return f"{min(100 * part / whole, 99.9):.1f} %"
