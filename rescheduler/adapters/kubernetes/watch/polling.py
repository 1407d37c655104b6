"""What is read now and then rather than watched: the server's version, and single ConfigMaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Final

from rescheduler.adapters.background import BackgroundThread
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.reading.reader import server_version
from rescheduler.adapters.kubernetes.reading.single_entries import read_config_maps
from rescheduler.adapters.kubernetes.watch.backoff import Backoff
from rescheduler.extension_points import ClusterError

POLL_SECONDS: Final = 60.0


class Polling(BackgroundThread):
    """Reads in a thread of its own. What was read stays while the server cannot be reached.

    A ConfigMap that a policy names may be read by ``get`` alone; a watch of it would need more rights.
    """

    def __init__(
        self, connection: Connection, config_maps: Sequence[str], changed: Callable[[], None], seed: int = 0
    ) -> None:
        """``config_maps`` as NAMESPACE/NAME; ``changed`` is called after each answer that differs from the last."""
        self._connection, self._keys, self._changed = connection, tuple(config_maps), changed
        self._backoff = Backoff(Random(f"{seed} polling"))  # noqa: S311 - spreads load, keeps no secret
        super().__init__(self._run, "watch-polling")
        self.version: str | None = None
        self.config_maps: Mapping[str, Mapping[str, str]] = {}
        self.has_read = False
        self.problem: ClusterError | None = None
        """Why the last reading failed."""

    def poll(self) -> float:
        """Read once; seconds until the next time. Raises nothing that the server can cause."""
        before = (self.version, self.config_maps, type(self.problem), self.has_read)
        try:
            version = server_version(self._connection)
            self.config_maps = read_config_maps(self._connection, self._keys)
        except ClusterError as error:
            self.problem, seconds = error, self._backoff.seconds()
        else:
            self.version, self.problem, self.has_read, seconds = version, None, True, POLL_SECONDS
            self._backoff.reset()
        if before != (self.version, self.config_maps, type(self.problem), self.has_read):
            self._changed()
        return seconds

    def _run(self) -> None:
        while not self.stopping.is_set():
            self.stopping.wait(self.poll())
