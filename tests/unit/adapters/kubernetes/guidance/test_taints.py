"""Our taint over the wire: nothing else of a node is written, and nobody's change in between is lost."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.connection import Response
from rescheduler.adapters.kubernetes.guidance.node_writes import ATTEMPTS
from rescheduler.adapters.kubernetes.guidance.taints import NodeTaints, TaintedNode, find_taints, sweep_taints
from rescheduler.adapters.kubernetes.leftovers.cleaning import find_leftovers, remove_leftovers
from rescheduler.extension_points import ClusterError, TaintLostError
from rescheduler.model.plan.leaving_taint import LEAVING, leaving_taint
from tests.clocks import FakeClock
from tests.unit.adapters.kubernetes.eviction.fake_server import FakeServer, Request, status

OWN = {"key": "example.com/own", "value": "x", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}
NODES = "/api/v1/nodes"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class Nodes(FakeServer):
    """A server that keeps nodes: a change under an old version is a conflict; ``meddle``: others' changes to come."""

    def __init__(self, **taints: list[dict[str, Any]]) -> None:
        super().__init__()
        self.meddle: list[dict[str, Any]] = []
        self.nodes = {name: self._node(name, found) for name, found in taints.items()}
        for name in self.nodes:
            self.answer("GET", f"{NODES}/{name}", lambda _request, name=name: self.nodes[name])
            self.answer("PATCH", f"{NODES}/{name}", lambda request, name=name: self._patched(name, request))
        self.answer("GET", NODES, lambda _request: {"items": list(self.nodes.values())})

    def taints(self, name: str) -> list[dict[str, Any]]:
        """The taints of a node."""
        return list(self.nodes[name]["spec"].get("taints") or [])

    def _node(self, name: str, taints: list[dict[str, Any]], version: int = 1) -> dict[str, Any]:
        metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}
        return {"metadata": metadata, "spec": {"podCIDR": "10.0.0.0/24", **({"taints": taints} if taints else {})}}

    def _patched(self, name: str, request: Request) -> Any:
        version = int(self.nodes[name]["metadata"]["resourceVersion"])
        if self.meddle:
            self.nodes[name] = self._node(name, [*self.taints(name), self.meddle.pop(0)], version + 1)
        if request.body["metadata"]["resourceVersion"] != self.nodes[name]["metadata"]["resourceVersion"]:
            return status(409, "the object has been modified")
        self.nodes[name] = self._node(name, request.body["spec"]["taints"], version + 1)
        return self.nodes[name]


def keeper(server: FakeServer, clock: FakeClock | None = None) -> NodeTaints:
    """The taints of one process."""
    return NodeTaints(server, clock or FakeClock())  # type: ignore[arg-type]


def ours(plan_id: str, end: float) -> dict[str, Any]:
    """Our taint as it is written."""
    return {"key": LEAVING, "value": leaving_taint(plan_id, end).value, "effect": "NoSchedule"}


def test_it_is_put_beside_others_renewed_and_taken_off() -> None:
    """One taint of ours at any time; others stay word for word, and nothing else is in the patch."""
    server, clock = Nodes(a=[OWN], b=[]), FakeClock()
    taints = keeper(server, clock)
    taints.put(["a", "b"], "p", 60)
    assert server.taints("a") == [OWN, ours("p", clock.now() + 60)]
    clock.sleep(30)
    taints.put(["a"], "p", 60)
    assert server.taints("a") == [OWN, ours("p", clock.now() + 60)]
    taints.take_off(["a", "b", "gone"])
    assert (server.taints("a"), server.taints("b")) == ([OWN], [])
    for request in server.asked("PATCH"):
        assert set(request.body) == {"metadata", "spec"}
        assert set(request.body["metadata"]) == {"uid", "resourceVersion"}
        assert set(request.body["spec"]) == {"taints"}


def test_a_change_by_another_in_between_is_not_lost() -> None:
    """The conflict makes us look again, at putting and at taking off."""
    server = Nodes(a=[])
    taints = keeper(server)
    server.meddle = [OWN]
    taints.put(["a"], "p", 60)
    assert [item["key"] for item in server.taints("a")] == ["example.com/own", LEAVING]
    server.meddle = [{**OWN, "key": "example.com/second"}]
    taints.take_off(["a"])
    assert [item["key"] for item in server.taints("a")] == ["example.com/own", "example.com/second"]


def test_endless_conflicts_end_in_an_error() -> None:
    """Not in a loop."""
    server = FakeServer()
    server.answer("GET", f"{NODES}/a", {"metadata": {"name": "a", "uid": "u", "resourceVersion": "1"}, "spec": {}})
    server.answer("PATCH", f"{NODES}/a", status(409, "modified"))
    with pytest.raises(ClusterError, match="node a is changed by others"):
        keeper(server).put(["a"], "p", 60)
    assert len(server.asked("PATCH")) == ATTEMPTS


def test_a_node_that_is_gone_is_fine() -> None:
    """Before it is read, and between reading and writing."""
    server = FakeServer()
    server.answer("GET", f"{NODES}/a", {"metadata": {"name": "a", "uid": "u", "resourceVersion": "1"}, "spec": {}})
    keeper(server).put(["a", "b"], "p", 60)
    keeper(server).take_off(["b"])


def test_a_missing_right_is_told_with_the_verb() -> None:
    """In the server's words and ours."""
    server = Nodes(a=[])
    server.answer("PATCH", f"{NODES}/a", status(403, "no"))
    with pytest.raises(ClusterError, match="patch nodes"):
        keeper(server).put(["a"], "p", 60)


def test_one_node_that_fails_does_not_keep_the_others_closed() -> None:
    """All are tried before the error is told."""
    server, clock = Nodes(a=[], b=[]), FakeClock()
    taints = keeper(server, clock)
    taints.put(["a", "b"], "p", 60)
    server.answer("GET", f"{NODES}/a", ClusterError("connection refused"))
    with pytest.raises(ClusterError, match="refused"):
        taints.take_off(["a", "b"])
    assert server.taints("b") == []


def test_a_node_made_anew_under_the_same_name_is_closed_again() -> None:
    """Nobody took anything off it; one that stayed and lost it is another matter."""
    server = Nodes(a=[])
    taints = keeper(server)
    taints.put(["a"], "p", 60)
    server.nodes["a"] = {"metadata": {"name": "a", "uid": "new", "resourceVersion": "9"}, "spec": {}}
    taints.put(["a"], "p", 60)
    server.nodes["a"] = {"metadata": {"name": "a", "uid": "new", "resourceVersion": "11"}, "spec": {}}
    server.answer("PATCH", f"{NODES}/a", status(500, "must not be asked"))
    server.nodes["a"]["metadata"]["uid"] = "uid-a"
    taints._standing["a"] = "uid-a"
    with pytest.raises(TaintLostError):
        taints.put(["a"], "p", 60)


def test_rights_are_asked_for_before_anything_is_written() -> None:
    """get and patch on nodes; what is missing is named with what grants it."""
    server = FakeServer()
    server.answer("POST", REVIEWS, lambda request: {
        "status": {"allowed": request.body["spec"]["resourceAttributes"]["verb"] == "get"}
    })  # fmt: skip
    assert keeper(server).why_not() == "we may not patch nodes; deploy/taint.yaml grants it"
    asked = [request.body["spec"]["resourceAttributes"] for request in server.asked("POST")]
    assert [(item["verb"], item["resource"], item["namespace"]) for item in asked] == [
        ("get", "nodes", ""), ("patch", "nodes", ""),
    ]  # fmt: skip
    server.answer("POST", REVIEWS, {"status": {"allowed": True}})
    assert keeper(server).why_not() is None


def test_a_plans_taints_are_swept_and_those_of_others_stay() -> None:
    """What a guardian does when its process is dead; without a plan, all of ours go."""
    server = Nodes(a=[OWN, ours("p", 100)], b=[ours("q", 100)], c=[OWN])
    assert sweep_taints(server, "p") == ["a"]  # type: ignore[arg-type]
    assert (server.taints("a"), server.taints("b")) == ([OWN], [ours("q", 100)])
    assert sweep_taints(server, None) == ["b"]  # type: ignore[arg-type]
    assert find_taints(server) == []  # type: ignore[arg-type]


def test_clean_finds_and_removes_them_with_their_plan_and_end() -> None:
    """Beside placeholders."""
    server = Nodes(a=[OWN, ours("p", 1_800_000_000)])
    for path in ("/apis/batch/v1/jobs", "/api/v1/pods"):
        server.answer("GET", path, {"items": []})
    found = find_leftovers(server, "holds")  # type: ignore[arg-type]
    assert [item.text for item in found] == [f"Taint {LEAVING} on node a (plan p, until 2027-01-15T08:00:00Z)"]
    assert remove_leftovers(server, found) == found  # type: ignore[arg-type]
    assert server.taints("a") == [OWN]


def test_a_taint_is_told_with_the_time_it_has() -> None:
    """Before and after its end."""
    text = TaintedNode("a", leaving_taint("p", 1000)).text
    assert "of plan p, ends in 10 s" in text(990)
    assert "ran out 20 s ago" in text(1020)


def test_an_answer_that_is_no_node_is_an_error() -> None:
    """Never a patch on a guess."""
    server = FakeServer()
    server.answer("GET", f"{NODES}/a", Response(200, {}, b'{"metadata": 7}'))
    with pytest.raises(ClusterError, match="cannot be read"):
        keeper(server).put(["a"], "p", 60)
