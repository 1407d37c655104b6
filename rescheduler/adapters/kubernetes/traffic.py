"""What a connection does round each request beside sending it: wait for its turn, time it, note what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.request_limits import RequestLimits
from rescheduler.adapters.kubernetes.request_names import request_name
from rescheduler.adapters.kubernetes.request_record import RequestRecord, SentRequest
from rescheduler.extension_points import Clock


class Sending:
    """A request on its way; whoever sends it says when its answer begins."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = clock.monotonic()
        self.status: int | None = None
        self.server_time: float | None = None
        self._answered_at: float | None = None

    def answered(self, status: int, server_time: float | None) -> None:
        """The head of the answer is there; ``server_time``: the server's clock, seconds since the epoch."""
        self.status, self.server_time, self._answered_at = status, server_time, self._clock.monotonic()

    @property
    def seconds(self) -> float:
        """Until the answer began, or until now."""
        return (self._clock.monotonic() if self._answered_at is None else self._answered_at) - self._began


class Traffic:
    """Of one connection or several. Without record and limits it does nothing."""

    def __init__(
        self, record: RequestRecord | None = None, limits: RequestLimits | None = None, clock: Clock | None = None
    ) -> None:
        self._record = record
        self._limits = limits
        self._clock = clock or SystemClock()

    def wait(self, method: str, path: str, params: Mapping[str, str] | None = None) -> None:
        """Wait until a request may be sent. To be called before whatever has to hold at the moment of sending."""
        if self._limits is not None:
            self._limits.wait(method, path, params)

    @contextmanager
    def sending(self, method: str, path: str, *, is_stream: bool = False) -> Iterator[Sending]:
        """For the time in which a request is sent and its answer, or the beginning of a stream's, is read.

        An answer that breaks off, by an exception, counts as none.
        """
        sending, failure = Sending(self._clock), ""
        try:
            yield sending
        except Exception as error:
            failure = type(error).__name__
            raise
        finally:
            if self._record is not None:
                status = None if failure else sending.status
                name = request_name(method, path, is_stream=is_stream)
                self._record.note(
                    SentRequest(name, status, sending.seconds, failure, sending.server_time, is_stream=is_stream)
                )
