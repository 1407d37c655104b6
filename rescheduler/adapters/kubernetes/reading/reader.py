"""Takes a snapshot of a live cluster, kind by kind, page by page."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import ForbiddenError, NotServedError, PagesExpiredError
from rescheduler.adapters.kubernetes.kinds import DISPENSABLE, KIND_BY_NAME, KINDS, REQUIRED, SELDOM_SERVED, ObjectKind
from rescheduler.adapters.kubernetes.objects.cluster import ClusterBuilder
from rescheduler.adapters.kubernetes.objects.decoding.decode import BrokenTextError, ObjectError
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ApiStruct
from rescheduler.adapters.kubernetes.objects.decoding.pages import ObjectDecoding
from rescheduler.extension_points import Clock, ClusterError, ClusterReader, Progress, no_progress
from rescheduler.model.objects.cluster import Cluster


class _Version(ApiStruct):
    git_version: str | None = None


class LiveReader(ClusterReader):
    """Reads everything that a cycle decides on; an object that cannot be read is set aside, and costs nobody else.

    Each kind is read as one consistent list; kinds that the server does not serve are left out. The server's own
    clock says when the snapshot was taken, since it also wrote the times in it: when the reading began, not when its
    first answer came.
    """

    def __init__(
        self,
        connection: Connection,
        progress: Progress = no_progress,
        clock: Clock | None = None,
        kinds: Sequence[ObjectKind] = KINDS,
        *,
        with_details: bool = False,
    ) -> None:
        """``clock`` stands in where the server does not tell its time; ``kinds``: to read these only.

        ``with_details``: keep ``Cluster.pod_details``.
        """
        self._with_details = with_details
        self._connection = connection
        self._progress = progress
        self._clock = clock or SystemClock()
        self._kinds = kinds

    def read(self) -> Cluster:
        """Take a snapshot. Raises ClusterError naming the kind, or the object and field, that stands in the way."""
        builder = ClusterBuilder(with_details=self._with_details)
        began = _Beginning(self._connection, self._clock)
        version = server_version(self._connection)
        began.note()
        for name in KIND_BY_NAME.keys() - {kind.name for kind in self._kinds}:
            builder.leave_out(name)
        for kind in self._kinds:
            self._read_kind(kind, builder)
            began.note()
        try:
            return builder.build(taken_at=began.server_time(), source=self._connection.server, server_version=version)
        except ObjectError as error:
            raise ClusterError(f"{self._connection.server}: {error}") from error

    def _read_kind(self, kind: ObjectKind, builder: ClusterBuilder) -> None:
        """Read one list; once more from its start if it expired on the way."""
        for is_last_try in (False, True):
            try:
                self._read_pages(kind, builder)
            except PagesExpiredError as error:
                if is_last_try:
                    raise ClusterError(f"{error}; it changes faster than it can be read") from error
                builder.forget(kind.name)
            except ForbiddenError as error:
                if kind.name not in DISPENSABLE:
                    raise
                if kind.name in SELDOM_SERVED:
                    builder.leave_out(kind.name)
                else:
                    builder.warn(f"{DISPENSABLE[kind.name]}: {error}")
                return
            except NotServedError:
                if kind.name in REQUIRED:
                    raise
                return
            else:
                return

    def _read_pages(self, kind: ObjectKind, builder: ClusterBuilder) -> None:
        step = f"reading {kind.path.rpartition('/')[2]}"
        decoding = ObjectDecoding(kind, _told_by_the_snapshot)
        try:
            for page in self._connection.pages(kind.path):
                for found in decoding.page(page):
                    builder.add_or_set_aside(kind.name, found)
                self._progress(step, builder.count(kind.name))
        except BrokenTextError as error:
            raise ClusterError(
                f"{self._connection.server}: the answer to GET {kind.path} is not valid JSON: {error}; "
                "was it cut off on its way?"
            ) from error
        except ObjectError as error:
            raise ClusterError(f"{self._connection.server}: GET {kind.path}: {error}") from error


class _Beginning:
    """When a reading began, by the server's clock.

    An answer tells a time at which it was on its way: the server's clock shows that or more when it is here, and the
    answer for which that is the most was on its way for the shortest time. So a slow answer puts nothing off: one who
    reckons the server's time by this and his own would be ahead by it, and take replacements for older than the
    evictions that they are for.
    """

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection, self._clock = connection, clock
        self._began = clock.monotonic()
        self._now = clock.now()
        self._ahead: float | None = None

    def note(self) -> None:
        """An answer has just come."""
        told = self._connection.server_time
        if told is not None:
            ahead = told - self._clock.monotonic()
            self._ahead = ahead if self._ahead is None else max(self._ahead, ahead)

    def server_time(self) -> float:
        """Seconds since the epoch; ours where the server does not tell."""
        return self._now if self._ahead is None else self._began + self._ahead


def _told_by_the_snapshot(_: str) -> None:
    """What cannot be read is among the snapshot's own warnings."""


def server_version(connection: Connection) -> str | None:
    """``v1.36.3``, as the server says. Raises ClusterError when it cannot be reached."""
    try:
        return msgspec.json.decode(connection.get("/version"), type=_Version).git_version
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, NotServedError):
        return None
