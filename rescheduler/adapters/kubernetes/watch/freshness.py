"""Proves that the mirror shows a part of the cluster as it stood a moment ago: a watch that is silent proves nothing.

The server is asked to stream that part anew, which ends in a bookmark: all of it at one version, no older than the
question. Either the mirror has come to that version already, or each object of the part has the same version there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Final, NamedTuple

from rescheduler.adapters.background import in_background
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.paths import object_path
from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME
from rescheduler.adapters.kubernetes.objects.assembly import CLUSTER_WIDE
from rescheduler.adapters.kubernetes.objects.decoding.decode import BrokenTextError, ObjectError, decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ObjectMeta
from rescheduler.adapters.kubernetes.watch.kind_store import Key, WatchedScope
from rescheduler.adapters.kubernetes.watch.mirror import Mirror
from rescheduler.adapters.kubernetes.watch.versions import is_older
from rescheduler.adapters.kubernetes.watch.watch_lines import (
    BOOKMARK,
    DELETED,
    ERROR,
    Marked,
    bookmark,
    error_of,
    watch_line,
)
from rescheduler.extension_points import Clock, ClusterError
from rescheduler.model.objects.resource_version import number_of

FRESH_SECONDS: Final = 1.0
"""A proof that began no longer ago than this holds for whoever else asks."""
ANSWER_SECONDS: Final = 2.0
"""So long the stream may be silent."""
CATCH_UP_SECONDS: Final = 0.5
"""So long the mirror is given to hear what the stream has shown."""
LOOK_SECONDS: Final = 0.01
MOST_REMEMBERED: Final = 1000


class StaleMirrorError(ClusterError):
    """The mirror does not show what the server shows."""


class _Shown(NamedTuple):
    """A part of the cluster at one version: versions of its objects by namespace and name."""

    versions: Mapping[Key, str]
    version: str


class Freshness:
    """Proves scopes, those of one call side by side. For any number of threads."""

    def __init__(self, connection: Connection, mirror: Mirror, clock: Clock) -> None:
        self._connection, self._mirror, self._clock = connection, mirror, clock
        self._lock = Lock()
        self._proven_at: dict[WatchedScope, float] = {}

    def prove(self, scopes: Sequence[WatchedScope], within: float = FRESH_SECONDS) -> float:
        """How old, in seconds, what the mirror shows of these scopes may be: no more than ``within`` when it was asked.

        Raises StaleMirrorError where it shows something else, ClusterError where the server does not answer.
        """
        now = self._clock.monotonic()
        with self._lock:
            known = {scope: self._proven_at.get(scope, float("-inf")) for scope in scopes}
        open_scopes = [scope for scope, at in known.items() if now - at > within]
        for proof in [in_background(partial(self._prove, scope), "freshness") for scope in open_scopes]:
            proof.result()
        oldest = min((at for scope, at in known.items() if scope not in open_scopes), default=now)
        return self._clock.monotonic() - min(oldest, now)

    def _prove(self, scope: WatchedScope) -> None:
        began = self._clock.monotonic()
        shown = self._shown(scope)
        asked_at = self._clock.monotonic()
        while (difference := self._difference(scope, shown)) is not None:
            if self._clock.monotonic() - asked_at > CATCH_UP_SECONDS:
                raise StaleMirrorError(
                    f"{self._connection.server}: the watch of {scope.kind} lags behind: {difference}"
                )
            self._clock.sleep(LOOK_SECONDS)
        with self._lock:
            if len(self._proven_at) >= MOST_REMEMBERED:
                self._proven_at.clear()
            self._proven_at[scope] = began

    def _shown(self, scope: WatchedScope) -> _Shown:
        """What the server shows. Raises ClusterError."""
        path = object_path(KIND_BY_NAME[scope.kind].path, scope.namespace)
        params = {
            "watch": "1", "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan",
            "allowWatchBookmarks": "true", "timeoutSeconds": f"{ANSWER_SECONDS:.0f}",
        }  # fmt: skip
        if scope.field_selector:
            params["fieldSelector"] = scope.field_selector
        found: dict[Key, str] = {}
        try:
            with self._connection.stream(path, params, read_timeout=ANSWER_SECONDS) as stream:
                for line in stream:
                    event = watch_line(line)
                    if event.type == ERROR:
                        raise error_of(event.object, f"{self._connection.server}: {path}")
                    if event.type == BOOKMARK:
                        mark = bookmark(event.object)
                        if mark.is_end_of_list:
                            return _Shown(found, mark.version)
                        continue
                    meta = decode(event.object, Marked).metadata or ObjectMeta()
                    key = "" if scope.kind in CLUSTER_WIDE else meta.namespace or "default", meta.name or ""
                    if event.type == DELETED:
                        found.pop(key, None)
                    else:
                        found[key] = meta.resource_version or ""
        except (BrokenTextError, ObjectError) as error:
            raise ClusterError(f"{self._connection.server}: the stream of {path} cannot be read: {error}") from error
        raise ClusterError(f"{self._connection.server}: the stream of {path} ended before it was whole")

    def _difference(self, scope: WatchedScope, shown: _Shown) -> str | None:
        """What the mirror shows otherwise; None: nothing, or it is newer."""
        version = self._mirror.reflectors[scope.kind].version
        told, wanted = number_of(version or ""), number_of(shown.version)
        if told is not None and wanted is not None and told >= wanted:
            return None
        store = self._mirror.stores[scope.kind]
        for key, one in shown.versions.items():
            ours = store.version_of(key)
            if ours is None or (ours != one and not is_older(one, ours)):
                return f"{'/'.join(filter(None, key))} is of version {one}, here of {ours or 'none'}"
        for key, ours in store.versions_in(scope).items():
            if key not in shown.versions and not is_older(shown.version, ours):
                return f"{'/'.join(filter(None, key))} is not there any more, here of version {ours}"
        return None
