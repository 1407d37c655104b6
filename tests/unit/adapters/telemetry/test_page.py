"""docs/operations.md names everything that is told: events of the log, Events in the cluster, paths."""

from __future__ import annotations

import pytest

from rescheduler.adapters.telemetry import event_texts
from rescheduler.adapters.telemetry.log_lines import detail_lines, lines_of, round_line
from rescheduler.adapters.telemetry.words import OUTCOMES, WORDS
from rescheduler.daemon.api.probes import LIVE_PATHS, METRICS_PATH, READY_PATH
from rescheduler.model.daemon.notices import LeadershipChanged, SyncChanged
from tests.builders import NOW
from tests.paths import ROOT
from tests.unit.adapters.telemetry.daemon_notices import all_notices, report

PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


def test_every_event_of_the_log_is_on_the_page() -> None:
    """By the words that one searches for."""
    more = (LeadershipChanged(NOW, False, ""), SyncChanged(NOW, "Pod", True))
    events = {line.event for notice in (*all_notices(), *more) for line in lines_of(notice)}
    events |= {round_line(report()).event} | {line.event for line in detail_lines(report())}
    events |= {f"eviction {word}" for word in WORDS}
    assert {event for event in events if f"`{event}`" not in PAGE} == set()


@pytest.mark.parametrize(
    "word",
    [
        *OUTCOMES, *LIVE_PATHS, READY_PATH, METRICS_PATH, event_texts.EVICTION_PLANNED, event_texts.NO_ROOM,
        event_texts.NO_ROOM_FOUND, event_texts.CAPACITY, event_texts.OFFERED, event_texts.HELD,
    ],
)  # fmt: skip
def test_every_word_that_people_meet_is_on_the_page(word: str) -> None:
    """Outcomes of rounds, paths, and reasons of Events."""
    assert f"`{word}`" in PAGE
