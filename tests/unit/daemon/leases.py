"""A lease in memory that fails as a real one may, and processes whose clocks go at rates of their own."""

from __future__ import annotations

from collections.abc import Callable

from rescheduler.extension_points import ClusterError, LeaseStore
from rescheduler.model.daemon.lease import LeaseReading, LeaseRecord


class FakeLease(LeaseStore):
    """One object. ``fault``: of the next request: "" none, "before" or "after" it takes effect the answer is lost,
    or it takes effect "late", when it ``lands``. ``before`` and ``meanwhile`` are called round its effect.
    """

    def __init__(self) -> None:
        self.record: LeaseRecord | None = None
        self.version = 0
        self.fault = ""
        self.late: list[Callable[[], object]] = []
        self.before: Callable[[], None] = lambda: None
        self.meanwhile: Callable[[], None] = lambda: None
        self.requests: list[str] = []

    def read(self) -> LeaseReading | None:
        """The record as it stands."""
        return self._asked("read", self._found)

    def create(self, record: LeaseRecord) -> LeaseReading | None:
        """Make it, unless it is there."""
        return self._asked("create", lambda: None if self.record is not None else self.put(record))

    def update(self, record: LeaseRecord, version: str) -> LeaseReading | None:
        """Replace it if nobody else has."""

        def act() -> LeaseReading | None:  # judged when it takes effect, not when it is sent
            return self.put(record) if self.record is not None and version == str(self.version) else None

        return self._asked("update", act)

    def put(self, record: LeaseRecord | None) -> LeaseReading | None:
        """Write as anybody may: a process, or a person."""
        if record != self.record:
            self.version += 1
        self.record = record
        return self._found()

    def lands(self) -> None:
        """A request that was given up takes effect at last, if it still may."""
        if self.late:
            self.late.pop(0)()

    def _found(self) -> LeaseReading | None:
        return None if self.record is None else LeaseReading(self.record, str(self.version))

    def _asked(self, what: str, act: Callable[[], LeaseReading | None]) -> LeaseReading | None:
        self.requests.append(what)
        fault, self.fault = self.fault, ""
        if fault == "before":
            raise ClusterError("no answer")
        if fault == "late":
            self.late.append(act)
            raise ClusterError("no answer")
        self.before()
        found = act()
        self.meanwhile()
        if fault == "after":
            raise ClusterError("no answer")
        return found


class OwnClock:
    """A process's clocks: true time, at a rate of its own, from a start of its own; the wall clock can be set."""

    def __init__(self, true_time: Callable[[], float], rate: float = 1.0, start: float = 0.0) -> None:
        self.offset = 1_700_000_000.0
        self._true_time = true_time
        self.rate = rate
        self._start = start

    def now(self) -> float:
        """What the machine's clock says."""
        return self.monotonic() + self.offset

    def monotonic(self) -> float:
        """Seconds since some moment."""
        return self._start + self._true_time() * self.rate

    def sleep(self, seconds: float) -> None:
        """Nobody here waits."""
        raise AssertionError(seconds)
