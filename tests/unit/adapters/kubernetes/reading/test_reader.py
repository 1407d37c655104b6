"""The live reader: every kind, page by page, with errors that name what stands in the way."""

from __future__ import annotations

from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.kinds import DISPENSABLE, KINDS
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.extension_points import ClusterError
from tests.clocks import FakeClock
from tests.unit.adapters.api_objects import list_of, node_object, pod_object, read
from tests.unit.adapters.fake_api_server import Answer, FakeApiServer, Request, answer, serving, status

DATE = {"Date": "Fri, 01 May 2026 11:00:00 GMT"}


def bare(found: dict[str, Any]) -> dict[str, Any]:
    """An item as the API server lists it: without kind and apiVersion."""
    return {key: value for key, value in found.items() if key not in ("kind", "apiVersion")}


def cluster_of(objects: dict[str, list[dict[str, Any]]], limit: int = 2) -> Callable[[Request], Answer]:
    """A server of these objects by path, in pages of ``limit``."""

    def handle(request: Request) -> Answer:
        if request.path == "/version":
            return answer({"gitVersion": "v1.36.3"})
        items = objects.get(request.path, [])
        start = int(request.params.get("continue", "0"))
        more = {"continue": str(start + limit)} if start + limit < len(items) else {}
        return answer({"metadata": more, "items": [bare(item) for item in items[start : start + limit]]})

    return handle


PODS, NODES, BUDGETS = "/api/v1/pods", "/api/v1/nodes", "/apis/policy/v1/poddisruptionbudgets"


def reader(server: FakeApiServer, folder: Path) -> LiveReader:
    """A reader of the fake server."""
    return LiveReader(connect(server.kubeconfig(folder), read_only=True))


def test_a_live_snapshot_equals_a_recording_of_it(tmp_path: Path) -> None:
    """The same objects give the same cluster, sorted, whatever the pages."""
    pods = [pod_object(name) for name in ("c", "a", "b", "e", "d")]
    with serving(cluster_of({PODS: pods, NODES: [node_object("n2"), node_object()]})) as server:
        live = reader(server, tmp_path).read()
    recorded = read(list_of(node_object(), node_object("n2"), *pods))
    assert live.pods == recorded.pods
    assert live.nodes == recorded.nodes
    assert (live.source, live.server_version) == (server.url, "v1.36.3")
    assert {request.path for request in server.requests} == {"/version", *(kind.path for kind in KINDS)}
    assert all(request.method == "GET" for request in server.requests)
    assert {request.params.get("limit") for request in server.requests} == {None, "500"}


def test_the_servers_clock_says_when(tmp_path: Path) -> None:
    """The clock that wrote the times also says how old they are."""

    inner = cluster_of({})
    with serving(lambda asked: inner(asked)._replace(headers=DATE)) as server:
        connection = connect(server.kubeconfig(tmp_path), read_only=True)
        assert LiveReader(connection, clock=FakeClock(0.0)).read().taken_at == 1_777_629_600.0 + 3600


@pytest.mark.parametrize("slow", ["/version", PODS, None])
@pytest.mark.parametrize("is_late_to_leave", [True, False])
def test_a_snapshot_is_of_when_its_reading_began(tmp_path: Path, slow: str | None, is_late_to_leave: bool) -> None:
    """However long the first answer takes, or any other, on its way to the server or back."""
    clock, ahead = FakeClock(), 500.0
    inner = cluster_of({PODS: [pod_object("a")]})

    def handle(request: Request) -> Answer:
        wait = 7.0 if request.path == slow else 0.25
        clock.time += wait if is_late_to_leave else 0.0
        date = formatdate(clock.now() + ahead, usegmt=True)
        clock.time += 0.0 if is_late_to_leave else wait
        return inner(request)._replace(headers={"Date": date})

    with serving(handle) as server:
        began = clock.now()
        found = LiveReader(connect(server.kubeconfig(tmp_path), read_only=True), clock=clock).read()
    assert clock.now() - began > 5.0 + (0.0 if slow is None else 6.0)
    assert began + ahead - 0.5 <= found.taken_at <= began + ahead


def test_progress_is_told(tmp_path: Path) -> None:
    """Each page moves the count."""
    told: list[tuple[str, int]] = []
    with serving(cluster_of({PODS: [pod_object(str(number)) for number in range(5)]})) as server:
        connection = connect(server.kubeconfig(tmp_path), read_only=True)
        LiveReader(connection, lambda step, done=0, _=None: told.append((step, done))).read()
    assert [done for step, done in told if step == "reading pods"] == [2, 4, 5]


def test_a_list_that_expired_is_read_again(tmp_path: Path) -> None:
    """After 410 the kind starts again, and nothing counts twice; a second time is an error."""
    pods = [pod_object(str(number)) for number in range(4)]
    inner, expired = cluster_of({PODS: pods}), []

    def handle(request: Request) -> Answer:
        if request.path == PODS and "continue" in request.params and len(expired) < limit:
            expired.append(request)
            return status(410, "expired")
        return inner(request)

    limit = 1
    with serving(handle) as server:
        assert len(reader(server, tmp_path).read().pods) == 4
    limit, expired = 9, []
    with serving(handle) as server, pytest.raises(ClusterError, match="changes faster"):
        reader(server, tmp_path).read()


def test_kinds_that_are_not_served_are_left_out(tmp_path: Path) -> None:
    """A cluster may lack kinds; pods and nodes it must have."""

    def handle(request: Request) -> Answer:
        return inner(request) if request.path in served else status(404, "page not found")

    inner, served = cluster_of({NODES: [node_object()]}), ["/version", PODS, NODES]
    with serving(handle) as server:
        assert len(reader(server, tmp_path).read().nodes) == 1
    served = ["/version", PODS]
    with serving(handle) as server, pytest.raises(ClusterError, match="does not serve nodes"):
        reader(server, tmp_path).read()


def test_quotas_may_be_forbidden(tmp_path: Path) -> None:
    """Without the right to list ResourceQuotas all else is read, and a warning says what is not known."""
    inner = cluster_of({NODES: [node_object()]})

    def handle(request: Request) -> Answer:
        return status(403, "forbidden") if request.path == "/api/v1/resourcequotas" else inner(request)

    with serving(handle) as server:
        found = reader(server, tmp_path).read()
    assert (len(found.nodes), found.quotas) == (1, ())
    assert len(found.warnings) == 1
    assert found.warnings[0].startswith("whether quotas leave room for replacements is not known: ")
    assert "list resourcequotas" in found.warnings[0]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.name not in DISPENSABLE], ids=lambda kind: kind.name)
def test_a_forbidden_kind_is_named(tmp_path: Path, kind: Any) -> None:
    """RBAC that denies one kind of many ends the reading with its name."""
    inner = cluster_of({})

    def handle(request: Request) -> Answer:
        return status(403, "forbidden") if request.path == kind.path else inner(request)

    with serving(handle) as server, pytest.raises(ClusterError) as caught:
        reader(server, tmp_path).read()
    assert f"list {kind.path.rpartition('/')[2]}" in str(caught.value)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b'{"metadata":{},"items":[{"metadata":{"name":"a"', "not valid JSON"),
        (b'{"metadata":{},"items":{}}', "items"),
        (b'{"metadata":{},"items":' + b"[" * 100_000, "api/v1/pods"),
    ],
)  # fmt: skip
def test_an_answer_that_is_no_list_is_named(tmp_path: Path, body: bytes, complaint: str) -> None:
    """What a server should never send is still one clear error."""
    inner = cluster_of({})

    def handle(request: Request) -> Answer:
        return Answer(200, body) if request.path == PODS else inner(request)

    with serving(handle) as server, pytest.raises(ClusterError) as caught:
        reader(server, tmp_path).read()
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("item", "warning"),
    [
        ({"metadata": {"name": "a"}, "spec": {"nodeName": 5}}, "Pod a: spec.nodeName: wanted text, found whole number"),
        ({"spec": {}}, "Pod (without a name): metadata.name: is missing"),
        ({"metadata": {"name": "a"}, "spec": {"containers": [{"resources": {"requests": {"cpu": "-1"}}}]}},
         "Pod default/a: spec.containers[0].resources.requests.cpu: '-1' is negative"),
    ],
)  # fmt: skip
def test_an_unreadable_object_costs_nobody_else(tmp_path: Path, item: dict[str, Any], warning: str) -> None:
    """What a server should never send is named and left out; whatever else it sends is read."""
    objects = {PODS: [pod_object("good"), item, pod_object("better")], NODES: [node_object()]}
    with serving(lambda asked: cluster_of({**objects, PODS: []})(asked) if asked.path != PODS
                 else answer({"items": objects[PODS]})) as server:  # fmt: skip
        found = reader(server, tmp_path).read()
    assert [pod.name for pod in found.pods] == ["better", "good"]
    assert [node.problem for node in found.nodes] == [None]
    assert any(warning in text for text in found.warnings)


def test_an_empty_list_may_be_null(tmp_path: Path) -> None:
    """Go writes an empty list as null at times."""
    inner = cluster_of({NODES: [node_object()]})
    with serving(lambda asked: answer({"items": None}) if asked.path == PODS else inner(asked)) as server:
        assert reader(server, tmp_path).read().pods == ()


def test_a_snapshot_says_which_kinds_it_was_not_to_read(tmp_path: Path) -> None:
    """Of all others nothing is missing: an owner that it does not hold is not there."""
    with serving(cluster_of({PODS: [pod_object()], NODES: [node_object()]})) as server:
        connection = connect(server.kubeconfig(tmp_path), read_only=True)
        few = tuple(kind for kind in KINDS if kind.name in ("Pod", "Node"))
        assert LiveReader(connection).read().absent_kinds == frozenset()
        narrow = LiveReader(connection, kinds=few).read()
    assert narrow.absent_kinds == {kind.name for kind in KINDS} - {"Pod", "Node"}
