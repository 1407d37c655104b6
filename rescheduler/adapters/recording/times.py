"""When a recording was taken: as it says itself, or the newest time that stands in it."""

from __future__ import annotations

import re
from typing import Final

from rescheduler.model.moments import read_time

TAKEN_AT: Final = "rescheduler.dev/takenAt"
_TIME: Final = re.compile(rb'"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))"')
# Fields that Kubernetes fills with times; labels and annotations may hold any time, also one to come.
_FIELD: Final = re.compile(rb'"(?:[A-Za-z]*Time|[A-Za-z]*Timestamp|time|startedAt|finishedAt)"\s*:\s*\Z')
_LONGEST_FIELD: Final = 80


class NewestTime:
    """The newest time among all fields looked at."""

    def __init__(self) -> None:
        """Start before all times."""
        self.seconds = 0.0

    def look_at(self, raw: bytes) -> None:
        """Take the times of one JSON object into account."""
        for match in _TIME.finditer(raw):
            found = read_time(match.group(1).decode("ascii"))
            if found is not None and found > self.seconds and _is_field(raw, match.start()):
                self.seconds = found


def _is_field(raw: bytes, start: int) -> bool:
    return _FIELD.search(raw[max(0, start - _LONGEST_FIELD) : start]) is not None
