"""Usage stores for tests, and what they have said."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

from rescheduler.adapters.files.sqlite.usage_store import SqliteUsageStore
from rescheduler.model.usage.samples import NodeSamples
from tests.builders import NOW

ALL = -inf


class Told(list[str]):
    """What a store has said."""

    def __call__(self, text: str) -> None:
        """Hear it."""
        self.append(text)


def opened(path: Path, told: Told | None = None, **options: Any) -> SqliteUsageStore:
    """A store of an hour at 15 s."""
    settings = {"keep_seconds": 3600.0, "interval_seconds": 15.0, "now": NOW, **options}
    return SqliteUsageStore(path, tell=Told() if told is None else told, **settings)


def times_of(found: Sequence[NodeSamples]) -> list[float]:
    """All ticks, as seconds after NOW."""
    return [float(time) - NOW for samples in found for time in samples.times]
