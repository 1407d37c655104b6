"""A daemon's archive: when something is recorded, under which policy, and that nothing of it can end the daemon."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.composition.archiving.recording import ArchiveSettings
from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.daemon.plugins import parse_policy
from rescheduler.daemon.recording.archive_keeper import ArchiveKeeper, settings_of
from rescheduler.extension_points import SnapshotError
from rescheduler.policy.fields.daemon.archive import ArchivePolicy
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.errors import PolicyError
from tests.unit.policy.policies import HEAD


class Records:
    """Notes what would be recorded, and fails where it is told to."""

    def __init__(self) -> None:
        self.asked: list[ArchiveSettings] = []
        self.error: Exception | None = None

    def __call__(self, settings: ArchiveSettings, policy: Policy) -> None:
        """Note it."""
        self.asked.append(settings)
        if self.error is not None:
            raise self.error


def keeper(
    policy: Policy, records: Records, clock: SimulatedClock, told: list[str], *, leads: bool = True
) -> ArchiveKeeper:
    """One that records nothing in truth."""
    return ArchiveKeeper(ClusterOptions(), lambda: policy, lambda: leads, clock, told.append, record=records)


def test_a_snapshot_every_so_often(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the state folder, from the first moment on."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    clock, records = SimulatedClock(), Records()
    found = keeper(parse_policy(HEAD + "archive: {every: 5m, keep: 2d, maxSize: 1Gi}\n"), records, clock, [])
    for _ in range(601):
        found.look()
        clock.sleep(1.0)
    assert records.asked == [ArchiveSettings(str(tmp_path / "rescheduler" / "archive"), 172800.0, 2**30)] * 3


@pytest.mark.parametrize(("body", "leads"), [("", True), ("archive: {}\n", False)])
def test_nothing_is_kept_unasked_or_by_who_does_not_lead(body: str, leads: bool) -> None:
    """Two processes beside each other would record everything twice."""
    records = Records()
    keeper(parse_policy(HEAD + body), records, SimulatedClock(), [], leads=leads).look()
    assert records.asked == []


@pytest.mark.parametrize("error", [SnapshotError("No space left on device"), OSError(28, "No space left on device")])
def test_a_full_disk_is_told_once_and_the_next_time_is_tried_again(error: Exception) -> None:
    """It stops recording, never the daemon."""
    clock, records, told = SimulatedClock(), Records(), list[str]()
    records.error = error
    found = keeper(parse_policy(HEAD + "archive: {path: /somewhere}\n"), records, clock, told)
    for _ in range(3):
        found.look()
        clock.sleep(300.0)
    assert len(records.asked) == 3
    assert told == ["archive: no snapshot was kept: " + str(error)]


def test_a_disk_that_is_full_again_is_told_again() -> None:
    """Whoever reads the log sees when something began to be missing."""
    clock, records, told = SimulatedClock(), Records(), list[str]()
    found = keeper(parse_policy(HEAD + "archive: {path: /somewhere}\n"), records, clock, told)
    for error in (None, SnapshotError("full"), SnapshotError("full"), None, None, SnapshotError("full")):
        records.error = error
        found.look()
        clock.sleep(300.0)
    assert told == ["archive: no snapshot was kept: full"] * 2


def test_a_whole_path_is_taken_as_it_is() -> None:
    """Such as a volume of its own."""
    assert settings_of(ArchivePolicy(path="/data/archive")) == ArchiveSettings("/data/archive", 2592000.0, 10 * 2**30)


@pytest.mark.parametrize(
    "body", ["archive: {keep: 0d}", "archive: {maxSize: much}", "archive: {every: 0s}", "archive: {paths: x}"]
)
def test_wrong_fields_are_told(body: str) -> None:
    """As everywhere in a policy."""
    with pytest.raises(PolicyError, match="archive"):
        parse_policy(HEAD + body + "\n")
