"""Requests for room and marks of emptied nodes over the wire: what is written, found again and removed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.autoscalers.capacity_objects import OUR_REQUESTS
from rescheduler.adapters.kubernetes.autoscalers.capacity_target import KubernetesCapacity
from rescheduler.adapters.kubernetes.guidance.emptied_marks import find_marks, mark, unmark
from rescheduler.adapters.kubernetes.guidance.node_writes import ATTEMPTS
from rescheduler.adapters.kubernetes.leftovers.cleaning import find_leftovers, remove_leftovers
from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.capacity import EMPTIED, CapacityRequest, PodSet
from rescheduler.model.objects.constraints import NodeAffinityRules, NodeSelectorTerm, Requirement, Toleration
from rescheduler.model.plan.plan import PodReference
from tests.builders import pod
from tests.clocks import FakeClock
from tests.unit.adapters.kubernetes.eviction.fake_server import FakeServer, Request, status

NOW = FakeClock().now()
HOLDS = "/namespaces/holds"
JOBS = f"/apis/batch/v1{HOLDS}/jobs"
TEMPLATES = f"/api/v1{HOLDS}/podtemplates"
REQUESTS = f"/apis/autoscaling.x-k8s.io/v1{HOLDS}/provisioningrequests"
BUFFERS = f"/apis/autoscaling.x-k8s.io/v1beta1{HOLDS}/capacitybuffers"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
CLASS = "/apis/scheduling.k8s.io/v1/priorityclasses/rescheduler-placeholder"

ZONE = Requirement("zone", "In", ("a", "b"))
SPEC = pod(
    "big-0", "1500m", "2Gi", extended={"nvidia.com/gpu": "1"}, node_selector=(("pool", "x"),), ports=(80,),
    tolerations=(Toleration("dedicated", "Exists"), Toleration("", "Exists")), scheduler_name="volcano",
    node_affinity=NodeAffinityRules((NodeSelectorTerm((ZONE, Requirement("gpu", "Exists"))),)),
).spec  # fmt: skip
PLAIN = pod("small-0", "1").spec


class Kept(FakeServer):
    """A server that keeps what is made in the hold namespace."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, dict[str, Any]] = {path: {} for path in (JOBS, TEMPLATES, REQUESTS, BUFFERS)}
        self.answer("GET", "/api/v1/namespaces/holds", {})
        for path, found in self.objects.items():
            self.answer("POST", path, lambda request, found=found: self._made(request, found))
            self.answer("GET", path, lambda _request, found=found: {"items": list(found.values())})
        for group, names in (
            ("batch/v1", ["jobs"]),
            ("autoscaling.x-k8s.io/v1", ["provisioningrequests"]),
            ("autoscaling.x-k8s.io/v1beta1", ["capacitybuffers"]),
        ):
            self.answer("GET", f"/apis/{group}", {"resources": [{"name": name} for name in names]})
        self.answer("POST", REVIEWS, {"status": {"allowed": True}})
        self.answer("GET", CLASS, {})

    def _made(self, request: Request, found: dict[str, Any]) -> Any:
        name = request.body["metadata"]["name"]
        if name in found:
            return status(409, "already exists")
        made = {**request.body, "metadata": {**request.body["metadata"], "creationTimestamp": "2027-01-15T08:00:00Z"}}
        found[name] = made
        path = f"{request.path}/{name}"
        self.answer("DELETE", path, lambda _request: {} if found.pop(name, None) else status(404))
        return made


def request(how: str, *shapes: PodSet) -> CapacityRequest:
    """A request for two pods."""
    pods = (PodReference("default", "big-0", "u0"), PodReference("default", "big-1", "u1"))
    return CapacityRequest("rescheduler-abc", how, pods, shapes or (PodSet(SPEC, 2),), NOW + 600)


def target(server: FakeServer) -> KubernetesCapacity:
    """Requests in the hold namespace."""
    return KubernetesCapacity(server, "holds", FakeClock())  # type: ignore[arg-type]


def test_placeholders_are_a_job_that_ends_by_itself() -> None:
    """Of pods with the needs of those that wait, ungated, and of the lowest priority."""
    server = Kept()
    target(server).ask(request("Placeholders"))
    [job] = server.objects[JOBS].values()
    labels = {"app.kubernetes.io/managed-by": "rescheduler", "rescheduler.dev/capacity": "rescheduler-abc"}
    assert job["metadata"]["labels"] == labels
    assert job["metadata"]["annotations"]["rescheduler.dev/for"] == "u0,u1"
    assert job["metadata"]["annotations"]["rescheduler.dev/expires"] == "2027-01-15T08:10:00Z"
    spec = job["spec"]
    assert (spec["parallelism"], spec["completions"], spec["activeDeadlineSeconds"], spec["backoffLimit"]) == (
        2,
        2,
        600,
        0,
    )
    assert spec["template"]["metadata"]["labels"] == labels
    found = spec["template"]["spec"]
    assert "schedulingGates" not in found
    assert (found["priorityClassName"], found["schedulerName"]) == ("rescheduler-placeholder", "volcano")
    assert found["nodeSelector"] == {"pool": "x"}
    assert found["tolerations"] == [{"key": "dedicated", "operator": "Exists"}, {"operator": "Exists"}]
    [container] = found["containers"]
    assert container["resources"] == {
        "requests": {"cpu": "1500m", "memory": str(2 * 2**30), "nvidia.com/gpu": "1"},
        "limits": {"nvidia.com/gpu": "1"},
    }
    assert "ports" not in container
    terms = found["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert terms == [
        {
            "matchExpressions": [
                {"key": "zone", "operator": "In", "values": ["a", "b"]},
                {"key": "gpu", "operator": "Exists"},
            ]
        }
    ]


def test_a_provisioning_request_names_a_template_for_each_shape() -> None:
    """All at once or not at all, and for no longer than is waited."""
    server = Kept()
    target(server).ask(request("ProvisioningRequest", PodSet(SPEC, 2), PodSet(PLAIN, 1)))
    [made] = server.objects[REQUESTS].values()
    assert made["spec"] == {
        "provisioningClassName": "best-effort-atomic-scale-up.autoscaling.x-k8s.io",
        "parameters": {"ValidUntilSeconds": "600"},
        "podSets": [
            {"count": 2, "podTemplateRef": {"name": "rescheduler-abc-0"}},
            {"count": 1, "podTemplateRef": {"name": "rescheduler-abc-1"}},
        ],
    }
    templates = server.objects[TEMPLATES]
    assert list(templates) == ["rescheduler-abc-0", "rescheduler-abc-1"]
    assert "priorityClassName" not in templates["rescheduler-abc-0"]["template"]["spec"]
    posted = [item.path for item in server.asked("POST") if item.path != REVIEWS]
    assert posted == [TEMPLATES, TEMPLATES, REQUESTS], "what is referred to comes first"


def test_a_capacity_buffer_is_one_for_each_shape() -> None:
    """With its replicas."""
    server = Kept()
    target(server).ask(request("CapacityBuffer"))
    [made] = server.objects[BUFFERS].values()
    assert made["spec"] == {
        "provisioningStrategy": "buffer.x-k8s.io/active-capacity",
        "podTemplateRef": {"name": "rescheduler-abc"},
        "replicas": 2,
    }


@pytest.mark.parametrize("how", ["ProvisioningRequest", "CapacityBuffer", "Placeholders"])
def test_what_was_asked_for_is_found_again_and_withdrawn(how: str) -> None:
    """By another process too; asking again changes nothing; others' objects are never looked at."""
    server = Kept()
    target(server).ask(request(how, PodSet(SPEC, 2), PodSet(PLAIN, 1)))
    target(server).ask(request(how, PodSet(SPEC, 2), PodSet(PLAIN, 1)))
    [standing] = target(server).standing(how)
    assert (standing.name, standing.how, standing.pods) == ("rescheduler-abc", how, ("u0", "u1"))
    assert (standing.made_at, standing.expires_at, standing.failure) == (NOW, NOW + 600, "")
    target(server).withdraw(how, ["another"])
    assert target(server).standing(how)
    target(server).withdraw(how, ["rescheduler-abc"])
    assert all(not found for found in server.objects.values())
    for item in server.asked("GET"):
        if item.path in server.objects:
            assert item.params == {"labelSelector": OUR_REQUESTS}


def test_a_request_that_has_failed_says_why() -> None:
    """In the autoscaler's words."""
    server = Kept()
    target(server).ask(request("ProvisioningRequest"))
    server.objects[REQUESTS]["rescheduler-abc"]["status"] = {
        "conditions": [
            {"type": "Accepted", "status": "True"},
            {"type": "Failed", "status": "True", "message": "no quota"},
        ]
    }
    assert target(server).standing("ProvisioningRequest")[0].failure == "no quota"


def test_a_request_without_a_readable_end_has_run_out() -> None:
    """Whoever has edited it."""
    server = Kept()
    target(server).ask(request("Placeholders"))
    server.objects[JOBS]["rescheduler-abc"]["metadata"]["annotations"] = {"rescheduler.dev/expires": "soon"}
    assert target(server).standing("Placeholders")[0].expires_at == 0.0


def test_what_is_missing_is_said_until_it_is_there() -> None:
    """An API, a PriorityClass, a right; asked once more than it takes."""
    server = Kept()
    for how, path, told in (
        ("ProvisioningRequest", "/apis/autoscaling.x-k8s.io/v1", "does not serve provisioningrequests of autoscaling"),
        ("Placeholders", CLASS, "there is no PriorityClass rescheduler-placeholder; deploy/autoscaler.yaml brings it"),
    ):
        found = target(server)
        kept = server.get(path)
        server.answer("GET", path, status(404))
        assert told in (found.cannot(how) or "")
        server.answer("GET", path, json.loads(kept))
        assert found.cannot(how) is None
        count = len(server.requests)
        assert found.cannot(how) is None
        assert len(server.requests) == count
    server.answer("POST", REVIEWS, {"status": {"allowed": False}})
    assert target(server).cannot("CapacityBuffer") == (
        "we may not create capacitybuffers, get capacitybuffers, list capacitybuffers, delete capacitybuffers, create "
        "podtemplates, get podtemplates, list podtemplates, delete podtemplates (namespace holds); "
        "deploy/autoscaler.yaml grants it"
    )
    assert target(server).cannot("Taint") == "we may not get nodes, patch nodes; deploy/autoscaler.yaml grants it"


def test_a_refusal_is_an_error_that_names_the_path() -> None:
    """It is not taken for done."""
    server = Kept()
    server.answer("POST", JOBS, status(422, "bad"))
    with pytest.raises(ClusterError, match="bad"):
        target(server).ask(request("Placeholders"))


class Nodes(FakeServer):
    """One node, and somebody who writes to it in between."""

    def __init__(self, conflicts: int = 0) -> None:
        super().__init__()
        self.conflicts = conflicts
        self.node: dict[str, Any] = {
            "metadata": {"name": "n1", "uid": "u", "resourceVersion": "1", "annotations": {"own": "x"}},
            "spec": {"taints": [{"key": "own", "effect": "NoSchedule"}]},
        }
        self.answer("GET", "/api/v1/nodes/n1", lambda _request: self.node)
        self.answer("GET", "/api/v1/nodes", lambda _request: {"items": [self.node]})
        self.answer("PATCH", "/api/v1/nodes/n1", self._patched)

    def _patched(self, request: Request) -> Any:
        if self.conflicts:
            self.conflicts -= 1
            return status(409, "conflict")
        annotations = {**self.node["metadata"]["annotations"], **request.body["metadata"].get("annotations", {})}
        self.node["metadata"]["annotations"] = {key: value for key, value in annotations.items() if value is not None}
        if "spec" in request.body:
            self.node["spec"]["taints"] = request.body["spec"]["taints"]
        return self.node


def test_marks_come_and_go_and_nothing_else_changes() -> None:
    """The annotation or the taint; a conflict is tried again."""
    server = Nodes(conflicts=2)
    assert find_marks(server) == []  # type: ignore[arg-type]
    mark(server, "n1", "Annotate", NOW)  # type: ignore[arg-type]
    assert server.node["metadata"]["annotations"] == {"own": "x", EMPTIED: "2027-01-15T08:00:00Z"}
    mark(server, "n1", "Taint", NOW)  # type: ignore[arg-type]
    mark(server, "n1", "Taint", NOW + 5)  # type: ignore[arg-type]
    ours = {"key": EMPTIED, "value": str(int(NOW) + 5), "effect": "NoSchedule"}
    assert server.node["spec"]["taints"] == [{"key": "own", "effect": "NoSchedule"}, ours]
    assert find_marks(server) == ["n1"]  # type: ignore[arg-type]
    assert unmark(server, "n1")  # type: ignore[arg-type]
    assert not unmark(server, "n1")  # type: ignore[arg-type]
    assert server.node["metadata"]["annotations"] == {"own": "x"}
    assert server.node["spec"]["taints"] == [{"key": "own", "effect": "NoSchedule"}]
    for item in server.asked("PATCH"):
        assert {"uid", "resourceVersion"} <= set(item.body["metadata"])


def test_a_node_that_is_gone_is_fine_and_one_that_never_rests_is_told() -> None:
    """After many attempts."""
    assert not unmark(FakeServer(), "gone")  # type: ignore[arg-type]
    with pytest.raises(ClusterError, match="changed by others all the time"):
        mark(Nodes(conflicts=ATTEMPTS), "n1", "Annotate", NOW)  # type: ignore[arg-type]


def test_clean_finds_and_removes_all_of_it() -> None:
    """Requests of every way, and marks."""
    server = Kept()
    for how in ("ProvisioningRequest", "CapacityBuffer", "Placeholders"):
        target(server).ask(request(how)._replace(name=f"r-{how.lower()}"))
    nodes = Nodes()
    mark(nodes, "n1", "Taint", NOW)  # type: ignore[arg-type]
    for method, path in nodes._answers:
        server._answers[method, path] = nodes._answers[method, path]
    for path in ("/apis/batch/v1/jobs", "/api/v1/pods"):
        server.answer("GET", path, {"items": []})
    found = find_leftovers(server, "holds")  # type: ignore[arg-type]
    assert {item.text for item in found} == {
        "ProvisioningRequest holds/r-provisioningrequest", "PodTemplate holds/r-provisioningrequest",
        "CapacityBuffer holds/r-capacitybuffer", "PodTemplate holds/r-capacitybuffer", "Job holds/r-placeholders",
        f"Mark {EMPTIED} on node n1",
    }  # fmt: skip
    assert remove_leftovers(server, found) == found  # type: ignore[arg-type]
    assert all(not kept for kept in server.objects.values())
    assert find_marks(server) == []  # type: ignore[arg-type]
