"""Placeholders: what is sent to make, nominate, renew and remove them, and what failures lead to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.connection import Response
from rescheduler.adapters.kubernetes.guidance.guidance_support import why_no_holds
from rescheduler.adapters.kubernetes.guidance.hold_jobs import PATIENCE_SECONDS
from rescheduler.adapters.kubernetes.guidance.holds import HoldKeeper
from rescheduler.adapters.kubernetes.guidance.placeholders import placeholder
from rescheduler.extension_points import ClusterError, HoldRequest
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import resources
from tests.builders import NOW, pod
from tests.clocks import FakeClock
from tests.unit.adapters.kubernetes.eviction.fake_server import FakeServer, status

NAMESPACE = "/api/v1/namespaces/holds"
PODS = f"{NAMESPACE}/pods"
JOBS = "/apis/batch/v1/namespaces/holds/jobs"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
REQUEST = HoldRequest(
    "hold-p-0", "n1", resources([("cpu", 2500), ("memory", 2**30), ("example.com/gpu", 2)]), "high",
    "default-scheduler", 60, "p",
)  # fmt: skip


def standing(name: str = "hold-p-0") -> dict[str, Any]:
    """A list with one placeholder pod."""
    labels = {"rescheduler.dev/hold": name}
    return {"items": [{"metadata": {"name": f"{name}-x", "namespace": "holds", "uid": "u", "labels": labels}}]}


def ready_server() -> FakeServer:
    """A server on which a placeholder can be made."""
    server = FakeServer()
    server.answer("GET", NAMESPACE, {})
    server.answer("POST", JOBS, lambda request: request.body)
    server.answer("GET", PODS, {"items": []}, standing())
    server.answer("PATCH", f"{PODS}/hold-p-0-x/status", {})
    return server


def keeper(server: FakeServer) -> HoldKeeper:
    """Placeholders in the namespace ``holds``."""
    return HoldKeeper(server, "holds", FakeClock())  # type: ignore[arg-type]


def test_placeholders_on_emptied_nodes_are_no_plan_s() -> None:
    """No run waits for them to go: they are not among the names of holds, by the label of their plan."""
    server = ready_server()
    for path in (JOBS, PODS):
        server.answer("GET", path, {"items": []})
    assert keeper(server).names() == []
    asked = {request.params["labelSelector"] for request in server.asked("GET")}
    assert asked == {"app.kubernetes.io/managed-by=rescheduler,rescheduler.dev/hold,rescheduler.dev/plan!=emptied"}


def test_a_placeholder_dies_by_itself_and_never_runs() -> None:
    """Deadline, no retry, gone when finished, gated for good, tolerating every node, on the pod's own scheduler."""
    job = placeholder([REQUEST], "hold-p-0", "holds", 0.0)
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    assert (spec["activeDeadlineSeconds"], spec["ttlSecondsAfterFinished"], spec["backoffLimit"]) == (60, 0, 0)
    assert pod["schedulingGates"] == [{"name": "rescheduler.dev/hold"}]
    assert pod["tolerations"] == [{"operator": "Exists"}]
    assert (pod["priorityClassName"], pod["schedulerName"], pod["restartPolicy"]) == (
        "high",
        "default-scheduler",
        "Never",
    )
    assert "nodeName" not in pod


def test_a_placeholder_asks_for_exactly_the_hole() -> None:
    """Requests in Kubernetes' own units, equal limits for what cannot be overcommitted, and no port of the node."""
    container = placeholder([REQUEST], "hold-p-0", "holds", 0.0)["spec"]["template"]["spec"]["containers"][0]
    assert container["resources"] == {
        "requests": {"cpu": "2500m", "memory": "1073741824", "example.com/gpu": "2"},
        "limits": {"example.com/gpu": "2"},
    }
    assert "ports" not in container


def test_everything_carries_our_label_and_the_plan() -> None:
    """Job and pod alike, so that clean and other tools find them."""
    job = placeholder([REQUEST], "hold-p-0", "holds", 0.0)
    for part in (job, job["spec"]["template"]):
        assert part["metadata"]["labels"] == {
            "app.kubernetes.io/managed-by": "rescheduler",
            "rescheduler.dev/plan": "p",
            "rescheduler.dev/hold": "hold-p-0",
        }
    assert job["metadata"]["annotations"]["rescheduler.dev/expires"] == "1970-01-01T00:01:00Z"


def test_a_class_that_is_not_set_is_not_sent() -> None:
    """An empty class name would be refused by the server."""
    pod = placeholder([REQUEST._replace(priority_class_name="")], "hold-p-0", "holds", 0.0)["spec"]["template"]["spec"]
    assert "priorityClassName" not in pod


def test_holding_waits_for_the_pod_and_nominates_it() -> None:
    """The job controller makes the pod a moment later; then its nomination is set, with its uid."""
    server = ready_server()
    keeper(server).hold([REQUEST])
    patch = server.asked("PATCH")[0]
    assert patch.body["metadata"]["uid"] == "u"
    assert patch.body["metadata"]["annotations"]["rescheduler.dev/hold"] == "hold-p-0"
    assert patch.body["status"] == {"nominatedNodeName": "n1"}


def test_a_missing_namespace_is_made_with_our_labels() -> None:
    """A first try works without an installation; and no pod with any privilege is let in there."""
    server = ready_server()
    server.answer("GET", NAMESPACE, status(404))
    server.answer("POST", "/api/v1/namespaces", {})
    keeper(server).hold([REQUEST])
    assert server.asked("POST")[0].body["metadata"]["labels"] == {
        "app.kubernetes.io/managed-by": "rescheduler",
        "pod-security.kubernetes.io/enforce": "restricted",
    }


def test_a_server_that_drops_gates_gets_its_job_removed_again() -> None:
    """Without its gate the placeholder would run: better none."""
    server = ready_server()

    def without_gates(request: Any) -> Any:
        made = json.loads(json.dumps(request.body))
        del made["spec"]["template"]["spec"]["schedulingGates"]
        return made

    server.answer("POST", JOBS, without_gates)
    server.answer("DELETE", f"{JOBS}/hold-p-0", {})
    with pytest.raises(ClusterError, match="scheduling gates"):
        keeper(server).hold([REQUEST])
    assert [request.path for request in server.asked("DELETE")] == [f"{JOBS}/hold-p-0"]


def test_a_job_controller_that_sleeps_is_an_error_in_time() -> None:
    """The error says where to look, and does not wait for ever."""
    server = ready_server()
    server.answer("GET", PODS, {"items": []})
    clock = FakeClock()
    with pytest.raises(ClusterError, match="events of these Jobs"):
        HoldKeeper(server, "holds", clock).hold([REQUEST])  # type: ignore[arg-type]
    assert PATIENCE_SECONDS < clock.time - NOW < PATIENCE_SECONDS + 2


def test_renewing_counts_the_deadline_from_now() -> None:
    """A Job's deadline counts from its start, so its age is added; the nomination is made again."""
    server = ready_server()
    server.answer("PATCH", f"{JOBS}/hold-p-0", {})
    clock = FakeClock()
    keeping = HoldKeeper(server, "holds", clock)  # type: ignore[arg-type]
    keeping.hold([REQUEST])
    clock.time += 40.5
    assert keeping.renew([REQUEST]) == []
    job, pod = server.asked("PATCH")[-2:]
    assert job.body["spec"] == {"activeDeadlineSeconds": 100}
    assert pod.body["status"] == {"nominatedNodeName": "n1"}


@pytest.mark.parametrize("gone", ["Job", "Pod"])
def test_a_placeholder_that_is_gone_is_told_when_renewing(gone: str) -> None:
    """Its Job or its pod was removed by somebody."""
    server = ready_server()
    server.answer("PATCH", f"{JOBS}/hold-p-0", status(404) if gone == "Job" else {})
    keeping = keeper(server)
    keeping.hold([REQUEST])
    server.answer("PATCH", f"{PODS}/hold-p-0-x/status", status(404) if gone == "Pod" else {})
    assert keeping.renew([REQUEST]) == ["hold-p-0"]


def test_releasing_waits_until_the_pods_are_gone() -> None:
    """In the background, and a Job that is gone already, or a name that never was, is fine."""
    server = ready_server()
    keeping = keeper(server)
    keeping.hold([REQUEST])
    server.answer("GET", PODS, standing(), standing(), {"items": []})
    asked = len(server.asked("GET"))
    keeping.release(["hold-p-0", "hold-p-1"])
    assert [request.body for request in server.asked("DELETE")] == [{"propagationPolicy": "Background"}]
    assert len(server.asked("GET")) == asked + 3
    keeping.release(["hold-p-0"])
    assert len(server.asked("DELETE")) == 1


def test_a_release_that_failed_can_be_asked_for_again() -> None:
    """Nothing is forgotten before the server has said that it is gone."""
    server = ready_server()
    keeping = keeper(server)
    keeping.hold([REQUEST])
    server.answer("DELETE", f"{JOBS}/hold-p-0", status(500), {})
    server.answer("GET", PODS, {"items": []})
    with pytest.raises(ClusterError, match="500"):
        keeping.release(["hold-p-0"])
    keeping.release(["hold-p-0"])
    assert len(server.asked("DELETE")) == 2


def pool(server: FakeServer, *names: str) -> HoldKeeper:
    """A keeper that has made equal placeholders on n0, n1 and so on, which share the Job ``hold-p-0``."""
    labels = {"rescheduler.dev/hold": names[0]}
    pods = [{"metadata": {"name": f"{name}-x", "namespace": "holds", "uid": name, "labels": labels}} for name in names]
    server.answer("GET", PODS, {"items": pods})
    for name in names:
        server.answer("PATCH", f"{PODS}/{name}-x/status", {})
    server.answer("PATCH", f"{JOBS}/hold-p-0", {})
    found = keeper(server)
    found.hold([REQUEST._replace(name=name, node=f"n{number}") for number, name in enumerate(names)])
    return found


def test_equal_placeholders_share_a_job() -> None:
    """One request to the server makes all of them, and one gives all of them more time."""
    server = ready_server()
    names = ("hold-p-0", "hold-p-1", "hold-p-2")
    keeping = pool(server, *names)
    (made,) = server.asked("POST")
    assert (made.body["spec"]["parallelism"], made.body["spec"]["completions"]) == (3, 3)
    assert made.body["metadata"]["annotations"]["rescheduler.dev/node"] == "n0, n1, n2"
    nodes = [request.body["status"]["nominatedNodeName"] for request in server.asked("PATCH")]
    assert nodes == ["n0", "n1", "n2"]
    keeping.renew([REQUEST._replace(name=name) for name in names])
    assert sum(request.path.startswith(JOBS) for request in server.asked("PATCH")) == 1


def test_of_many_placeholders_some_are_nominated_again_at_a_time_and_those_that_lost_it_at_once() -> None:
    """Renewing 110 of them takes 42 requests and not 111: within three renewals all have had their turn."""
    server = ready_server()
    names = [f"hold-p-{number:03}" for number in range(110)]
    keeping = pool(server, *names)
    requests = [REQUEST._replace(name=name, node=f"n{number}") for number, name in enumerate(names)]
    server.answer("PATCH", f"{JOBS}/hold-p-000", {})
    server.answer("GET", PODS, {"items": [nominated(item.name, item.node) for item in requests]})
    seen: list[list[str]] = []
    for _ in range(3):
        before = len(server.asked("PATCH")) + len(server.asked("GET"))
        assert keeping.renew(requests) == []
        asked = [request.path for request in server.asked("PATCH")][-40:]
        assert len(server.asked("PATCH")) + len(server.asked("GET")) - before == 42
        seen.append([path.split("/")[-2] for path in asked])
    assert {name for turn in seen for name in turn} == {f"{name}-x" for name in names}

    others = [nominated(item.name, "n0" if item.name == "hold-p-105" else item.node) for item in requests]
    server.answer("GET", PODS, {"items": [item for item in others if item["metadata"]["uid"] != "hold-p-108"]})
    server.answer("PATCH", f"{PODS}/hold-p-108-x/status", status(404))
    assert keeping.renew(requests) == ["hold-p-108"]
    again = [request for request in server.asked("PATCH") if request.path == f"{PODS}/hold-p-105-x/status"]
    assert again[-1].body["status"] == {"nominatedNodeName": "n105"}
    assert len(again) == 3  # when it was made, in its turn, and now


def nominated(name: str, node: str) -> dict[str, Any]:
    """A placeholder pod that stands on ``node``."""
    labels = {"rescheduler.dev/hold": "hold-p-000"}
    metadata = {"name": f"{name}-x", "namespace": "holds", "uid": name, "labels": labels}
    return {"metadata": metadata, "status": {"nominatedNodeName": node}}


def test_a_placeholder_let_go_beside_others_serves_for_the_next_hold_of_its_size() -> None:
    """Its nomination is taken away, its Job stays, and no new Job is made; another size needs one."""
    server = ready_server()
    keeping = pool(server, "hold-p-0", "hold-p-1")
    keeping.release(["hold-p-1"])
    assert server.asked("DELETE") == []
    last = server.asked("PATCH")[-1]
    assert (last.path, last.body["status"]) == (f"{PODS}/hold-p-1-x/status", {"nominatedNodeName": None})
    keeping.hold([REQUEST._replace(name="hold-p-7", node="n7")])
    last = server.asked("PATCH")[-1]
    assert (last.path, last.body["status"]) == (f"{PODS}/hold-p-1-x/status", {"nominatedNodeName": "n7"})
    assert len(server.asked("POST")) == 1
    server.answer("DELETE", f"{JOBS}/hold-p-0", {})
    server.answer("GET", PODS, {"items": []})
    keeping.release(["hold-p-0", "hold-p-7"])
    assert [request.path for request in server.asked("DELETE")] == [f"{JOBS}/hold-p-0"]


@pytest.mark.parametrize(("count", "deadline"), [(1, 60), (7, 60), (80, 50), (1000, 35)])
def test_many_placeholders_end_so_much_earlier_that_all_are_gone_in_time(count: int, deadline: int) -> None:
    """A job controller ends a few in a second; none ends before half of its time; a third is when it is renewed."""
    server = ready_server()
    pool(server, *(f"hold-p-{number:04}" for number in range(count)))
    (made,) = server.asked("POST")
    assert made.body["spec"]["activeDeadlineSeconds"] == deadline


def test_names_are_those_of_the_holds_that_a_shared_job_keeps() -> None:
    """Not that of an idle placeholder; a Job of idle ones goes by its own name."""
    server = FakeServer()

    def listed(name: str, hold: str) -> dict[str, Any]:
        metadata = standing("hold-p-0")["items"][0]["metadata"]
        return {"metadata": {**metadata, "name": name, "annotations": {"rescheduler.dev/hold": hold} if hold else {}}}

    server.answer("GET", JOBS, {"items": [{"metadata": {"name": "hold-p-0"}}]})
    server.answer("GET", PODS, {"items": [listed("a", "hold-p-1"), listed("b", ""), listed("c", "hold-p-2")]})
    assert keeper(server).names() == ["hold-p-1", "hold-p-2"]
    server.answer("GET", PODS, {"items": [listed("b", "")]})
    assert keeper(server).names() == ["hold-p-0"]


def test_names_cover_jobs_and_pods_left_alone() -> None:
    """A pod whose Job is gone still keeps room."""
    server = FakeServer()
    server.answer("GET", JOBS, {"items": [{"metadata": {"name": "hold-p-0"}}]})
    server.answer("GET", PODS, standing("hold-q-0"))
    assert keeper(server).names() == ["hold-p-0", "hold-q-0"]


def reviewing_server(denied: str = "", minor: str = "36") -> FakeServer:
    """A server that answers access reviews, denying one resource."""
    server = FakeServer()
    server.answer("GET", "/version", {"major": "1", "minor": minor, "gitVersion": f"v1.{minor}.3"})
    server.answer("GET", NAMESPACE, {})

    def review(request: Any) -> Any:
        asked = request.body["spec"]["resourceAttributes"]
        return {"status": {"allowed": denied != f"{asked['verb']} {asked['resource']}"}}

    server.answer("POST", REVIEWS, review)
    return server


def test_a_cluster_with_all_that_is_needed_can_hold() -> None:
    """No reason against it."""
    assert why_no_holds(reviewing_server(), "holds") is None  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", ["create jobs", "patch pods", "delete jobs", "list pods"])
def test_a_missing_right_is_named(missing: str) -> None:
    """So that an administrator knows what to grant."""
    reason = why_no_holds(reviewing_server(missing), "holds")  # type: ignore[arg-type]
    assert reason is not None
    assert missing.split()[0] in reason
    assert "acting.yaml" in reason


def test_rights_in_the_namespaces_whose_pods_move_are_enough() -> None:
    """Nominations of workloads' pods there, those of placeholders where they are made; one place less is named."""
    server = reviewing_server()
    given = {"shop", "web", "holds"}

    def review(request: Any) -> Any:
        return {"status": {"allowed": request.body["spec"]["resourceAttributes"]["namespace"] in given}}

    server.answer("POST", REVIEWS, review)
    assert why_no_holds(server, "holds", ("shop", "web")) is None  # type: ignore[arg-type]
    assert "patch pods/status" in (why_no_holds(server, "holds") or "")  # type: ignore[arg-type]
    given.remove("web")
    assert "patch pods/status" in (why_no_holds(server, "holds", ("shop", "web")) or "")  # type: ignore[arg-type]


def test_an_old_cluster_cannot_hold() -> None:
    """Scheduling gates came with 1.27; vendors write minor versions with a plus."""
    assert "1.27" in (why_no_holds(reviewing_server(minor="26+"), "holds") or "")  # type: ignore[arg-type]
    assert why_no_holds(reviewing_server(minor="30+"), "holds") is None  # type: ignore[arg-type]


def test_a_missing_namespace_that_we_may_not_make_is_a_reason() -> None:
    """And one that we may make is none."""
    server = reviewing_server("create namespaces")
    server.answer("GET", NAMESPACE, status(404))
    assert "no namespace holds" in (why_no_holds(server, "holds") or "")  # type: ignore[arg-type]
    server = reviewing_server()
    server.answer("GET", NAMESPACE, status(404))
    assert why_no_holds(server, "holds") is None  # type: ignore[arg-type]


def test_a_refused_job_is_an_error_with_the_servers_words() -> None:
    """A quota, say."""
    server = ready_server()
    server.answer("POST", JOBS, Response(403, {}, b'{"message":"exceeded quota: tiny"}'))
    with pytest.raises(ClusterError, match="exceeded quota: tiny"):
        keeper(server).hold([REQUEST])


def told(*names: str) -> list[Pod]:
    """Placeholder pods of these Jobs, and one of somebody else, as a watch tells of them."""
    ours = {"app.kubernetes.io/managed-by": "rescheduler"}
    pods = [pod(f"{name}-x", namespace="holds", labels={**ours, "rescheduler.dev/hold": name}) for name in names]
    return [*pods, pod("other", namespace="holds", labels={"rescheduler.dev/hold": "hold-p-0"})]


def test_where_a_watch_tells_of_placeholders_none_are_listed() -> None:
    """Neither while they come nor while they go."""
    server = ready_server()
    server.answer("DELETE", f"{JOBS}/hold-p-0", {})
    looks = iter([told(), told("hold-p-1"), told("hold-p-0"), told("hold-p-0"), told("hold-p-0"), told("hold-p-1")])
    found = HoldKeeper(server, "holds", FakeClock(), lambda: next(looks))  # type: ignore[arg-type]
    found.hold([REQUEST])
    [patch] = server.asked("PATCH")
    assert patch.body["metadata"]["uid"] == told("hold-p-0")[0].uid
    found.release(["hold-p-0"])
    assert [request for request in server.asked("GET") if request.path == PODS] == []
    assert list(looks) == []


def test_a_watch_that_tells_nothing_for_two_seconds_is_not_waited_for() -> None:
    """Then the server itself is asked."""
    server, clock = ready_server(), FakeClock()
    began = clock.monotonic()
    HoldKeeper(server, "holds", clock, told).hold([REQUEST])  # type: ignore[arg-type]
    assert [request.path for request in server.asked("GET")].count(PODS) == 2
    assert 2.0 <= clock.monotonic() - began < PATIENCE_SECONDS
