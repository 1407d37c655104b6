"""What a move depends on is asked for by narrow requests, and whatever cannot be read stops it."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.kubernetes.eviction.vicinity import LiveReads, side_by_side
from rescheduler.adapters.vicinity import read_vicinity
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Move, PodReference
from rescheduler.model.plan.vicinity import Vicinity
from tests.builders import cluster, node, pod, workload
from tests.unit.adapters.api_objects import api_object, list_of, node_object, pod_object
from tests.unit.adapters.kubernetes.eviction.fake_server import FakeServer, status

MOVE = Move(PodReference("shop", "web-0", "uid-shop-web-0"), "n1", "n2", 1, "MakeRoom", "because")
PODS, BUDGETS = "/api/v1/namespaces/shop/pods", "/apis/policy/v1/namespaces/shop/poddisruptionbudgets"
OWNER = "/apis/apps/v1/namespaces/shop/replicasets/web"


def known() -> Cluster:
    """What the snapshot holds."""
    here = {"namespace": "shop"}
    return cluster(node("n1"), node("n2"), pod("web-0", node="n1", **here), workload("web", 2, namespace="shop"))  # type: ignore[arg-type]


def budget_object(name: str, **labels: str) -> dict[str, Any]:
    """A PodDisruptionBudget that was observed."""
    return api_object(
        "PodDisruptionBudget", name, namespace="shop", spec={"selector": {"matchLabels": labels}, "minAvailable": 1},
        status={"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2},
    )  # fmt: skip


def server() -> FakeServer:
    """Two replicas, a stranger on the destination, and two budgets, one of them about the pod."""
    found = FakeServer()
    web = [pod_object(f"web-{n}", f"n{n + 1}", namespace="shop") for n in range(2)]
    found.answer("GET", f"{PODS}/web-0", web[0])
    found.answer("GET", PODS, list_of(*web))
    found.answer("GET", "/api/v1/pods", list_of(web[1], pod_object("other", "n2", namespace="far")))
    found.answer("GET", BUDGETS, list_of(budget_object("web", app="web"), budget_object("db", app="db")))
    for name in ("n1", "n2"):
        found.answer("GET", f"/api/v1/nodes/{name}", node_object(name))
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}}
    found.answer("GET", OWNER, api_object("ReplicaSet", "web", namespace="shop", spec=spec, status={"replicas": 2}))
    return found


def look(at: FakeServer) -> Vicinity:
    """As a target looks."""
    return read_vicinity(LiveReads(at), MOVE, known(), side_by_side)  # type: ignore[arg-type]


def test_each_part_is_asked_for_by_itself() -> None:
    """Nothing lists the cluster; the pods of one selector are asked for once. What is told is in order of its names."""
    api = server()
    around = look(api)
    assert [item.key for item in around.pods] == ["far/other", "shop/web-0", "shop/web-1"]
    assert [item.name for item in around.budgets] == ["db", "web"]
    assert [item.name for item in around.nodes] == ["n1", "n2"]
    assert [item.key for item in around.workloads] == ["ReplicaSet shop/web"]
    asked = sorted((request.path, *request.params.values()) for request in api.requests)
    assert asked == sorted([
        (f"{PODS}/web-0",), (PODS, "app in (web)"), ("/api/v1/pods", "spec.nodeName=n1"),
        ("/api/v1/pods", "spec.nodeName=n2"), (BUDGETS,),
        ("/api/v1/nodes/n1",), ("/api/v1/nodes/n2",), (OWNER,),
    ])  # fmt: skip


def test_a_pod_that_is_on_its_node_is_not_asked_for_by_itself() -> None:
    """It is among those that were read there, with the version that its eviction needs."""
    api = server()
    api.answer("GET", "/api/v1/pods", list_of(pod_object("web-0", "n1", namespace="shop")))
    around = look(api)
    assert "shop/web-0" in [item.key for item in around.pods]
    assert f"{PODS}/web-0" not in [request.path for request in api.requests]


def test_what_is_not_there_is_left_out() -> None:
    """A pod, a node, an owner; and budgets where the server does not know them."""
    missing = status(404, "not found")
    api = server()
    for path in (f"{PODS}/web-0", "/api/v1/nodes/n2", OWNER, BUDGETS):
        api.answer("GET", path, missing)
    around = look(api)
    assert [item.key for item in around.pods] == ["far/other", "shop/web-1"]
    assert ([item.name for item in around.nodes], around.budgets, around.workloads) == (["n1"], (), ())


@pytest.mark.parametrize("path", [f"{PODS}/web-0", PODS, "/api/v1/pods", BUDGETS, "/api/v1/nodes/n2", OWNER])
@pytest.mark.parametrize(
    "answer",
    [status(403, "no"), status(500, "down"), {"items": 7, "metadata": 7}, {"items": [7], "metadata": {"name": 7}}],
)
def test_what_cannot_be_read_is_an_error(path: str, answer: Any) -> None:
    """No part is taken for empty."""
    api = server()
    api.answer("GET", path, answer)
    with pytest.raises(ClusterError):
        look(api)
