"""Waits until what a plan is made from has changed: files, or a live cluster that is watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rescheduler.composition.live.cluster_source import ClusterOptions, connected
from rescheduler.extension_points import Clock, ClusterError

LOOK_SECONDS: Final = 0.5
QUIET_SECONDS: Final = 2.0
"""So long nothing more must change: files are written in pieces, and a rollout changes pods one after another."""
LONGEST_SECONDS: Final = 15.0
"""A cluster that is never quiet is looked at all the same."""
SYNC_SECONDS: Final = 120.0


class ClusterChanges:
    """``mark`` is equal as long as nothing has changed."""

    def __init__(self, mark: Callable[[], object], clock: Clock) -> None:
        self._mark, self._clock = mark, clock
        self._seen: object = mark()

    def look(self) -> None:
        """Count from now on: what changes while somebody reads is a change."""
        self._seen = self._mark()

    def wait(self) -> None:
        """Return once something has changed and then been quiet for a moment."""
        while (last := self._mark()) == self._seen:
            self._clock.sleep(LOOK_SECONDS)
        began = quiet_since = self._clock.monotonic()
        while (now := self._clock.monotonic()) - quiet_since < QUIET_SECONDS and now - began < LONGEST_SECONDS:
            self._clock.sleep(LOOK_SECONDS)
            if (mark := self._mark()) != last:
                last, quiet_since = mark, self._clock.monotonic()


@contextmanager
def changes_of(options: ClusterOptions, files: Sequence[str], clock: Clock) -> Iterator[ClusterChanges]:
    """Changes of the recordings or of the live cluster, and of further ``files``. Raises ClusterError."""
    if options.filenames:
        yield ClusterChanges(lambda: _stamps((*options.filenames, *files)), clock)
        return
    from rescheduler.adapters.kubernetes.watch.mirror import Mirror

    mirror = Mirror(connected(options, read_only=True), clock)
    mirror.start()
    try:
        if not mirror.wait_synced(SYNC_SECONDS):
            told = "; ".join(f"{kind}: {why}" for kind, why in mirror.kinds_out_of_sync().items())
            raise ClusterError(f"the cluster cannot be watched: {told}")
        yield ClusterChanges(lambda: (mirror.generation, _stamps(files)), clock)
    finally:
        mirror.stop()


def _stamps(files: Sequence[str]) -> tuple[object, ...]:
    """Time, size and identity of each file; None for one that is not there just now, or is the name of none."""
    found: list[tuple[int, int, int] | None] = []
    for name in files:
        try:
            status = Path(name).stat()
        except OSError:
            found.append(None)
        else:
            found.append((status.st_mtime_ns, status.st_size, status.st_ino))
    return tuple(found)
