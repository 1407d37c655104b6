"""The Lease as an API server holds it: times, compare-and-swap, what others wrote into it, and refusals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.client.failures import ForbiddenError, OutcomeUnknownError
from rescheduler.adapters.kubernetes.leases import KubernetesLease, micro_time, record_in
from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.lease import LeaseReading, LeaseRecord
from tests.unit.adapters.fake_api_server import Answer, FakeApiServer, Request, answer, serving, status

PATH = "/apis/coordination.k8s.io/v1/namespaces/ours/leases"
RECORD = LeaseRecord("me", 15, 1_777_629_600.0, 1_777_629_600.25, 3)
FOUND: dict[str, Any] = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {
        "name": "one", "namespace": "ours", "uid": "u", "resourceVersion": "7", "labels": {"team": "a"},
        "annotations": {"note": "b"}, "managedFields": [{"manager": "x"}], "creationTimestamp": "2026-05-01T10:00:00Z",
    },
    "spec": {
        "holderIdentity": "other", "leaseDurationSeconds": 20, "acquireTime": "2026-05-01T10:00:00.000000Z",
        "renewTime": "2026-05-01T10:00:00.250000Z", "leaseTransitions": 4, "strategy": "OldestEmulationVersion",
    },
}  # fmt: skip


@contextmanager
def lease(tmp_path: Path, *answers: Answer) -> Iterator[tuple[KubernetesLease, FakeApiServer]]:
    """A lease on a server that gives these answers, the last of them again and again."""
    left = list(answers)

    def handle(_: Request) -> Answer:
        return left.pop(0) if len(left) > 1 else left[0]

    with serving(handle) as server:
        connection = connect(server.kubeconfig(tmp_path), read_only=False)
        yield KubernetesLease(connection, "ours", "one", timeout_seconds=1.0), server


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1_777_629_600.0, "2026-05-01T10:00:00.000000Z"),
        (1_777_629_600.25, "2026-05-01T10:00:00.250000Z"),
        (1_777_629_600.000001, "2026-05-01T10:00:00.000001Z"),
        (0.0, "1970-01-01T00:00:00.000000Z"),
    ],
)
def test_times_have_exactly_six_decimals(seconds: float, text: str) -> None:
    """Anything else is refused by the server."""
    assert micro_time(seconds) == text


def test_reads_the_record_and_its_version(tmp_path: Path) -> None:
    """All that stands there."""
    with lease(tmp_path, answer(FOUND)) as (found, server):
        record = LeaseRecord("other", 20, 1_777_629_600.0, 1_777_629_600.25, 4)
        assert found.read() == LeaseReading(record, "7")
    assert [(request.method, request.path) for request in server.requests] == [("GET", f"{PATH}/one")]


def test_a_lease_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    """It is made where it is missing."""
    with lease(tmp_path, status(404, "not found"), answer(FOUND)) as (found, server):
        assert found.read() is None
        assert found.create(RECORD) is not None
    request = server.requests[1]
    assert (request.method, request.path) == ("POST", PATH)
    body = json.loads(request.body)
    assert "resourceVersion" not in body["metadata"]
    assert body["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "rescheduler"}
    assert body["spec"] == {
        "holderIdentity": "me", "leaseDurationSeconds": 15, "acquireTime": "2026-05-01T10:00:00.000000Z",
        "renewTime": "2026-05-01T10:00:00.250000Z", "leaseTransitions": 3,
    }  # fmt: skip


def test_what_others_wrote_into_it_stays(tmp_path: Path) -> None:
    """Labels, notes and fields of a newer API are sent back; what the server keeps itself is not."""
    with lease(tmp_path, answer(FOUND)) as (found, server):
        found.read()
        found.update(RECORD, "7")
    body = json.loads(server.requests[1].body)
    assert body["metadata"]["labels"] == {"team": "a", "app.kubernetes.io/managed-by": "rescheduler"}
    assert body["metadata"]["annotations"] == {"note": "b"}
    assert (body["metadata"]["resourceVersion"], body["metadata"]["uid"]) == ("7", "u")
    assert "managedFields" not in body["metadata"]
    assert body["spec"]["strategy"] == "OldestEmulationVersion"
    assert body["spec"]["holderIdentity"] == "me"


@pytest.mark.parametrize("code", [404, 409])
def test_who_is_too_late_is_told_so(tmp_path: Path, code: int) -> None:
    """Another version, or gone: no error, and nothing was written."""
    with lease(tmp_path, status(code, "no")) as (found, _):
        assert found.update(RECORD, "7") is None
    with lease(tmp_path, status(409, "already exists")) as (found, _):
        assert found.create(RECORD) is None


def test_a_missing_namespace_is_made_where_we_may(tmp_path: Path) -> None:
    """As for the ledger: a first try has not applied deploy/ yet."""
    missing = status(404, 'namespaces "ours" not found')
    with lease(tmp_path, missing, missing, answer({}), answer(FOUND)) as (found, server):
        assert found.create(RECORD) is not None
    assert [(request.method, request.path) for request in server.requests] == [
        ("POST", PATH), ("GET", "/api/v1/namespaces/ours"), ("POST", "/api/v1/namespaces"), ("POST", PATH)
    ]  # fmt: skip


def test_a_forbidden_lease_names_what_grants_it(tmp_path: Path) -> None:
    """Verb, lease and file."""
    with lease(tmp_path, status(403, 'User "x" cannot update')) as (found, _):
        with pytest.raises(ForbiddenError, match="forbids us to update lease ours/one") as caught:
            found.update(RECORD, "7")
        assert "lease.yaml grants it" in str(caught.value)
        with pytest.raises(ForbiddenError, match="get"):
            found.read()


def test_a_refused_form_is_told_in_the_servers_words(tmp_path: Path) -> None:
    """422, as for a time without six decimals."""
    with lease(tmp_path, status(422, "spec.renewTime: bad")) as (found, _), pytest.raises(ClusterError) as caught:
        found.update(RECORD, "7")
    assert "status 422: spec.renewTime: bad" in str(caught.value)
    assert not isinstance(caught.value, OutcomeUnknownError)


@pytest.mark.parametrize("code", [408, 500, 502, 503, 504])
def test_after_a_failure_of_the_server_nobody_knows(tmp_path: Path, code: int) -> None:
    """It may have been written."""
    with lease(tmp_path, status(code, "busy")) as (found, _), pytest.raises(OutcomeUnknownError):
        found.update(RECORD, "7")


def test_a_token_that_has_run_out_is_read_again(tmp_path: Path) -> None:
    """Nothing was done with the old one, so that the request may be repeated, once."""
    with lease(tmp_path, status(401, "Unauthorized"), answer(FOUND)) as (found, server):
        assert found.update(RECORD, "7") is not None
    assert len(server.requests) == 2
    with lease(tmp_path, status(401, "Unauthorized")) as (found, server), pytest.raises(ClusterError, match="401"):
        found.update(RECORD, "7")
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"{}", b'{"metadata": {}}', b'{"metadata": {"resourceVersion": "", "uid": "u"}}',
     b'{"metadata": {"resourceVersion": 7, "uid": "u"}}',
     b'{"metadata": {"resourceVersion": "7"}}', b'{"metadata": {"resourceVersion": "7", "uid": "u"}, "spec": []}',
     b"\xff"],
)  # fmt: skip
def test_what_is_no_lease_is_an_error(tmp_path: Path, body: bytes) -> None:
    """Never a record, and never anything but ClusterError."""
    with lease(tmp_path, Answer(200, body)) as (found, _), pytest.raises(ClusterError, match="cannot be read"):
        found.read()


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"holderIdentity": None, "leaseDurationSeconds": None, "renewTime": None},
        {"holderIdentity": 7, "leaseDurationSeconds": "15", "renewTime": "soon", "leaseTransitions": -3},
        {"holderIdentity": "", "leaseDurationSeconds": True, "acquireTime": 12},
    ],
)
def test_a_field_that_makes_no_sense_counts_as_not_set(spec: dict[str, Any]) -> None:
    """Nobody holds it, and it is no released one: others wait."""
    found = record_in(spec)
    assert found == LeaseRecord("", 0)
    assert not found.is_released
