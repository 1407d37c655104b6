"""A copy of the cluster that follows its changes, and hands out snapshots without asking the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Condition
from typing import Final

from rescheduler.adapters.background import BackgroundThread
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import ForbiddenError, NotServedError
from rescheduler.adapters.kubernetes.kinds import DISPENSABLE, KIND_BY_NAME, KINDS, REQUIRED, SELDOM_SERVED, ObjectKind
from rescheduler.adapters.kubernetes.objects.assembly import AssemblyWarnings, assembled, with_classes
from rescheduler.adapters.kubernetes.objects.decoding.decode import ObjectError
from rescheduler.adapters.kubernetes.objects.decoding.metadata import SharedMetadata
from rescheduler.adapters.kubernetes.watch.kind_store import KindState, KindStore
from rescheduler.adapters.kubernetes.watch.list_and_watch import WatchSettings
from rescheduler.adapters.kubernetes.watch.polling import Polling
from rescheduler.adapters.kubernetes.watch.reflector import Reflector
from rescheduler.adapters.kubernetes.watch.server_clock import ServerClock
from rescheduler.adapters.kubernetes.watch.sink import Hear, deaf
from rescheduler.adapters.kubernetes.watch.urgency import is_urgent
from rescheduler.extension_points import Clock, ClusterError, ClusterReader
from rescheduler.model.daemon.notices import Notice
from rescheduler.model.objects.cluster import Cluster

MIRROR_SETTINGS: Final = WatchSettings(watch_seconds=(35.0, 50.0), keeps_unreadable=True)
"""Where nothing changes a watch is silent, and whether anybody is still there is found out when it begins anew: so that
each kind is known to be no older than 50 s. It goes on where it stopped, which costs one small request."""
_POLLED: Final = "version and ConfigMaps"


class Mirror(ClusterReader):
    """One watch for each kind, whatever the cluster's size. Methods may be called from any thread."""

    def __init__(
        self,
        connection: Connection,
        clock: Clock,
        *,
        kinds: Sequence[ObjectKind] = KINDS,
        config_maps: Sequence[str] = (),
        hear: Hear = deaf,
        stirred: Callable[[], None] = lambda: None,
        settings: WatchSettings = MIRROR_SETTINGS,
        seed: int = 0,
    ) -> None:
        """Nothing is sent before ``start``. ``config_maps`` (NAMESPACE/NAME) are read now and then.

        ``hear`` is told of SyncChanged and Fault, in threads of the mirror, where also ``stirred`` is called: something
        has changed that is worth a look at once.
        """
        self._connection, self._kinds, self._clock, self._hear = connection, tuple(kinds), clock, hear
        self._stirred = stirred
        self._changed = Condition()
        self._generation = 0
        self._never_there: set[str] = set()
        self._server_clock = ServerClock(clock)
        shared = SharedMetadata()
        self.stores = {
            kind.name: KindStore(kind.name, self._changed, self._touch, shared, self._noted) for kind in kinds
        }
        self.reflectors = {
            kind.name: Reflector(
                connection, kind, self.stores[kind.name], clock, hear=self._heard, settings=settings,
                server_clock=self._server_clock, seed=seed,
            )
            for kind in kinds
        }  # fmt: skip
        self.polling = Polling(connection, config_maps, self._touch, seed)

    def start(self) -> None:
        """Begin to read and to watch."""
        self.polling.start()
        for reflector in self.reflectors.values():
            reflector.start()

    def stop(self, timeout: float = 5.0) -> bool:
        """End all watches; whether all threads have ended within ``timeout`` seconds."""
        parts: list[BackgroundThread] = [*self.reflectors.values(), self.polling]
        for part in parts:
            part.stop()
        deadline = self._clock.monotonic() + timeout
        waited = [part.join(max(0.0, deadline - self._clock.monotonic())) for part in parts]
        return all(waited)

    @property
    def generation(self) -> int:
        """Grows with every change."""
        return self._generation

    @property
    def has_synced(self) -> bool:
        """Whether snapshots can be taken: every kind has been read, or may be missing."""
        return not self._lacking()

    def wait_synced(self, timeout: float) -> bool:
        """Wait until ``has_synced``, at most so many seconds; whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: self.has_synced, timeout)

    def age_seconds(self) -> float:
        """Time since the server has told something of that kind, be it that there is nothing new, which is oldest.

        Infinite before everything has been read. Kinds that may be missing, and are, do not count.
        """
        if not self.has_synced:
            return float("inf")
        return max((found.age_seconds() for found in self.reflectors.values() if found.has_synced), default=0.0)

    def renew(self, seconds: float) -> None:
        """Begin those watches anew that have told nothing for so long; ``age_seconds`` shows when they have begun."""
        for reflector in self.reflectors.values():
            if reflector.has_synced and reflector.age_seconds() > seconds:
                reflector.renew()

    def kinds_out_of_sync(self) -> Mapping[str, str]:
        """Kinds that are not being followed just now, with the reason. An interrupted watch is among them."""
        found = {
            kind: _why(reflector.problem)
            for kind, reflector in self.reflectors.items()
            if not _is_dispensed(kind, reflector.problem) and (reflector.problem or not reflector.has_synced)
        }
        if self.polling.problem or not self.polling.has_read:
            found[_POLLED] = _why(self.polling.problem)
        return found

    def read(self) -> Cluster:
        """The same as ``snapshot``."""
        return self.snapshot()

    def snapshot(self) -> Cluster:
        """The cluster as the watches have told it so far; what is not known anew is as before.

        Raises ClusterError before everything has been read. An object that cannot be read is set aside.
        """
        lacking = self._lacking()
        if lacking:
            told = "; ".join(f"{name}: {why}" for name, why in lacking.items())
            raise ClusterError(f"{self._connection.server}: not everything has been read yet: {told}")
        try:
            with self._changed:
                states = {kind: store.state() for kind, store in self.stores.items()}
            return self._assembled(states)
        except ObjectError as error:
            raise ClusterError(f"{self._connection.server}: {error}") from error

    def _assembled(self, states: Mapping[str, KindState]) -> Cluster:
        warnings = AssemblyWarnings()
        denied = {kind: found.problem for kind, found in self.reflectors.items() if _is_denied(kind, found.problem)}
        for kind, state in states.items():
            told = kind in denied and kind not in SELDOM_SERVED
            texts = (f"{DISPENSABLE[kind]}: {denied[kind]}",) if told else state.warnings
            for text in texts:
                warnings.add(text)
        pods, classes = states.get("Pod", KindState()), states.get("PriorityClass", KindState())
        objects = {kind: state.objects for kind, state in states.items()}
        objects["Pod"] = with_classes(pods.objects, pods.without_priority, classes.objects, warnings)
        return assembled(
            objects,
            pods.pod_facts,
            warnings,
            tuple(item for state in states.values() for item in state.aside),
            taken_at=self._server_clock.now(),
            source=self._connection.server,
            server_version=self.polling.version,
            config_maps=self.polling.config_maps,
            absent_kinds=(frozenset(KIND_BY_NAME) - self.stores.keys()) | (frozenset(denied) & SELDOM_SERVED),
        )

    def _lacking(self) -> dict[str, str]:
        """What has never been read, or not since it was taken away from us, with the reason.

        A kind that few servers have, and this one had not, is not missed while the server cannot be reached.
        """
        missing = {kind: found.problem for kind, found in self.reflectors.items() if not found.has_synced}
        dispensed = {kind for kind, problem in missing.items() if _is_dispensed(kind, problem)}
        self._never_there |= dispensed & SELDOM_SERVED
        dispensed |= self._never_there
        found = {kind: _why(problem) for kind, problem in missing.items() if kind not in dispensed}
        if not self.polling.has_read:
            found[_POLLED] = _why(self.polling.problem)
        return found

    def _touch(self) -> None:
        with self._changed:
            self._generation += 1
            self._changed.notify_all()

    def _noted(self, before: object, found: object) -> None:
        if is_urgent(before, found):
            self._stirred()

    def _heard(self, notice: Notice) -> None:
        self._touch()
        self._hear(notice)


def _is_dispensed(kind: str, problem: ClusterError | None) -> bool:
    """Whether a kind that cannot be read need not be."""
    return (isinstance(problem, NotServedError) and kind not in REQUIRED) or _is_denied(kind, problem)


def _is_denied(kind: str, problem: ClusterError | None) -> bool:
    return isinstance(problem, ForbiddenError) and kind in DISPENSABLE


def _why(problem: ClusterError | None) -> str:
    return "no answer yet" if problem is None else str(problem)
