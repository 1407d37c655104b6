"""Live reads, nominations, Events and cleaning, as they go over the wire."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Event
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.failures import ForbiddenError
from rescheduler.adapters.kubernetes.eviction.live_pods import read_pod, read_pods, selector_text
from rescheduler.adapters.kubernetes.eviction.target import BELIEVED_SECONDS, DRY_RUN_SECONDS, KubernetesTarget
from rescheduler.adapters.kubernetes.eviction.vicinity import ServerReads
from rescheduler.adapters.kubernetes.guidance.nominations import nominate
from rescheduler.adapters.kubernetes.leftovers.cleaning import Leftover, find_leftovers, remove_leftovers
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move, PodReference
from tests.builders import pod
from tests.clocks import FakeClock
from tests.unit.adapters.kubernetes.eviction.fake_server import FakeServer, status

POD = PodReference("shop", "web-0", "uid-1")
EVENTS = "/apis/events.k8s.io/v1/namespaces/shop/events"


def manifest(name: str = "web-0", **metadata: Any) -> dict[str, Any]:
    """A pod as the API server writes it."""
    owner = {"kind": "ReplicaSet", "name": "web", "uid": "uid-rs", "controller": True, "apiVersion": "apps/v1"}
    return {
        "metadata": {
            "name": name, "namespace": "shop", "uid": "uid-1", "resourceVersion": "7", "ownerReferences": [owner],
            **metadata,
        },
        "spec": {"nodeName": "n1", "containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }  # fmt: skip


def target(server: FakeServer) -> KubernetesTarget:
    """The cluster behind a scripted server; snapshots are not read here."""
    return KubernetesTarget(server, None, clock=FakeClock(), hold_namespace="holds")  # type: ignore[arg-type]


def test_whether_placeholders_can_be_made_is_asked_once_a_minute() -> None:
    """A yes is believed for so long, since rounds may follow one another at once; a no is asked again each time."""
    server, clock = FakeServer(), FakeClock()
    allowed = False
    server.answer("GET", "/version", {"major": "1", "minor": "36", "gitVersion": "v1.36.3"})
    server.answer("GET", "/api/v1/namespaces/holds", {})
    reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    server.answer("POST", reviews, lambda _: {"status": {"allowed": allowed}})
    rounds = KubernetesTarget(server, None, clock=clock, hold_namespace="holds")  # type: ignore[arg-type]
    assert "we may not create jobs" in (rounds.can_hold() or "")
    allowed = True
    assert rounds.can_hold() is None
    asked = len(server.asked("POST"))
    allowed = False
    clock.sleep(BELIEVED_SECONDS - 1)
    assert rounds.can_hold() is None
    assert len(server.asked("POST")) == asked
    clock.sleep(1)
    assert rounds.can_hold() is not None


def test_a_pending_pod_out_of_scope_need_not_be_led() -> None:
    """Where the right to nominate is bound in some namespaces only; within them its lack is an error, as everywhere."""
    server = FakeServer()
    for namespace in ("shop", "web"):
        path = f"/api/v1/namespaces/{namespace}/pods/big/status"
        server.answer("PATCH", path, status(403, "pods is forbidden: User cannot patch"))
    scoped = KubernetesTarget(server, None, clock=FakeClock(), hold_namespace="holds", scope=("shop",))  # type: ignore[arg-type]
    assert not scoped.nominate(PodReference("web", "big", "u"), "n1")
    with pytest.raises(ForbiddenError):
        scoped.nominate(PodReference("shop", "big", "u"), "n1")
    with pytest.raises(ForbiddenError):
        target(server).nominate(PodReference("web", "big", "u"), "n1")


def test_a_live_pod_is_read_with_its_version_and_state() -> None:
    """What the preconditions and the comparison need."""
    server = FakeServer()
    server.answer("GET", "/api/v1/namespaces/shop/pods/web-0", manifest(deletionTimestamp="2026-01-01T00:00:00Z"))
    pod = read_pod(server, "shop", "web-0")  # type: ignore[arg-type]
    assert pod is not None
    assert (pod.uid, pod.resource_version, pod.node_name, pod.is_ready) == ("uid-1", "7", "n1", True)
    assert pod.is_terminating


def test_a_pod_that_is_not_there_is_none() -> None:
    """404 is an answer, not an error."""
    assert read_pod(FakeServer(), "shop", "web-0") is None  # type: ignore[arg-type]


def test_a_broken_answer_is_an_error_that_names_the_request() -> None:
    """Never a guess about a pod that is to be evicted."""
    server = FakeServer()
    server.answer("GET", "/api/v1/namespaces/shop/pods/web-0", {"metadata": {"name": 7}})
    with pytest.raises(ClusterError, match="pods/web-0"):
        read_pod(server, "shop", "web-0")  # type: ignore[arg-type]


def test_pods_of_one_owner_are_asked_for_by_its_selector() -> None:
    """The server filters, so that a large namespace is not read whole."""
    server = FakeServer()
    server.answer("GET", "/api/v1/namespaces/shop/pods", {"items": [manifest("web-0"), manifest("web-1")]})
    selector = LabelSelector((Requirement("app", "In", ("web", "shop")), Requirement("old", "DoesNotExist")))
    pods = read_pods(server, "shop", selector)  # type: ignore[arg-type]
    assert [pod.name for pod in pods] == ["web-0", "web-1"]
    assert server.requests[0].params["labelSelector"] == "app in (web,shop),!old"


def test_every_operator_of_a_selector_can_be_asked() -> None:
    """As kubectl writes them."""
    rules = (Requirement("a", "NotIn", ("x",)), Requirement("b", "Exists"))
    assert selector_text(LabelSelector(rules)) == "a notin (x),b"
    assert selector_text(LabelSelector()) == ""


@pytest.mark.parametrize("code", [404, 409, 422])
def test_a_pod_that_is_bound_gone_or_another_is_not_nominated(code: int) -> None:
    """The server refuses, and that is an answer."""
    server = FakeServer()
    server.answer("PATCH", "/api/v1/namespaces/shop/pods/web-0/status", status(code))
    assert target(server).nominate(POD, "n1") is False


def test_a_nomination_names_the_uid() -> None:
    """So that a new pod of the old name is never led anywhere."""
    server = FakeServer()
    server.answer("PATCH", "/api/v1/namespaces/shop/pods/web-0/status", {})
    assert target(server).nominate(POD, "n1") is True
    assert server.requests[0].body["metadata"] == {"uid": "uid-1"}


def test_a_forbidden_nomination_is_an_error() -> None:
    """It would fail every time, so it is not taken for a bound pod."""
    server = FakeServer()
    server.answer("PATCH", "/api/v1/namespaces/shop/pods/web-0/status", status(403, "no"))
    with pytest.raises(ClusterError, match="403"):
        nominate(server, "shop", "web-0", "uid-1", "n1")  # type: ignore[arg-type]


def test_events_tell_of_the_pod_and_of_its_owner() -> None:
    """Both are where people look; times have the six decimals that the API wants."""
    server = FakeServer()
    server.answer("GET", "/api/v1/namespaces/shop/pods/web-0", manifest())
    server.answer("POST", EVENTS, {})
    cluster = target(server)
    cluster.read_pod("shop", "web-0")
    cluster.record(POD, "Moved", "from n1")
    cluster.finish_telling()
    first, second = (request.body for request in server.asked("POST"))
    assert (first["regarding"]["kind"], first["regarding"]["uid"]) == ("Pod", "uid-1")
    assert (second["regarding"]["kind"], second["regarding"]["uid"]) == ("ReplicaSet", "uid-rs")
    assert first["eventTime"] == "2027-01-15T08:00:00.000000Z"
    assert "web-0" in second["note"]


def test_who_owns_a_pod_is_known_from_a_look_around_it_too() -> None:
    """An eviction reads its pod in no other way."""
    server = FakeServer()
    found = {"metadata": {"resourceVersion": "9"}, "items": [manifest()]}
    for path in ("/api/v1/pods", "/apis/policy/v1/namespaces/shop/poddisruptionbudgets"):
        server.answer("GET", path, found if path.endswith("/pods") else {"metadata": {}, "items": []})
    for name in ("n1", "n2"):
        server.answer("GET", f"/api/v1/nodes/{name}", status(404, "not found"))
    server.answer("POST", EVENTS, {})
    cluster = target(server)
    cluster.read_vicinity(Move(POD, "n1", "n2", 1, "MakeRoom", "because"), Cluster())
    cluster.record(POD, "Moved", "from n1")
    cluster.finish_telling()
    assert [request.body["regarding"]["kind"] for request in server.asked("POST")] == ["Pod", "ReplicaSet"]


def test_no_event_goes_to_a_kind_that_is_only_called_like_one_of_kubernetes() -> None:
    """Its version is not known; an Event would stand at an object that is not there, or at somebody else's."""
    server = FakeServer()
    owner = {"kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True, "apiVersion": "example.com/v1"}
    server.answer("GET", "/api/v1/namespaces/shop/pods/web-0", manifest(ownerReferences=[owner]))
    server.answer("POST", EVENTS, {})
    cluster = target(server)
    cluster.read_pod("shop", "web-0")
    cluster.record(POD, "Moved", "from n1")
    cluster.finish_telling()
    assert [request.body["regarding"]["kind"] for request in server.asked("POST")] == ["Pod"]


def test_telling_never_stops_a_plan() -> None:
    """Neither a refusal nor a broken connection is raised; long words are cut."""
    server = FakeServer()
    cluster = target(server)
    cluster.record(POD, "Moved", "x" * 5000)
    cluster.finish_telling()
    assert len(server.requests[0].body["note"]) <= 1024
    server.answer("POST", EVENTS, ClusterError("gone"))
    cluster.record(POD, "Moved", "from n1")
    cluster.finish_telling()


def test_nothing_waits_for_an_event_but_the_end() -> None:
    """An API server that is slow with Events keeps no pod from being moved, and none is lost."""
    server, may_answer, told = FakeServer(), Event(), []

    def answer(_: object) -> dict[str, Any]:
        may_answer.wait(30)
        told.append("told")
        return {}

    server.answer("POST", EVENTS, answer)
    cluster = target(server)
    for _ in range(3):
        cluster.record(POD, "Moved", "from n1")
    assert told == []
    may_answer.set()
    cluster.finish_telling()
    assert told == ["told"] * 3


def job(name: str, namespace: str = "holds") -> dict[str, Any]:
    """A placeholder Job as it is listed."""
    return {"metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}",
                         "annotations": {"rescheduler.dev/node": "n1"}}}  # fmt: skip


def gated(name: str, owner: str) -> dict[str, Any]:
    """A placeholder pod as it is listed."""
    return {"metadata": {"name": name, "namespace": "holds", "uid": name, "ownerReferences": [{"uid": owner}]},
            "spec": {"schedulingGates": [{"name": "rescheduler.dev/hold"}]}}  # fmt: skip


def test_cleaning_finds_jobs_anywhere_and_pods_whose_job_is_gone() -> None:
    """A pod that goes with its Job is not listed twice; only our own labels are asked for."""
    server = FakeServer()
    server.answer("GET", "/apis/batch/v1/jobs", {"items": [job("hold-a-0"), job("hold-b-0", "elsewhere")]})
    server.answer("GET", "/api/v1/pods", {"items": [gated("with-job", "uid-hold-a-0"), gated("alone", "uid-none")]})
    found = find_leftovers(server, "holds")  # type: ignore[arg-type]
    assert found == [
        Leftover("Job", "holds", "hold-a-0", "n1"),
        Leftover("Job", "elsewhere", "hold-b-0", "n1"),
        Leftover("Pod", "holds", "alone", ""),
    ]
    assert server.requests[0].params["labelSelector"] == "app.kubernetes.io/managed-by=rescheduler,rescheduler.dev/hold"


def test_cleaning_without_rights_everywhere_looks_in_the_namespace_of_placeholders() -> None:
    """The role that deploy/acting.yaml grants is enough."""
    server = FakeServer()
    server.answer("GET", "/apis/batch/v1/jobs", status(403))
    server.answer("GET", "/api/v1/pods", status(403))
    server.answer("GET", "/apis/batch/v1/namespaces/holds/jobs", {"items": [job("hold-a-0")]})
    server.answer("GET", "/api/v1/namespaces/holds/pods", {"items": []})
    assert [item.name for item in find_leftovers(server, "holds")] == ["hold-a-0"]  # type: ignore[arg-type]


def test_cleaning_deletes_exactly_what_was_found() -> None:
    """What went by itself meanwhile is not counted."""
    server = FakeServer()
    server.answer("DELETE", "/apis/batch/v1/namespaces/holds/jobs/hold-a-0", {})
    found = [Leftover("Job", "holds", "hold-a-0", "n1"), Leftover("Pod", "holds", "alone", "")]
    assert remove_leftovers(server, found) == found[:1]  # type: ignore[arg-type]


class Foreseeing(ServerReads):
    """Has read the pod of a move that is foreseen at once, or has failed."""

    def __init__(self, found: Pod | ClusterError) -> None:
        self.live: Future[Pod | None] = Future()
        if isinstance(found, Pod):
            self.live.set_result(found)
        else:
            self.live.set_exception(found)

    def foresee(self, move: Move, cluster: Cluster) -> Future[Pod | None] | None:
        """The pod itself."""
        return self.live


MOVE = Move(POD, "n1", "n2", 1, "MakeRoom", "because")
EVICTION = "/api/v1/namespaces/shop/pods/web-0/eviction"


def dry_runs_after(
    found: Pod | ClusterError, *asked: str, seconds: float = 0.0, code: int = 201, of: PodReference = POD
) -> int:
    """Requests after a move was foreseen and, seconds later, dry runs of these versions of a pod were asked for."""
    server, clock = FakeServer(), FakeClock()
    server.answer("POST", EVICTION, status(code, "because"))
    ahead = KubernetesTarget(server, None, clock=clock, hold_namespace="holds", reads=Foreseeing(found))  # type: ignore[arg-type]
    ahead.foresee(MOVE, Cluster())
    if ahead._dry_run is not None:
        ahead._dry_run.answer.exception()
    clock.sleep(seconds)
    for version in asked:
        ahead.evict(of, version, dry_run=True)
    return len(server.asked("POST"))


def test_a_dry_run_that_was_asked_for_ahead_serves_once() -> None:
    """The next one is asked for."""
    live = pod("web-0", namespace="shop", uid="uid-1", node="n1", resource_version="7")
    assert dry_runs_after(live, "7") == 1
    assert dry_runs_after(live, "7", "7") == 2


def test_what_was_foreseen_of_something_else_is_asked_anew() -> None:
    """An older or another version of the pod, another pod, a refusal that may be over, a pod that could not be read."""
    live = pod("web-0", namespace="shop", uid="uid-1", node="n1", resource_version="7")
    assert dry_runs_after(live, "8") == 2
    assert dry_runs_after(live, "7", seconds=DRY_RUN_SECONDS + 0.1) == 2
    assert dry_runs_after(live, "7", of=PodReference("shop", "web-0", "uid-2")) == 2
    assert dry_runs_after(live, "7", code=429) == 2
    assert dry_runs_after(ClusterError("no answer"), "7") == 1


def test_no_dry_run_is_asked_ahead_for_another_pod_of_the_name() -> None:
    """It has gone since the plan was made."""
    assert dry_runs_after(pod("web-0", namespace="shop", uid="uid-2", node="n1", resource_version="7")) == 0
