"""Hears what autoscalers say: Events of cluster-autoscaler and Karpenter, the one's status, the other's NodeClaims."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any, Final

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.kinds import ObjectKind
from rescheduler.adapters.kubernetes.objects.autoscaler import (
    CLUSTER_AUTOSCALER,
    DELETING,
    KARPENTER,
    STATUS_NAME,
    STATUS_NAMESPACE,
    EventObject,
    NodeClaimObject,
    claim_notices,
    event_notice,
    is_on_its_way,
    scale_up_status,
)
from rescheduler.adapters.kubernetes.objects.config_map import ConfigMapObject
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ObjectMeta
from rescheduler.adapters.kubernetes.watch.reflector import Reflector
from rescheduler.adapters.kubernetes.watch.sink import Hear, Sink, deaf
from rescheduler.extension_points import Clock
from rescheduler.model.daemon.notices import Notice, SyncChanged
from rescheduler.model.daemon.rounds import AutoscalerNotice
from rescheduler.model.objects.resource_version import number_of

# Turn watched objects of autoscalers into news: what is said for the first time, and not what was said long ago.

Add = Callable[[AutoscalerNotice], None]
SLACK_SECONDS: Final = 30.0
"""The clock of whoever writes Events, and ours, may differ by so much."""


class EventSink:
    """Events of one autoscaler. Those that stand at the start are no news; one that is said again is."""

    def __init__(self, autoscaler: str, add: Add, clock: Clock) -> None:
        self._autoscaler, self._add, self._clock = autoscaler, add, clock
        self._known: dict[str, int] = {}
        self._horizon: float | None = None

    def replace(self, objects: Iterable[Any]) -> None:
        """The list was read anew: of those that we had not, only what is newer than all before is news."""
        before, self._known = self._known, {}
        notices = [self._noted(found, before) for found in objects if isinstance(found, EventObject)]
        heard = [notice for notice in notices if notice is not None]
        if self._horizon is None:
            self._horizon = self._clock.now() - SLACK_SECONDS
        else:
            for notice in heard:
                if notice.at > self._horizon:
                    self._add(notice)
        self._horizon = max([self._horizon, *(notice.at for notice in heard)])

    def upsert(self, found: Any) -> None:
        """An Event is new, or was said again."""
        notice = self._noted(found, self._known) if isinstance(found, EventObject) else None
        if notice is not None:
            self._add(notice)
            self._horizon = max(self._horizon or 0.0, notice.at)

    def delete(self, found: Any) -> None:
        """Events go after an hour or so."""
        self._known.pop(_key(found.metadata), None)

    def _noted(self, found: EventObject, before: Mapping[str, int]) -> AutoscalerNotice | None:
        """What an Event says, unless this or a later state of it was known."""
        key, version = _key(found.metadata), _version(found.metadata)
        is_known = before.get(key, -1) >= version
        self._known[key] = max(version, before.get(key, -1))
        return None if is_known else event_notice(found, self._autoscaler, self._clock.now())


class StatusSink:
    """The status of cluster-autoscaler: whether it scales up. A scale-up under way at the start is news."""

    def __init__(self, add: Add, clock: Clock) -> None:
        self._add, self._clock = add, clock
        self._status = ""

    def replace(self, objects: Iterable[Any]) -> None:
        """There is one or none."""
        for found in list(objects):
            self.upsert(found)

    def upsert(self, found: Any) -> None:
        """It is written every few seconds; only another word is news."""
        if not isinstance(found, ConfigMapObject) or (found.metadata or ObjectMeta()).name != STATUS_NAME:
            return
        status, since = scale_up_status(found.data or {})
        before, self._status = self._status, status
        if not status or status == before or (not before and status != "InProgress"):
            return
        now = self._clock.now()
        at = now if since is None else min(since, now)
        self._add(
            AutoscalerNotice(at, CLUSTER_AUTOSCALER, f"ScaleUp{status}", "ConfigMap", STATUS_NAMESPACE, STATUS_NAME)
        )

    def delete(self, found: Any) -> None:  # noqa: ARG002 - there is only one
        """Nothing is said any more."""
        self._status = ""


class ClaimSink:
    """NodeClaims of Karpenter: what newly holds of each. At the start, nodes that come or go are news."""

    def __init__(self, add: Add, clock: Clock) -> None:
        self._add, self._clock = add, clock
        self._said: dict[str, frozenset[str]] = {}
        self._has_read = False

    def replace(self, objects: Iterable[Any]) -> None:
        """The list was read anew."""
        claims = [found for found in objects if isinstance(found, NodeClaimObject)]
        names = {_name(found) for found in claims}
        self._said = {name: said for name, said in self._said.items() if name in names}
        for found in claims:
            self._take(found, is_news=self._has_read or is_on_its_way(found))
        self._has_read = True

    def upsert(self, found: Any) -> None:
        """A NodeClaim is new, or has changed."""
        if isinstance(found, NodeClaimObject):
            self._take(found, is_news=True)

    def delete(self, found: Any) -> None:
        """Its node is gone."""
        self._said.pop(_name(found), None)

    def _take(self, found: NodeClaimObject, *, is_news: bool) -> None:
        name, notices = _name(found), list(claim_notices(found, self._clock.now()))
        before = self._said.get(name, frozenset())
        self._said[name] = frozenset(notice.reason for notice in notices)
        for notice in notices:
            # A node that was going before we came is no target either.
            if (is_news or notice.reason == DELETING) and notice.reason not in before:
                self._add(notice)


def _key(meta: ObjectMeta | None) -> str:
    found = meta or ObjectMeta()
    return found.uid or f"{found.namespace}/{found.name}"


def _version(meta: ObjectMeta | None) -> int:
    return number_of((meta or ObjectMeta()).resource_version or "") or 0


def _name(found: Any) -> str:
    return (found.metadata or ObjectMeta()).name or ""


MOST_KEPT: Final = 10_000
"""Notices that nobody has taken yet; older ones are forgotten first."""
EVENTS: Final = ObjectKind("Event", "/api/v1/events", EventObject)
STATUS: Final = ObjectKind("ConfigMap", f"/api/v1/namespaces/{STATUS_NAMESPACE}/configmaps", ConfigMapObject)
NODE_CLAIMS: Final = ObjectKind("NodeClaim", "/apis/karpenter.sh/v1/nodeclaims", NodeClaimObject)


class AutoscalerNotices:
    """Four watches, of single components' Events and of one ConfigMap: the Events of a whole cluster never flow.

    What is not served, or not ours to see, is asked for again now and then. Methods may be called from any thread.
    """

    def __init__(
        self,
        connection: Connection,
        clock: Clock,
        *,
        hear: Hear = deaf,
        changed: Callable[[], None] = lambda: None,
        seed: int = 0,
    ) -> None:
        """Nothing is sent before ``start``. ``hear`` is told of Faults, ``changed`` is called when there is news."""
        self._lock = Lock()
        self._kept: deque[AutoscalerNotice] = deque(maxlen=MOST_KEPT)
        self._hear, self._changed = hear, changed
        watched: tuple[tuple[str, ObjectKind, Sink, dict[str, str]], ...] = (
            (CLUSTER_AUTOSCALER, EVENTS, EventSink(CLUSTER_AUTOSCALER, self._add, clock), _of(CLUSTER_AUTOSCALER)),
            (KARPENTER, EVENTS, EventSink(KARPENTER, self._add, clock), _of(KARPENTER)),
            (STATUS_NAME, STATUS, StatusSink(self._add, clock), {"fieldSelector": f"metadata.name={STATUS_NAME}"}),
            ("nodeclaims", NODE_CLAIMS, ClaimSink(self._add, clock), {}),
        )
        self._reflectors = {
            name: Reflector(connection, kind, sink, clock, params=params, hear=self._heard, seed=seed + number)
            for number, (name, kind, sink, params) in enumerate(watched)
        }

    def start(self) -> None:
        """Begin to listen."""
        for reflector in self._reflectors.values():
            reflector.start()

    def stop(self, timeout: float = 5.0) -> bool:
        """End all watches; whether their threads have ended within so many seconds each."""
        for reflector in self._reflectors.values():
            reflector.stop()
        joined = [reflector.join(timeout) for reflector in self._reflectors.values()]
        return all(joined)

    def take(self) -> tuple[AutoscalerNotice, ...]:
        """What was said since the last call, in the order in which it was heard."""
        with self._lock:
            taken = tuple(self._kept)
            self._kept.clear()
        return taken

    @property
    def has_synced(self) -> bool:
        """Whether all that is served, and ours to see, was read once."""
        return all(found.has_synced or found.problem is not None for found in self._reflectors.values())

    def problems(self) -> Mapping[str, str]:
        """What is not heard just now, and why: a kind that is not served among them."""
        return {name: str(found.problem) for name, found in self._reflectors.items() if found.problem is not None}

    def _add(self, notice: AutoscalerNotice) -> None:
        with self._lock:
            self._kept.append(notice)
        self._changed()

    def _heard(self, notice: Notice) -> None:
        """Whether there is an autoscaler at all is no matter of our health."""
        if not isinstance(notice, SyncChanged):
            self._hear(notice)


def _of(component: str) -> dict[str, str]:
    """``source`` selects by source.component, and by reportingComponent where that is empty."""
    return {"fieldSelector": f"source={component}"}
