"""Load from a recording that tells of the values in it that cannot be used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from rescheduler.model.cluster import Cluster
from rescheduler.model.load_report import LoadReport, unusable_values
from rescheduler.wiring.usage import PolicyLoad

_MOST_NAMED = 5


@dataclass(frozen=True)
class RecordedLoad(PolicyLoad):
    """``PolicyLoad`` of a recording, with one line more where values are undefined, infinite or negative."""

    def warnings(self, cluster: Cluster) -> Sequence[str]:
        """What of the recording cannot be used for this snapshot."""
        return [*_about_values(self.recorded, self.source), *super().warnings(cluster)]


def _about_values(recorded: LoadReport | None, source: str) -> Iterator[str]:
    values = unusable_values(recorded) if recorded is not None else iter(())
    named = list(islice(values, _MOST_NAMED))
    if named:
        more = sum(1 for _ in values)
        told = ", ".join(named) + (f" and {more} more" if more else "")
        yield f"{source}: {told}: wanted percentages of 0 or more; such values count as unknown"
