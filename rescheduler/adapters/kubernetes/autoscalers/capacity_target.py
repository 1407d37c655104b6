"""Asks an autoscaler for room, and marks nodes that it may take away; all of it expires, and is found again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rescheduler.adapters.kubernetes.autoscalers.capacity_objects import (
    COLLECTIONS,
    OUR_REQUESTS,
    PLACEHOLDERS,
    PRIORITY_CLASS,
    TEMPLATES,
    Collection,
    objects_for,
    standing_request,
)
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.decoded_answers import served_resources
from rescheduler.adapters.kubernetes.client.failures import ForbiddenError, NotServedError, refusal
from rescheduler.adapters.kubernetes.client.paths import ensure_namespace
from rescheduler.adapters.kubernetes.guidance.emptied_marks import mark, unmark
from rescheduler.adapters.kubernetes.guidance.guidance_support import why_no_holds
from rescheduler.adapters.kubernetes.guidance.hold_jobs import delete, list_all
from rescheduler.adapters.kubernetes.guidance.holds import HoldKeeper
from rescheduler.adapters.kubernetes.rights.parts import CHANGE_NODES
from rescheduler.adapters.kubernetes.rights.rights import missing
from rescheduler.extension_points import CapacityTarget, Clock, HoldRequest
from rescheduler.model.daemon.capacity import ANNOTATE, HOLD, TAINT, CapacityRequest, StandingRequest

GRANTED_BY: Final = "deploy/autoscaler.yaml"
_CLASSES: Final = "/apis/scheduling.k8s.io/v1/priorityclasses"


class KubernetesCapacity(CapacityTarget):
    """What is asked for stands in one namespace. ``clock``: wall time, from which deadlines count."""

    def __init__(self, connection: Connection, namespace: str, clock: Clock) -> None:
        self._connection = connection
        self._namespace = namespace
        self._clock = clock
        self._possible: set[str] = set()
        self._holds = HoldKeeper(connection, namespace, clock)

    def cannot(self, how: str) -> str | None:
        """Why a way is not to be had here; asked until it is. Raises ClusterError."""
        if how in self._possible:
            return None
        if how == HOLD:
            reason = why_no_holds(self._connection, self._namespace)
        else:
            reason = self._nodes_closed() if how in (ANNOTATE, TAINT) else self._unavailable(how)
        if reason is None:
            self._possible.add(how)
        return reason

    def ask(self, request: CapacityRequest) -> None:
        """Make all objects of a request; what stands already is fine. Raises ClusterError."""
        ensure_namespace(self._connection, self._namespace)
        for collection, body in objects_for(request, self._namespace, self._clock.now()):
            path = collection.path(self._namespace)
            answer = self._connection.send("POST", path, body)
            if answer.status >= 300 and answer.status != 409:
                raise refusal(self._connection.server, "", "POST", path, answer.status, answer.body)

    def standing(self, how: str) -> Sequence[StandingRequest]:
        """Requests of one way, each once. Raises ClusterError."""
        items = _all(self._connection, COLLECTIONS[how], self._namespace)
        found = {request.name: request for request in (standing_request(how, item) for item in items)}
        return tuple(found.values())

    def withdraw(self, how: str, names: Sequence[str]) -> None:
        """Delete all objects of these requests. Raises ClusterError."""
        wanted = frozenset(names)
        for collection in (COLLECTIONS[how], *(() if how == PLACEHOLDERS else (TEMPLATES,))):
            for item in _all(self._connection, collection, self._namespace):
                if standing_request(how, item).name in wanted:
                    delete(self._connection, collection.path(self._namespace, str(item["metadata"]["name"])))

    def offer(self, nodes: Sequence[str], how: str, until: float) -> None:
        """Mark nodes as emptied. Raises ClusterError."""
        for name in nodes:
            mark(self._connection, name, how, until)

    def hold(self, requests: Sequence[HoldRequest]) -> None:
        """Make placeholders on emptied nodes. Raises ClusterError."""
        self._holds.hold(requests)

    def renew(self, requests: Sequence[HoldRequest]) -> Sequence[str]:
        """Give them their whole deadline again; the names of those that are gone. Raises ClusterError."""
        return self._holds.renew(requests)

    def release(self, names: Sequence[str]) -> None:
        """Remove placeholders; others are fine. Raises ClusterError."""
        self._holds.release(names)

    def take_back(self, nodes: Sequence[str]) -> None:
        """Take both marks off nodes. Raises ClusterError."""
        for name in nodes:
            unmark(self._connection, name)

    def _nodes_closed(self) -> str | None:
        lacking = missing(self._connection, CHANGE_NODES, "")
        return f"we may not {', '.join(right.text for right in lacking)}; {GRANTED_BY} grants it" if lacking else None

    def _unavailable(self, how: str) -> str | None:
        collection = COLLECTIONS[how]
        if how == PLACEHOLDERS and not self._has_class():
            return f"there is no PriorityClass {PRIORITY_CLASS}; {GRANTED_BY} brings it"
        if not is_served(self._connection, collection):
            return f"the API server does not serve {collection.resource} of {collection.version}"
        needed = collection.rights if how == PLACEHOLDERS else (*collection.rights, *TEMPLATES.rights)
        lacking = [right.text for right in missing(self._connection, needed, self._namespace)]
        if lacking:
            return f"we may not {', '.join(lacking)} (namespace {self._namespace}); {GRANTED_BY} grants it"
        return None

    def _has_class(self) -> bool:
        try:
            self._connection.get(f"{_CLASSES}/{PRIORITY_CLASS}")
        except NotServedError:
            return False
        return True


def find_requests(connection: Connection, namespace: str) -> list[tuple[Collection, str]]:
    """All objects of all requests, by kind and name, what refers to others first. Raises ClusterError."""
    served = [collection for collection in COLLECTIONS.values() if is_served(connection, collection)]
    templates = (TEMPLATES,) if len(served) > 1 else ()  # placeholders alone have none
    return [
        (collection, str(item["metadata"]["name"]))
        for collection in (*served, *templates)
        for item in _all(connection, collection, namespace)
    ]


def is_served(connection: Connection, collection: Collection) -> bool:
    """Whether the API server knows a kind, which everybody may ask. Raises ClusterError."""
    path = "/api/v1" if collection.version == "v1" else f"/apis/{collection.version}"
    try:
        return collection.resource in served_resources(connection, path)
    except NotServedError:
        return False


def _all(connection: Connection, collection: Collection, namespace: str) -> list[dict[str, Any]]:
    """None where the kind is not served, or not ours to see: then we have made none."""
    try:
        return list_all(connection, collection.path(namespace), OUR_REQUESTS)
    except (NotServedError, ForbiddenError):
        return []
