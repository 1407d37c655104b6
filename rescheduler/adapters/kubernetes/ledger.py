"""The ledger in a ConfigMap of the cluster that it is about, written by compare-and-swap on its resourceVersion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from rescheduler.adapters.kubernetes.client.connection import Connection, Response
from rescheduler.adapters.kubernetes.client.failures import (
    ForbiddenError,
    NotServedError,
    OutcomeUnknownError,
    refusal,
    server_message,
)
from rescheduler.adapters.kubernetes.client.paths import config_map_path, ensure_namespace, namespace_path
from rescheduler.adapters.kubernetes.guidance.placeholders import EXPIRES_ANNOTATION, PLAN_LABEL, expiry
from rescheduler.extension_points import ClusterError, LedgerDeniedError, LedgerReading, LedgerStore
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Breaker, Ledger
from rescheduler.model.objects.annotations import MANAGED_BY, OURS
from rescheduler.model.printable import shortened
from rescheduler.model.times import read_time

# What an operator says to the ledger by annotations: the circuit breaker is closed by hand, a plan is approved.

CLOSED_ANNOTATION: Final = "rescheduler.dev/breaker-closed"
"""When an operator closed the breaker, RFC 3339: what went wrong before is forgiven."""
APPROVED_ANNOTATION: Final = "rescheduler.dev/approved"
"""The number of the plan that an operator says yes to, where the policy's mode is Approve."""
LONGEST_NUMBER: Final = 64


def approved_plan(annotations: Mapping[str, str]) -> str:
    """The number of the plan that was approved; "" where there is none, or where it is none of ours by its length."""
    found = annotations.get(APPROVED_ANNOTATION, "").strip()
    return found if len(found) <= LONGEST_NUMBER else ""


def with_marks(ledger: Ledger, annotations: Mapping[str, str], now: float | None) -> Ledger:
    """The ledger with the breaker closed if it opened before the annotation says; a time to come counts as ``now``.

    A text that is no time says nothing: the breaker stays open, and everything that it stops says so.
    """
    closed_at = read_time(annotations.get(CLOSED_ANNOTATION))
    if closed_at is None:
        return ledger
    closed_at = closed_at if now is None else min(closed_at, now)
    opened_at = ledger.breaker.opened_at
    if closed_at <= ledger.breaker.since or (opened_at is not None and opened_at > closed_at):
        return ledger
    return replace(ledger, breaker=Breaker(since=closed_at))


# The ledger as text in a ConfigMap, and what to say of a text that is none.

DATA_KEY: Final = "ledger.json"
FORMAT_KEY: Final = "format"
FORMAT: Final = "1"
LATEST_TIME: Final = 1e11
"""Seconds since the epoch that no eviction was sent at: about the year 5138."""


def write_ledger(ledger: Ledger) -> str:
    """The ledger as JSON."""
    return msgspec.json.encode(ledger).decode()


def read_ledger(data: Mapping[str, str], called: str, repair: str) -> Ledger:
    """The ledger from a ConfigMap's data. Raises ClusterError that says what was found and how to repair it.

    ``called``: the ConfigMap in words; ``repair``: the command that removes it.
    """
    found = data.get(FORMAT_KEY, FORMAT)
    if found != FORMAT:
        raise ClusterError(
            f"{called} is of form {shortened(found, 20)!r}, wanted {FORMAT!r}: another version of rescheduler wrote "
            "it; use that one, or name another ConfigMap in the policy (ledger.name)"
        )
    try:
        ledger = msgspec.json.decode(data[DATA_KEY], type=Ledger)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _unusable(called, str(error), repair) from error
    fault = next(_faults(ledger), None)
    if fault is not None:
        raise _unusable(called, fault, repair)
    return ledger


def _faults(ledger: Ledger) -> Iterator[str]:
    numbers = [entry.number for entry in ledger.entries]
    if numbers != sorted(set(numbers)) or (numbers and numbers[-1] >= ledger.next_entry):
        yield "the numbers of its entries are not in order"
    if ledger.plan < 0:
        yield f"plan is {ledger.plan}"
    for entry in ledger.entries:
        times = (entry.at, entry.ended_at or 0.0, entry.closed_at or 0.0)
        if not all(0.0 <= time < LATEST_TIME for time in times):
            yield f"entry {entry.number} has a time that is none"
        if not entry.pod.uid or not entry.pod.name:
            yield f"entry {entry.number} names no pod"


def _unusable(called: str, found: str, repair: str) -> ClusterError:
    return ClusterError(
        f"{called} holds no ledger that can be read: {shortened(found, 200)}; nothing is evicted without it. "
        f"Put back what stood there, or, if no eviction is under way, remove it: {repair}"
    )


STOP_ANNOTATION: Final = "rescheduler.dev/stop"
"""On the ConfigMap or its namespace: while it is there, nothing is evicted; its value is told as the reason."""
_MAY_HAVE_HAPPENED: Final = (408, 500, 502, 503, 504)


class _Metadata(msgspec.Struct, gc=False, rename="camel"):
    resource_version: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Object(msgspec.Struct, gc=False, rename="camel"):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    data: dict[str, str] | None = None
    binary_data: dict[str, str] | None = None


class ConfigMapLedger(LedgerStore):
    """One ConfigMap. ``keep_seconds``: how long after its last eviction it says that it may be removed.

    Labels and annotations of others stay as they are.
    """

    def __init__(self, connection: Connection, namespace: str, name: str, *, keep_seconds: float) -> None:
        """Nothing is sent yet."""
        self._connection = connection
        self._namespace = namespace
        self._name = name
        self._keep_seconds = keep_seconds
        self._path = config_map_path(namespace, name)
        self._found = _Metadata()

    def read(self) -> LedgerReading:
        """A live read. Raises LedgerDeniedError where we may not, ClusterError for anything that is no ledger."""
        found = self._get(self._path, "get")
        self._found = found.metadata if found is not None else _Metadata()
        ledger = EMPTY_LEDGER if found is None else self._ledger_in(found)
        marks = self._found.annotations or {}
        ledger = with_marks(ledger, marks, self._connection.server_time)
        return LedgerReading(ledger, self._found.resource_version, self._stop(found), approved_plan(marks))

    def write(self, ledger: Ledger, version: str) -> str | None:
        """Replace the ledger if it still is at ``version`` ("": if there is none yet); None if it is not.

        Raises LedgerDeniedError, OutcomeUnknownError where it may have been written, ClusterError.
        """
        if version:
            answer = self._connection.send("PUT", self._path, self._object(ledger, version))
        else:
            answer = self._create(ledger)
        if answer.status in (404, 409):
            return None
        self._check(answer, "update" if version else "create")
        found = self._decoded(answer.body)
        self._found = found.metadata
        return found.metadata.resource_version

    def _create(self, ledger: Ledger) -> Response:
        path = config_map_path(self._namespace, "")
        answer = self._connection.send("POST", path, self._object(ledger, ""))
        if answer.status == 404:
            ensure_namespace(self._connection, self._namespace)
            answer = self._connection.send("POST", path, self._object(ledger, ""))
            if answer.status == 404:
                raise refusal(self._connection.server, "", "POST", path, answer.status, answer.body)
        return answer

    def _object(self, ledger: Ledger, version: str) -> dict[str, Any]:
        latest = max((entry.at for entry in ledger.entries), default=0.0)
        own = {PLAN_LABEL: str(ledger.plan), EXPIRES_ANNOTATION: expiry(latest, self._keep_seconds)}
        found = self._found
        metadata = {
            "name": self._name,
            "namespace": self._namespace,
            "labels": {**(found.labels or {}), MANAGED_BY: OURS},
            "annotations": {**(found.annotations or {}), **own},
            **({"resourceVersion": version} if version else {}),
        }
        data = {FORMAT_KEY: FORMAT, DATA_KEY: write_ledger(ledger)}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}

    def _check(self, answer: Response, verb: str) -> None:
        if answer.status < 300:
            return
        said = server_message(answer.body)
        if answer.status == 403:
            raise LedgerDeniedError(self._denied(verb, said))
        text = f"{self._connection.server} answered the {verb} of {self._called} with status {answer.status}{said}"
        if answer.status in _MAY_HAVE_HAPPENED:
            raise OutcomeUnknownError(text)
        raise ClusterError(text)

    def _get(self, path: str, verb: str) -> _Object | None:
        try:
            return self._decoded(self._connection.get(path))
        except NotServedError:
            return None
        except ForbiddenError as error:
            raise LedgerDeniedError(self._denied(verb, "")) from error

    def _decoded(self, body: bytes) -> _Object:
        try:
            return msgspec.json.decode(body, type=_Object)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ClusterError(
                f"{self._connection.server} answered with {self._called} in a form that cannot be read: {error}"
            ) from error

    def _ledger_in(self, found: _Object) -> Ledger:
        data: Mapping[str, str] = found.data or {}
        if DATA_KEY in data:
            return read_ledger(data, self._called, self._repair)
        is_ours = (found.metadata.labels or {}).get(MANAGED_BY) == OURS
        if (data or found.binary_data) and not is_ours:
            keys = ", ".join(shortened(key, 40) for key in sorted([*data, *(found.binary_data or {})])[:5])
            raise ClusterError(
                f"{self._called} is not ours: found the keys {keys}, wanted {DATA_KEY}; name another one in the policy "
                "(ledger.name)"
            )
        return EMPTY_LEDGER

    def _stop(self, config_map: _Object | None) -> str | None:
        """The mark on the ConfigMap, or on its namespace as far as we may look at that."""
        marks = [config_map.metadata.annotations] if config_map is not None else []
        try:
            namespace = self._get(namespace_path(self._namespace), "get")
            marks += [namespace.metadata.annotations] if namespace is not None else []
        except LedgerDeniedError:
            pass
        told = [found[STOP_ANNOTATION] for found in marks if found is not None and STOP_ANNOTATION in found]
        return shortened(told[0], 300) or "no reason is given" if told else None

    def _denied(self, verb: str, said: str) -> str:
        return (
            f"{self._connection.server} forbids us to {verb} {self._called}, in which evictions are written down "
            f"(403 Forbidden{said}); deploy/rbac.yaml grants it: {verb} configmaps in namespace {self._namespace}"
        )

    @property
    def _called(self) -> str:
        return f"ConfigMap {self._namespace}/{self._name}"

    @property
    def _repair(self) -> str:
        return f"kubectl -n {self._namespace} delete configmap {self._name}"
