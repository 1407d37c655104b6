"""A store that is opened late, and anew after a failure."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rescheduler.adapters.files.sqlite.reopening_usage_store import ReopeningUsageStore
from rescheduler.extension_points import StoreError, UsageStore
from rescheduler.model.usage.samples import NodeSamples, no_samples


class Opened(UsageStore):
    """A store that fails when it is told to."""

    def __init__(self, log: list[str]) -> None:
        self.log = log
        self.is_failing = False
        log.append("open")

    def append(self, samples: NodeSamples) -> None:
        """Keep, or fail."""
        if self.is_failing:
            raise StoreError("disk full")
        self.log.append("append")

    def restore(self, since: float) -> Sequence[NodeSamples]:
        """Nothing."""
        return ()

    def close(self) -> None:
        """Note it."""
        self.log.append("close")


def test_it_is_opened_when_it_is_needed_and_anew_after_a_failure() -> None:
    """The failure itself is passed on, and the file let go of."""
    log: list[str] = []
    made: list[Opened] = []

    def opened() -> UsageStore:
        made.append(Opened(log))
        return made[-1]

    store, samples = ReopeningUsageStore(opened), no_samples(("a",), 1.0)
    store.close()
    assert log == []
    assert store.restore(0.0) == ()
    store.append(samples)
    made[0].is_failing = True
    with pytest.raises(StoreError, match="disk full"):
        store.append(samples)
    store.append(samples)
    store.close()
    assert log == ["open", "append", "close", "open", "append", "close"]


def test_one_that_cannot_be_opened_is_tried_again() -> None:
    """Each time anew."""
    attempts: list[int] = []

    def failing() -> UsageStore:
        attempts.append(1)
        raise StoreError("in use by another process")

    store = ReopeningUsageStore(failing)
    for _ in range(2):
        with pytest.raises(StoreError, match="another process"):
            store.restore(0.0)
    assert len(attempts) == 2
