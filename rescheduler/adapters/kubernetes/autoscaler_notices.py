"""Hears what autoscalers say: Events of cluster-autoscaler and Karpenter, the one's status, the other's NodeClaims."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Final

from rescheduler.adapters.kubernetes.autoscaler_sinks import ClaimSink, EventSink, StatusSink
from rescheduler.adapters.kubernetes.connection import Connection
from rescheduler.adapters.kubernetes.conversion.autoscaler import (
    CLUSTER_AUTOSCALER,
    KARPENTER,
    STATUS_NAME,
    STATUS_NAMESPACE,
)
from rescheduler.adapters.kubernetes.decoding.autoscaler import EventObject, NodeClaimObject
from rescheduler.adapters.kubernetes.decoding.config_map import ConfigMapObject
from rescheduler.adapters.kubernetes.kinds import Kind
from rescheduler.adapters.kubernetes.watching.reflector import Reflector
from rescheduler.adapters.kubernetes.watching.sink import Hear, Sink, deaf
from rescheduler.extension_points import Clock
from rescheduler.model.notices import Notice, SyncChanged
from rescheduler.model.occasions import AutoscalerNotice

MOST_KEPT: Final = 10_000
"""Notices that nobody has taken yet; older ones are forgotten first."""
EVENTS: Final = Kind("Event", "/api/v1/events", EventObject)
STATUS: Final = Kind("ConfigMap", f"/api/v1/namespaces/{STATUS_NAMESPACE}/configmaps", ConfigMapObject)
NODE_CLAIMS: Final = Kind("NodeClaim", "/apis/karpenter.sh/v1/nodeclaims", NodeClaimObject)


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
        watched: tuple[tuple[str, Kind, Sink, dict[str, str]], ...] = (
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
