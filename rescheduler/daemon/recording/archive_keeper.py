"""Keeps the archive of a daemon from a thread of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rescheduler.adapters.background import BackgroundThread
from rescheduler.adapters.files.sqlite.history_store import history_path
from rescheduler.composition.archiving.recording import ArchiveSettings, Recorder
from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.extension_points import Clock, ReschedulerError
from rescheduler.policy.fields.daemon.archive import ArchivePolicy
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.errors import PolicyError

LOOK_SECONDS: Final = 1.0
END_SECONDS: Final = 2.0

Record = Callable[[ArchiveSettings, Policy], None]
"""Adds a live cluster to an archive, and prunes it. Raises ReschedulerError, PolicyError, OSError."""


class ArchiveKeeper:
    """Records under the policy in force, while ``leads``.

    What goes wrong is told once for as long as it lasts, a disk may be full for days, and tried again the next time.
    """

    def __init__(
        self,
        where: ClusterOptions,
        policy: Callable[[], Policy],
        leads: Callable[[], bool],
        clock: Clock,
        tell: Callable[[str], None],
        *,
        record: Record | None = None,
    ) -> None:
        self._where = where
        self._policy = policy
        self._leads = leads
        self._clock = clock
        self._tell = tell
        self._record = record or self._recorded
        self._begun_at: float | None = None
        self._said: set[str] = set()
        self._said_before: set[str] = set()
        self._thread = BackgroundThread(self._run, "archive")

    def start(self) -> None:
        """Record from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Record no more; one that is under way is not waited for long: a file of it that is not whole is no harm."""
        self._thread.stop()
        self._thread.join(END_SECONDS)

    def look(self) -> None:
        """Record if it is time. Never raises."""
        policy = self._policy()
        archive, now = policy.archive, self._clock.monotonic()
        is_due = archive is not None and (self._begun_at is None or now - self._begun_at >= archive.every)
        if archive is None or not is_due or not self._leads():
            return
        self._begun_at = now
        self._said_before, self._said = self._said, set()
        try:
            self._record(settings_of(archive), policy)
        except (ReschedulerError, PolicyError, OSError, ValueError, MemoryError) as error:
            self._say(f"archive: no snapshot was kept: {error}")

    def _say(self, text: str) -> None:
        """Tell it unless it was told the last time too."""
        self._said.add(text)
        if text not in self._said_before:
            self._tell(text)

    def _run(self) -> None:
        while not self._thread.stopping.wait(LOOK_SECONDS):
            self.look()

    def _recorded(self, settings: ArchiveSettings, policy: Policy) -> None:
        recorder = Recorder(settings, self._clock)
        recorder.add_live(self._where, policy, lambda text: self._say(f"archive: {text}"))
        recorder.prune()


def settings_of(archive: ArchivePolicy) -> ArchiveSettings:
    """What a policy says, its folder put where it belongs. Raises StoreError without a state folder."""
    path = Path(archive.path)
    folder = path if path.is_absolute() else history_path(os.environ).parent / path
    return ArchiveSettings(str(folder), archive.keep, archive.max_size)
