"""A campaign's runs as they ended, one line each in a file, so that a campaign that was stopped can go on."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields
from pathlib import Path

from tests.soak.campaign import Totals


class Record:
    """Appends what each seed showed; seeds that showed no violation need not be run again.

    ``clean``: those, each with its totals. A line that was not written to its end is no line.
    """

    def __init__(self, path: Path, hours: float) -> None:
        """``hours``: simulated ones of each seed; lines of other lengths are of other campaigns."""
        self._path = path
        self._hours = hours
        self.clean: dict[int, Totals] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            self._take(line)

    def _take(self, line: str) -> None:
        try:
            found = json.loads(line)
        except ValueError:
            return
        if found["hours"] == self._hours and not found["totals"]["violations"]:
            self.clean[found["seed"]] = _totals(found["totals"])

    def append(self, seed: int, totals: Totals) -> None:
        """One more run has ended."""
        line = json.dumps({"seed": seed, "hours": self._hours, "totals": _plain(totals)})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def _plain(totals: Totals) -> dict[str, object]:
    """As JSON has it; pairs become lists."""
    values = {item.name: getattr(totals, item.name) for item in fields(totals)}
    return {name: list(value.items()) if isinstance(value, Counter) else value for name, value in values.items()}


def _totals(found: dict[str, object]) -> Totals:
    return Totals(**{name: _counts(value) if isinstance(value, list) else value for name, value in found.items()})  # type: ignore[arg-type]


def _counts(pairs: list[tuple[object, int]]) -> Counter[object]:
    return Counter({tuple(key) if isinstance(key, list) else key: number for key, number in pairs})
