"""What somebody may do to pods, nodes, budgets, holds and the ledger while a plan runs, and scenes for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.cluster.api import STRATEGIC_PATCH, Manifest
from tests.cluster.applying.changed_scene import LEDGER, Scene, ensure_holds
from tests.cluster.cluster import condition
from tests.cluster.plane.kwok import NEVER_READY, NOT_READY
from tests.cluster.shapes import deployment, disruption_budget, pod, priority_class, resource_quota
from tests.cluster.tool import HOLDS
from tests.cluster.waiting import wait_until

Change = Callable[[Scene], None]


def built(kind: Callable[..., Manifest] = deployment, **template: Any) -> Change:
    """A scene whose ``first`` differs so."""
    return lambda scene: scene.build(kind, **template)


# Pods and their owners.


def delete_pod(scene: Scene) -> None:
    """Its owner makes another."""
    name = scene.pod()["metadata"]["name"]
    scene.api.delete("pods", name, scene.namespace, grace_seconds=0)
    scene.cluster.wait_gone("pods", name, scene.namespace, uid=scene.moved["first"]["uid"])


def make_pod_anew(scene: Scene) -> None:
    """A StatefulSet's pod comes again under its name."""
    delete_pod(scene)
    wait_until(lambda: bool(scene.new()), "the pod of the same name")


def change_pod(**metadata: Any) -> Change:
    """Labels or annotations of the pod that is to move."""
    return lambda scene: patch_pod(scene, {"metadata": metadata})


def patch_pod(scene: Scene, body: Any, subresource: str = "") -> None:
    """Change the pod that is to move."""
    name = scene.moved["first"]["name"]
    scene.api.patch("pods", name, body, scene.namespace, subresource=subresource)


def protect_pod(scene: Scene) -> None:
    """Its owner's people want it left alone."""
    scene.by_hand.append(scene.moved["first"]["name"])
    patch_pod(scene, {"metadata": {"annotations": {"rescheduler.dev/do-not-evict": "true"}}})


def resize_pod(scene: Scene) -> None:
    """Its container asks for less than it did."""
    patch = {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "3500m"}}}]}}
    path = f"/api/v1/namespaces/{scene.namespace}/pods/{scene.moved['first']['name']}/resize"
    scene.api.request("PATCH", path, patch, content_type=STRATEGIC_PATCH)


def break_pod(scene: Scene) -> None:
    """It runs and is not ready any more."""
    patch_pod(scene, {"metadata": {"annotations": {NEVER_READY: "true"}}})
    conditions = [{"type": kind, "status": "False"} for kind in ("ContainersReady", "Ready")]
    path = f"/api/v1/namespaces/{scene.namespace}/pods/{scene.moved['first']['name']}/status"
    body = {"status": {"conditions": conditions}}
    scene.api.request("PATCH", path, body, content_type=STRATEGIC_PATCH)


def release_pod(scene: Scene) -> None:
    """It is nobody's any more, and its owner makes another."""
    patch_pod(scene, {"metadata": {"labels": {"app": "alone"}}})
    wait_until(lambda: len(scene.pods()) == 1, "the pod that comes for it")
    patch_pod(scene, {"metadata": {"ownerReferences": None}})


def scale(replicas: int) -> Change:
    """Its Deployment wants so many, and has them."""

    def change(scene: Scene) -> None:
        scene.api.patch("deployments", "first", {"spec": {"replicas": replicas}}, scene.namespace)
        wait_until(lambda: len(scene.pods()) == replicas, f"{replicas} pods")

    return change


def delete_owner(scene: Scene) -> None:
    """With its pods."""
    scene.api.delete("deployments", "first", scene.namespace)
    wait_until(lambda: not scene.pods(), "no pod")


def roll_out(scene: Scene) -> None:
    """A new revision is on its way."""
    old = {pod["metadata"]["uid"] for pod in scene.pods()}
    template = {"metadata": {"annotations": {"revision": "2", NEVER_READY: None}}}
    scene.api.patch("deployments", "first", {"spec": {"template": template}}, scene.namespace)
    wait_until(lambda: any(pod["metadata"]["uid"] not in old for pod in scene.pods()), "a pod of the new revision")


def delete_namespace(scene: Scene) -> None:
    """With everything in it."""
    scene.api.delete("namespaces", scene.namespace)
    wait_until(lambda: not scene.pods(), "no pod")


# Nodes.


def change_node(name: str, body: Any) -> Change:
    """Some of its fields."""
    return lambda scene: void(scene.api.patch("nodes", name, body))


def void(_: object) -> None:
    """A change answers nothing."""


def cordon(*names: str) -> Change:
    """Close nodes to new pods."""

    def change(scene: Scene) -> None:
        for name in names:
            scene.api.patch("nodes", name, {"spec": {"unschedulable": True}})

    return change


def delete_node(name: str) -> Change:
    """With whatever stood there, sooner or later."""

    def change(scene: Scene) -> None:
        scene.api.delete("nodes", name)
        scene.cluster.wait_gone("nodes", name)

    return change


def break_node(name: str) -> Change:
    """It is not ready any more."""

    def change(scene: Scene) -> None:
        scene.api.patch("nodes", name, {"metadata": {"annotations": {NOT_READY: "true"}}})
        wait_until(lambda: condition(scene.api.get("nodes", name), "Ready") == "False", f"{name} not ready")

    return change


def shrink(name: str, cpu: str) -> Change:
    """It has less to give."""
    body = {"status": {"allocatable": {"cpu": cpu}}}
    return lambda scene: void(scene.api.patch("nodes", name, body, subresource="status"))


def fill(name: str, cpu: str, **spec: Any) -> Change:
    """A stranger's pod is bound there by hand; further fields are those of its specification."""

    def change(scene: Scene) -> None:
        scene.cluster.create(pod("stranger", cpu=cpu, spec={"nodeName": name, **spec}))

    return change


# Budgets.


def budget(**spec: Any) -> Change:
    """One over the pod that is to move, counted by its controller."""

    def change(scene: Scene) -> None:
        scene.cluster.create(disruption_budget("first", scene.namespace, **spec))
        wait_counted(scene, "first")

    return change


def wait_counted(scene: Scene, name: str) -> None:
    """Until a budget has been looked at in its newest form."""

    def is_counted() -> bool:
        found = scene.api.get("poddisruptionbudgets", name, scene.namespace)
        return bool(found.get("status", {}).get("observedGeneration") == found["metadata"]["generation"])

    wait_until(is_counted, f"the count of budget {name}")


def budgeted(**spec: Any) -> Change:
    """The scene with a budget over ``first`` that stands from the beginning."""

    def build(scene: Scene) -> None:
        scene.build()
        budget(**spec)(scene)

    return build


def change_budget(**spec: Any) -> Change:
    """Write it anew."""

    def change(scene: Scene) -> None:
        scene.api.patch("poddisruptionbudgets", "first", {"spec": spec}, scene.namespace)
        wait_counted(scene, "first")

    return change


def delete_budget(scene: Scene) -> None:
    """It binds nobody any more."""
    scene.api.delete("poddisruptionbudgets", "first", scene.namespace)


def add_budget(scene: Scene) -> None:
    """A second one over the same pod, which would let it go."""
    scene.cluster.create(disruption_budget("other", scene.namespace, app="first", maxUnavailable=1))
    wait_counted(scene, "other")


def spoil_budget(scene: Scene) -> None:
    """A pod comes under it whose owner says not how many it wants, so that nobody can count any more."""
    owner = scene.api.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "odd", "namespace": scene.namespace}}
    )
    odd = pod("odd", scene.namespace, cpu="100m", labels={"app": "odd"}, spec={"nodeName": "d-0"})
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "odd", "uid": owner["metadata"]["uid"]}
    odd["metadata"]["ownerReferences"] = [{**reference, "controller": True}]
    scene.cluster.create(odd)

    def is_spoilt() -> bool:
        found = scene.api.get("poddisruptionbudgets", "first", scene.namespace)["status"]
        return bool(found["disruptionsAllowed"] == 0)

    wait_until(is_spoilt, "a budget that allows nothing")


# Holds.


def delete_placeholders(scene: Scene) -> None:
    """Somebody tidies up too early."""
    for job in scene.api.list("jobs", HOLDS):
        scene.api.delete("jobs", job["metadata"]["name"], HOLDS)
    wait_until(lambda: not scene.api.list("pods", HOLDS), "no placeholder")


def clear_nomination(scene: Scene) -> None:
    """As a scheduler does that found no way."""
    assert scene.new()
    for new in scene.new():
        body = {"status": {"nominatedNodeName": None}}
        scene.api.patch("pods", new["metadata"]["name"], body, scene.namespace, subresource="status")
    scene.cluster.control_plane.resume("kube-scheduler")


def unscheduled(scene: Scene) -> None:
    """A scene in which nobody places pods for a while, so that the replacement has to be nominated."""
    scene.build()
    scene.cluster.control_plane.pause("kube-scheduler")


def forbid_placeholders(scene: Scene) -> None:
    """A quota of the hold namespace lets no pod in."""
    ensure_holds(scene)
    scene.cluster.create(resource_quota("none", HOLDS, pods="0"))


def delete_class(scene: Scene) -> None:
    """Of the pods that are to move."""
    scene.api.delete("priorityclasses", "weighty")


def with_class(scene: Scene) -> None:
    """The scene with a priority class of its own."""
    scene.cluster.create(priority_class("weighty", 1000))
    scene.build(spec={"priorityClassName": "weighty"})


# The ledger.


def mark_ledger(scene: Scene) -> None:
    """The kill switch."""
    body = {"metadata": {"annotations": {"rescheduler.dev/stop": "maintenance of rack 7"}}}
    scene.api.patch("configmaps", LEDGER, body, HOLDS)


def mark_namespace(scene: Scene) -> None:
    """The same, on the namespace."""
    body = {"metadata": {"annotations": {"rescheduler.dev/stop": "maintenance of rack 7"}}}
    scene.api.patch("namespaces", HOLDS, body)


def delete_ledger(scene: Scene) -> None:
    """Somebody tidies up too much."""
    scene.api.delete("configmaps", LEDGER, HOLDS)


def begin_another_plan(scene: Scene) -> None:
    """Somebody else takes the next number."""
    head = json.loads(scene.api.get("configmaps", LEDGER, HOLDS)["data"]["ledger.json"])
    text = json.dumps({**head, "plan": head["plan"] + 1, "holder": "another"})
    scene.api.patch("configmaps", LEDGER, {"data": {"ledger.json": text}}, HOLDS)


def garble_ledger(scene: Scene) -> None:
    """Somebody edits what is not his."""
    scene.api.patch("configmaps", LEDGER, {"data": {"ledger.json": "no ledger"}}, HOLDS)


# Landing.


def forbid_pods(scene: Scene) -> None:
    """A quota lets no new pod in."""
    scene.cluster.create(resource_quota("none", scene.namespace, pods="0"))


def delete_new(scene: Scene) -> None:
    """Whoever came goes again, and another one comes, which gets ready."""
    for new in scene.new():
        name = new["metadata"]["name"]
        scene.api.delete("pods", name, scene.namespace, grace_seconds=0)
        scene.cluster.wait_gone("pods", name, scene.namespace)
    wait_until(lambda: bool(scene.new()), "another replacement")
    for new in scene.new():
        scene.free(new)
