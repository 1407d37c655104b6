"""Pods are taken out and given back by one patch each, found wherever they are, and never another pod."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.paths import ALL_PODS
from rescheduler.adapters.kubernetes.eviction.detaching import (
    ATTEMPTS,
    detach,
    find_detached,
    give_all_back,
    give_back,
    give_plan_back,
)
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.surge_mark import TEMPLATE_HASH
from rescheduler.model.plan.detachment import Detachment
from rescheduler.model.plan.plan import PodReference
from tests.unit.adapters.kubernetes.eviction.fake_server import FakeServer, status

OUT = Detachment(TEMPLATE_HASH, "h1", "p1", "2027-01-15T08:00:00Z")
POD = PodReference("default", "web-0", "u0")
PATH = "/api/v1/namespaces/default/pods/web-0"


def found(version: str = "7", **metadata: Any) -> dict[str, Any]:
    """The pod as the server has it while it is out."""
    fields = {
        "name": "web-0", "namespace": "default", "uid": "u0", "resourceVersion": version,
        "labels": {"app": "web", TEMPLATE_HASH: "h1-leaving"}, "annotations": {SURGE: OUT.written(), "theirs": "x"},
    }  # fmt: skip
    return {"metadata": {**fields, **metadata}}


@pytest.fixture
def server() -> Any:
    """A server that takes patches."""
    made = FakeServer()
    made.answer("PATCH", PATH, {})
    made.answer("GET", PATH, found())
    return made


def test_one_patch_takes_exactly_this_pod_out(server: Any) -> None:
    """With uid and version; the reference is merged by uid, and is no controller's any more."""
    assert detach(server, POD, "7", "rs", OUT) is True
    [request] = server.asked("PATCH")
    assert request.body == {
        "metadata": {
            "uid": "u0", "resourceVersion": "7", "labels": {TEMPLATE_HASH: "h1-leaving"},
            "annotations": {SURGE: OUT.written()}, "ownerReferences": [{"uid": "rs", "controller": False}],
        }
    }  # fmt: skip


@pytest.mark.parametrize("code", [404, 409])
def test_a_pod_that_has_changed_is_not_taken_out(server: Any, code: int) -> None:
    """Told by False; anything else is an error."""
    server.answer("PATCH", PATH, status(code))
    assert detach(server, POD, "7", "rs", OUT) is False
    server.answer("PATCH", PATH, status(403, "cannot set owner references"))
    with pytest.raises(ClusterError, match="cannot set owner references"):
        detach(server, POD, "7", "rs", OUT)


def test_giving_back_writes_label_and_annotation_only(server: Any) -> None:
    """Of the pod as it was read."""
    assert give_back(server, "default", "web-0", "u0") is True
    [request] = server.asked("PATCH")
    assert request.body == {
        "metadata": {
            "uid": "u0", "resourceVersion": "7", "labels": {TEMPLATE_HASH: "h1"}, "annotations": {SURGE: None},
        }
    }  # fmt: skip


@pytest.mark.parametrize(
    "metadata", [{"uid": "another"}, {"annotations": {"theirs": "x"}}, {"deletionTimestamp": "2027-01-15T08:00:00Z"}]
)
def test_what_is_not_out_is_left_alone(server: Any, metadata: dict[str, Any]) -> None:
    """Another pod of the name, one that says nothing, one on its way out, and one that is gone."""
    server.answer("GET", PATH, found(**metadata))
    assert give_back(server, "default", "web-0", "u0") is False
    assert give_back(server, "default", "gone", "u0") is False
    assert server.asked("PATCH") == []


def test_whoever_writes_to_the_pod_meanwhile_costs_an_attempt(server: Any) -> None:
    """It is read again; somebody who never stops is told."""
    server.answer("GET", PATH, found("7"), found("8"))
    server.answer("PATCH", PATH, status(409), {})
    assert give_back(server, "default", "web-0", "u0") is True
    assert [request.body["metadata"]["resourceVersion"] for request in server.asked("PATCH")] == ["7", "8"]
    server.answer("PATCH", PATH, status(409))
    with pytest.raises(ClusterError, match="changed by others all the time"):
        give_back(server, "default", "web-0", "u0")
    assert len(server.asked("PATCH")) == 2 + ATTEMPTS


def test_a_label_that_is_not_ours_any_more_stays(server: Any) -> None:
    """Only the annotation is taken off."""
    server.answer("GET", PATH, found(labels={TEMPLATE_HASH: "theirs"}))
    assert give_back(server, "default", "web-0", "") is True
    assert server.asked("PATCH")[0].body["metadata"]["labels"] == {}


def test_all_that_are_out_are_found_and_those_of_a_plan_given_back(server: Any) -> None:
    """One that fails does not keep the others; a pod on its way out is not out any more."""
    others = [
        found(name="web-1", uid="u1", annotations={SURGE: "spoilt"}),
        found(name="web-2", uid="u2", annotations={}),
        found(name="web-3", uid="u3", deletionTimestamp="2027-01-15T08:00:00Z"),
    ]
    server.answer("GET", ALL_PODS, {"items": [found(), *others]})
    assert [(item.name, item.plan_id) for item in find_detached(server)] == [("web-0", "p1"), ("web-1", "")]
    assert [item.name for item in give_plan_back(server, lambda plan: plan == "p1")] == ["web-0"]
    server.answer("PATCH", PATH, status(500))
    server.answer("GET", PATH.replace("web-0", "web-1"), others[0])
    server.answer("PATCH", PATH.replace("web-0", "web-1"), {})
    with pytest.raises(ClusterError):
        give_all_back(server, find_detached(server))
    assert server.asked("PATCH")[-1].path.endswith("web-1")
