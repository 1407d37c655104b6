"""What one process knows of the lease: when it saw the last change, what it wrote, and whether it may take it."""

from __future__ import annotations

from collections import deque
from math import ceil
from typing import Final

from rescheduler.model.daemon.lease import LeaseReading, LeaseRecord
from rescheduler.policy.fields.daemon.leader_election import LONGEST_LEASE_SECONDS
from rescheduler.policy.fields.values import format_duration

_MICROSECOND: Final = 1e-6
MOST_DOUBTS: Final = 100
_NEVER_READ: Final = "\0"


class LeaseWatch:
    """Times are those of the clock that never jumps. ``version``: of the record as it was seen last; "": there is none.

    A write of ours whose answer was lost may have taken effect; it is recognised by what stands in the record.
    """

    def __init__(self, identity: str, lease_seconds: float) -> None:
        self._identity = identity
        self._lease_seconds = lease_seconds
        self._record: LeaseRecord | None = None
        self._version = _NEVER_READ
        self._own_version = _NEVER_READ
        self._seen_at = 0.0
        self._in_doubt: deque[LeaseRecord] = deque(maxlen=MOST_DOUBTS)

    @property
    def version(self) -> str:
        """What a write has to be given; "" where there is no record."""
        return "" if self._version == _NEVER_READ else self._version

    @property
    def is_ours(self) -> bool:
        """Whether what was seen last is what we wrote."""
        return self._version != _NEVER_READ and self._version == self._own_version

    @property
    def holds(self) -> bool:
        """Whether the record names us."""
        return self._record is not None and self._record.holder == self._identity

    @property
    def is_anothers(self) -> bool:
        """Whether the record names somebody else: whoever wrote that, we lead no more."""
        return self._record is not None and self._record.holder not in ("", self._identity)

    @property
    def is_missing(self) -> bool:
        """Whether there is no record."""
        return self._record is None

    @property
    def holder(self) -> str:
        """Who stands in the record."""
        return "" if self._record is None else self._record.holder

    @property
    def transitions(self) -> int:
        """How often the holder has changed."""
        return 0 if self._record is None else self._record.transitions

    @property
    def free_at(self) -> float:
        """When the record has not changed for so long that its holder cannot lead any more."""
        told = 0.0 if self._record is None else min(float(self._record.duration_seconds), LONGEST_LEASE_SECONDS)
        return self._seen_at + max(self._lease_seconds, told)

    def see(self, found: LeaseReading | None, now: float) -> None:
        """Take what was read, ``now`` being after the answer."""
        version = "" if found is None else found.version
        if version != self._version:
            self._seen_at = now
        self._version = version
        self._record = None if found is None else found.record
        if self.is_anothers:
            self._in_doubt.clear()  # a write of ours that is still on its way comes too late to succeed

    def written(self, found: LeaseReading, now: float) -> None:
        """Take what we wrote."""
        self.see(found, now)
        self._own_version = found.version
        self._in_doubt.clear()

    def sends(self, record: LeaseRecord) -> None:
        """A record is about to be written."""
        self._in_doubt.append(record)

    def was_refused(self) -> None:
        """The record that was sent last was not written, which is certain."""
        self._in_doubt.pop()

    def may_take(self, now: float, *, is_leader: bool) -> str | None:
        """How it comes that the lease may be written, in words; None: it may not.

        A lease that names us is ours only if we wrote it or may have; a person can write anybody's name.
        """
        record = self._record
        if is_leader and not self.is_anothers:
            return "the lease was gone" if record is None else "somebody else wrote to the lease"
        if record is None:
            return None  # there may have been one since we looked last
        if record.is_released:
            return "nobody held the lease"
        if self.is_ours or any(_is_same(record, sent) for sent in self._in_doubt):
            return "renewed again"
        if now < self.free_at:
            return None
        waited = format_duration(float(round(now - self._seen_at)))
        if not record.holder:
            return f"nobody has held the lease for {waited}"
        return f"{record.holder} has not renewed the lease for {waited}"

    def record_of_nobody(self) -> LeaseRecord:
        """What is written where there is no record: from its version on the wait can be counted."""
        return LeaseRecord("", ceil(self._lease_seconds))

    def record_of_ours(self, now: float) -> LeaseRecord:
        """What we write. Its time differs from what stands there: others see a renewal by nothing else."""
        record = self._record
        before = None if record is None else record.renewed_at
        if before is not None and abs(before - now) < _MICROSECOND:
            now = before + 2 * _MICROSECOND
        acquired_at, transitions = now, 0
        if record is not None:
            is_new = not self.holds and record.acquired_at is not None
            transitions = record.transitions + is_new
            acquired_at = record.acquired_at or now if self.holds else now
        return LeaseRecord(self._identity, ceil(self._lease_seconds), acquired_at, now, transitions)


def _is_same(found: LeaseRecord, sent: LeaseRecord) -> bool:
    """Whether a record is one that we sent; times are kept to a millionth of a second."""
    if found.renewed_at is None or sent.renewed_at is None:
        return False
    is_same = (found.holder, found.transitions) == (sent.holder, sent.transitions)
    return is_same and abs(found.renewed_at - sent.renewed_at) < 2 * _MICROSECOND
