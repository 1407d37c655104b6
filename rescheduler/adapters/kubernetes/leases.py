"""The record of who leads, in a Lease of the cluster; raw requests with short time-outs of their own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Required, TypedDict

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Connection, Response
from rescheduler.adapters.kubernetes.client.decoded_answers import decoded
from rescheduler.adapters.kubernetes.client.failures import ForbiddenError, OutcomeUnknownError, server_message
from rescheduler.adapters.kubernetes.client.paths import ensure_namespace, lease_path
from rescheduler.extension_points import ClusterError, LeaseStore
from rescheduler.model.daemon.lease import LeaseReading, LeaseRecord
from rescheduler.model.objects.annotations import MANAGED_BY, OURS

_KIND: Final = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
_KEPT: Final = ("labels", "annotations", "ownerReferences", "finalizers")
_MAY_HAVE_HAPPENED: Final = (408, 500, 502, 503, 504)


class _Metadata(TypedDict, total=False):
    resourceVersion: Required[Annotated[str, msgspec.Meta(min_length=1)]]
    uid: Required[str]
    labels: dict[str, str] | None
    annotations: dict[str, str] | None
    ownerReferences: list[dict[str, Any]] | None
    finalizers: list[str] | None


class _Lease(msgspec.Struct, gc=False):
    metadata: _Metadata
    spec: dict[str, Any] | None = None


class KubernetesLease(LeaseStore):
    """One Lease. ``timeout_seconds``: for connecting, and for each answer.

    The connection must be its own: what waits for another answer there would let the lease run out. Labels, annotations
    and fields of others stay as they are.
    """

    def __init__(self, connection: Connection, namespace: str, name: str, *, timeout_seconds: float) -> None:
        """Nothing is sent yet."""
        self._connection = connection
        self._namespace = namespace
        self._name = name
        self._path = lease_path(namespace, name)
        self._timeout = (timeout_seconds, timeout_seconds)
        self._found: _Lease | None = None

    def read(self) -> LeaseReading | None:
        """A live read; None where there is none. Raises ForbiddenError, ClusterError."""
        answer = self._send("GET", self._path)
        if answer.status == 404:
            self._found = None
            return None
        return self._reading(answer, "get")

    def create(self, record: LeaseRecord) -> LeaseReading | None:
        """Make the Lease; None if somebody else has. Raises ForbiddenError, ClusterError."""
        self._found = None
        path, body = lease_path(self._namespace), self._object(record, "")
        answer = self._send("POST", path, body)
        if answer.status == 404:  # no such namespace
            ensure_namespace(self._connection, self._namespace)
            answer = self._send("POST", path, body)
        return None if answer.status == 409 else self._reading(answer, "create")

    def update(self, record: LeaseRecord, version: str) -> LeaseReading | None:
        """Replace the record if it still is at ``version``; None if not. Raises ForbiddenError, ClusterError."""
        answer = self._send("PUT", self._path, self._object(record, version))
        return None if answer.status in (404, 409) else self._reading(answer, "update")

    def _send(self, method: str, path: str, body: Any = None) -> Response:
        answer = self._connection.send(method, path, body, timeout=self._timeout)
        if answer.status == 401:  # not carried out, so that it may be sent again
            self._connection.load_credentials()
            answer = self._connection.send(method, path, body, timeout=self._timeout)
        return answer

    def _object(self, record: LeaseRecord, version: str) -> dict[str, Any]:
        found: Mapping[str, Any] = {} if self._found is None else self._found.metadata
        metadata = {key: found[key] for key in _KEPT if found.get(key)}
        metadata["labels"] = {**(found.get("labels") or {}), MANAGED_BY: OURS}
        metadata |= {"name": self._name, "namespace": self._namespace}
        spec = {
            **((self._found.spec if self._found is not None else None) or {}),
            "holderIdentity": record.holder,
            "leaseDurationSeconds": record.duration_seconds,
            "acquireTime": micro_time(record.acquired_at),
            "renewTime": micro_time(record.renewed_at),
            "leaseTransitions": record.transitions,
        }
        if version:
            # A Lease that is gone would be made again by its update, but not under the uid of the one that was read.
            metadata |= {"resourceVersion": version, "uid": found.get("uid")}
        return {**_KIND, "metadata": metadata, "spec": spec}

    def _reading(self, answer: Response, verb: str) -> LeaseReading:
        if answer.status >= 300:
            raise self._refused(answer, verb)
        found = decoded(self._connection, f"the {verb} of {self._called}", answer.body, _Lease)
        self._found = found
        return LeaseReading(record_in(found.spec or {}), found.metadata["resourceVersion"])

    def _refused(self, answer: Response, verb: str) -> ClusterError:
        said = server_message(answer.body)
        if answer.status == 403:
            return ForbiddenError(
                f"{self._connection.server} forbids us to {verb} {self._called}, by which instances agree on the one "
                f"that acts (403 Forbidden{said}); deploy/overlays/execute/lease.yaml grants it"
            )
        if answer.status == 404:
            return ClusterError(f"{self._connection.server}: there is no namespace {self._namespace} for the lease")
        text = f"{self._connection.server} answered the {verb} of {self._called} with status {answer.status}{said}"
        return (OutcomeUnknownError if answer.status in _MAY_HAVE_HAPPENED else ClusterError)(text)

    @property
    def _called(self) -> str:
        return f"lease {self._namespace}/{self._name}"


def record_in(spec: Mapping[str, Any]) -> LeaseRecord:
    """The record of a Lease's ``spec``; a field that is missing or unreadable counts as not set."""
    holder = spec.get("holderIdentity")
    return LeaseRecord(
        holder if isinstance(holder, str) else "",
        _count(spec.get("leaseDurationSeconds")),
        _seconds(spec.get("acquireTime")),
        _seconds(spec.get("renewTime")),
        _count(spec.get("leaseTransitions")),
    )


def micro_time(seconds: float | None) -> str | None:
    """A time as the API wants it: UTC with exactly six decimals, also where they are all zero."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _seconds(text: Any) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def _count(number: Any) -> int:
    return max(number, 0) if isinstance(number, int) and not isinstance(number, bool) else 0
