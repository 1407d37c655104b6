"""Proves that the mirror shows a part of the cluster as it stood a moment ago: a watch that is silent proves nothing.

The server is asked to stream that part anew, which ends in a bookmark: all of it at one version, no older than the
question. Either the mirror has come to that version already, or each object of the part has the same version there.
Once a watch has come to such a version, all of its kind is proven as of that question: of a kind of which much changes
one stream a second is enough, whatever part it showed. Where very much is to be proven the watch is given time for that
first, since pods that a large plan rests on are on hundreds of nodes.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from threading import Lock
from typing import Final, NamedTuple

from rescheduler.adapters.background import in_background
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.paths import object_path
from rescheduler.adapters.kubernetes.eviction.live_pods import selector_text
from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME
from rescheduler.adapters.kubernetes.objects.assembly import CLUSTER_WIDE
from rescheduler.adapters.kubernetes.objects.decoding.decode import BrokenTextError, ObjectError, decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ObjectMeta
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
from rescheduler.adapters.kubernetes.watch.watched_scope import Key, WatchedScope
from rescheduler.extension_points import Clock, ClusterError
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.resource_version import number_of

FRESH_SECONDS: Final = 1.0
"""A proof that began no longer ago than this holds for whoever else asks."""
ANSWER_SECONDS: Final = 2
"""So long the stream may be silent, and takes in all."""
CATCH_UP_SECONDS: Final = 0.5
"""So long the mirror is given to hear what the stream has shown."""
ENDING_SECONDS: Final = 0.3
"""After the time that was given to a stream it has ended."""
FEW: Final = 50
"""Of so many objects little is told until then, and they are told at once."""
FEW_SECONDS: Final = 1
LOOK_SECONDS: Final = 0.01
MOST_REMEMBERED: Final = 1000
MOST_MARKS: Final = 50
MOST_TOGETHER: Final = 100
"""So many nodes are asked for by one stream: their names stand in the address of a request."""
MOST_STREAMS: Final = 200
"""Whoever rests on more parts is better served by one list of everything."""
MUCH: Final = 1000
"""Objects to be streamed of one kind from which on its watch is waited for, if need be, before they are."""
STREAM_COSTS: Final = 20
"""A stream counts as so many objects besides."""
_HOSTNAME: Final = "kubernetes.io/hostname"


class StaleMirrorError(ClusterError):
    """The mirror does not show what the server shows."""


class Shown(NamedTuple):
    """A part of the cluster at one version: versions of its objects by namespace and name."""

    versions: Mapping[Key, str]
    version: str


def shown_by(connection: Connection, scope: WatchedScope, seconds: int = ANSWER_SECONDS) -> Shown:
    """A part of the cluster as the server streams it, no older than the question, within so many seconds.

    Raises ForbiddenError, InvalidRequestError where it does not stream lists, ClusterError.
    """
    path = object_path(KIND_BY_NAME[scope.kind].path, scope.namespace)
    params = {
        "watch": "1", "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true", "timeoutSeconds": str(seconds),
    }  # fmt: skip
    if scope.field_selector:
        params["fieldSelector"] = scope.field_selector
    if scope.labels is not None and scope.labels.requirements:
        params["labelSelector"] = selector_text(scope.labels)
    try:
        stream = connection.stream(path, params, read_timeout=float(ANSWER_SECONDS))
        with stream, closing(iter(stream)) as lines:
            shown = _read(lines, scope.kind, f"{connection.server}: {path}")
            if len(shown.versions) <= FEW:
                connection.let_end(stream, seconds + ENDING_SECONDS)
            return shown
    except (BrokenTextError, ObjectError) as error:
        raise ClusterError(f"{connection.server}: the stream of {path} cannot be read: {error}") from error


def _read(stream: Iterable[bytes], kind: str, what: str) -> Shown:
    """The lines up to the bookmark that ends the list. Raises ClusterError where it does not come."""
    found: dict[Key, str] = {}
    for line in stream:
        event = watch_line(line)
        if event.type == ERROR:
            raise error_of(event.object, what)
        if event.type == BOOKMARK:
            mark = bookmark(event.object)
            if mark.is_end_of_list:
                return Shown(found, mark.version)
            continue
        meta = decode(event.object, Marked).metadata or ObjectMeta()
        key = "" if kind in CLUSTER_WIDE else meta.namespace or "default", meta.name or ""
        if event.type == DELETED:
            found.pop(key, None)
        else:
            found[key] = meta.resource_version or ""
    raise ClusterError(f"{what}: the stream ended before it was whole")


class _SeenVersion(NamedTuple):
    """What the server showed of one kind: it had come to ``version`` when it was asked, at ``began``."""

    began: float
    version: int


class _Proof(NamedTuple):
    """One stream, and the parts that it proves."""

    asked: WatchedScope
    proves: tuple[WatchedScope, ...]


class Freshness:
    """Proves scopes, those of one call side by side. For any number of threads."""

    def __init__(self, connection: Connection, mirror: Mirror, clock: Clock) -> None:
        self._connection, self._mirror, self._clock = connection, mirror, clock
        self._lock = Lock()
        self._proven_at: dict[WatchedScope, float] = {}
        self._marks: dict[str, deque[_SeenVersion]] = defaultdict(lambda: deque(maxlen=MOST_MARKS))

    def prove(self, scopes: Sequence[WatchedScope], within: float = FRESH_SECONDS) -> float:
        """How much older than the question what the mirror shows of these scopes may be: ``within`` seconds at most.

        The time that proofs take does not count. Raises StaleMirrorError where the mirror shows something else,
        ClusterError where the server does not answer, or too much would have to be asked for.
        """
        now = self._clock.monotonic()
        known = {scope: self._known_at(scope) for scope in scopes}
        open_scopes = [scope for scope, at in known.items() if now - at > within]
        questions = self._questions(open_scopes)
        if large := self._of_large_kinds(questions):
            _all_done([partial(self._prove_kind, question) for question in large])
            questions = self._questions([scope for scope in open_scopes if self._known_at(scope) < now])
        if len(questions) > MOST_STREAMS:
            raise ClusterError(f"{len(questions)} parts would have to be proven, {MOST_STREAMS} at most")
        _all_done([partial(self._prove, question) for question in questions])
        oldest = min((at for at in known.values() if now - at <= within), default=now)
        return now - min(oldest, now)

    def _known_at(self, scope: WatchedScope) -> float:
        """As of when a part is proven: by itself, or with all of its kind.

        The whole kind is by its list, and by a watch that has told of a version which the server had not reached, or
        had just reached, when it was asked for any part of the kind.
        """
        told = self._told(scope.kind)
        with self._lock:
            marks = [mark.began for mark in self._marks[scope.kind] if told is not None and told >= mark.version]
            listed_at = self._mirror.reflectors[scope.kind].listed_at
            return max(self._proven_at.get(scope, float("-inf")), listed_at, *marks)

    def _told(self, kind: str) -> int | None:
        """The version up to which a watch has told all of its kind; None: of none that can be compared."""
        return number_of(self._mirror.reflectors[kind].version or "")

    def _questions(self, scopes: Sequence[WatchedScope]) -> list[_Proof]:
        """Nodes by name are asked for together, by the label that the mirror knows them to carry."""
        nodes = self._mirror.stores["Node"]
        found, named = [], []
        for scope in scopes:
            is_named = scope.kind == "Node" and bool(scope.name)
            if is_named and nodes.versions_in(scope._replace(labels=_by_hostname([scope.name]))):
                named.append(scope)
            else:
                found.append(_Proof(scope, (scope,)))
        for start in range(0, len(named), MOST_TOGETHER):
            part = tuple(named[start : start + MOST_TOGETHER])
            asked = part[0] if len(part) == 1 else WatchedScope("Node", labels=_by_hostname([one.name for one in part]))
            found.append(_Proof(asked, part))
        return found

    def _of_large_kinds(self, questions: Iterable[_Proof]) -> list[_Proof]:
        """Of each kind of which much would be streamed the question that is answered with the least."""
        of_kind: dict[str, list[_Proof]] = defaultdict(list)
        for question in questions:
            of_kind[question.asked.kind].append(question)
        large = []
        for kind, found in of_kind.items():
            if len(found) > 1:  # where there is one question, one stream answers it
                costs = [STREAM_COSTS + len(self._mirror.stores[kind].versions_in(one.asked)) for one in found]
                large += [found[costs.index(min(costs))]] if sum(costs) > MUCH else []
        return large

    def _prove_kind(self, question: _Proof) -> None:
        """Prove one part, and give the watch time to come to that version: then all of the kind is proven."""
        version, kind = self._prove(question), question.asked.kind

        def lag() -> str | None:
            told = self._told(kind)
            return None if version is None or (told is not None and told >= version) else "behind"

        left_after_catching_up(self._clock, lag)

    def _prove(self, question: _Proof) -> int | None:
        """Prove some parts by one stream; to which version the server had come. Raises ClusterError."""
        began, scope = self._clock.monotonic(), question.asked
        is_small = len(self._mirror.stores[scope.kind].versions_in(scope)) <= FEW
        shown = shown_by(self._connection, scope, FEW_SECONDS if is_small else ANSWER_SECONDS)
        difference = left_after_catching_up(self._clock, lambda: self._difference(scope, shown))
        if difference is not None:
            raise StaleMirrorError(f"{self._connection.server}: the watch of {scope.kind} lags behind: {difference}")
        with self._lock:
            if len(self._proven_at) >= MOST_REMEMBERED:
                self._proven_at.clear()
            self._proven_at.update(dict.fromkeys(question.proves, began))
            version = number_of(shown.version)
            if version is not None:
                self._marks[scope.kind].append(_SeenVersion(began, version))
            return version

    def _difference(self, scope: WatchedScope, shown: Shown) -> str | None:
        """What the mirror shows otherwise; None: nothing, or it is newer."""
        told, wanted = self._told(scope.kind), number_of(shown.version)
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


def _all_done(tasks: Iterable[Callable[[], object]]) -> None:
    """Do them side by side. Raises what one of them raises."""
    for task in [in_background(one, "freshness") for one in tasks]:
        task.result()


def left_after_catching_up(clock: Clock, difference: Callable[[], str | None]) -> str | None:
    """What the watch shows otherwise even when it was given time to hear; None: nothing any more."""
    began = clock.monotonic()
    while (left := difference()) is not None and clock.monotonic() - began <= CATCH_UP_SECONDS:
        clock.sleep(LOOK_SECONDS)
    return left


def _by_hostname(names: Sequence[str]) -> LabelSelector:
    return LabelSelector((Requirement(_HOSTNAME, "In", tuple(names)),))
