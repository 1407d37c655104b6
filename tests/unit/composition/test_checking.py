"""What ``check`` finds out about valid policies."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from rescheduler.composition.checking import check_files
from rescheduler.daemon.plugins import PLUGINS
from tests.clocks import FakeClock
from tests.unit.policy.policies import HEAD

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp()


def test_the_next_openings_of_each_window_are_found(tmp_path: Path) -> None:
    """By the clock that is handed in: three of each window, in UTC and in its own time zone."""
    file = tmp_path / "p.yaml"
    file.write_text(
        HEAD + "disruption: {budgets: [{name: a, schedule: '0 22 * * *', duration: 8h, timeZone: Europe/Berlin}]}"
    )
    (sentence,) = check_files([str(file)], PLUGINS, FakeClock(NOON)).openings
    assert sentence.endswith(
        "opens next at 2026-06-01 20:00 UTC (22:00 Europe/Berlin), 2026-06-02 20:00 UTC (22:00 Europe/Berlin), "
        "2026-06-03 20:00 UTC (22:00 Europe/Berlin)"
    )


def test_policies_without_windows_have_no_openings(tmp_path: Path) -> None:
    """Nothing is said where there is nothing to say."""
    file = tmp_path / "p.yaml"
    file.write_text(HEAD)
    assert check_files([str(file)], PLUGINS, FakeClock(NOON)).openings == ()


def test_the_next_times_of_cron_schedules_are_told(tmp_path: Path) -> None:
    """As those of windows are; intervals begin with the daemon, so they have none."""
    file = tmp_path / "p.yaml"
    cron = "{name: Schedule, args: {cron: '30 22 * * 0', timeZone: Europe/Berlin}}"
    file.write_text(HEAD + f"triggers: [{cron}, {{name: Schedule}}]")
    (sentence,) = check_files([str(file)], PLUGINS, FakeClock(NOON)).openings
    assert sentence == (
        "the schedule 30 22 * * 0 (Europe/Berlin) asks for rounds next at 2026-06-07 20:30 UTC (22:30 Europe/Berlin), "
        "2026-06-14 20:30 UTC (22:30 Europe/Berlin), 2026-06-21 20:30 UTC (22:30 Europe/Berlin)"
    )
