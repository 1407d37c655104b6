"""What a thief of our token may write one way, tried another way: collections, subresources, older versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.cluster.api import MERGE_PATCH
from tests.cluster.resources import resource_path
from tests.cluster.rights.thief_scene import GUARD, GUIDE, RIGHTS, STRATEGIC, SYSTEM, Attempt, Loot, named
from tests.cluster.tool import HOLDS


def patch(path: str, body: Any, by: str = GUARD, content_type: str = MERGE_PATCH) -> Attempt:
    """A patch of one object."""
    return Attempt(by, "PATCH", path, body, content_type)


def by_other_verbs(loot: Loot) -> Iterator[tuple[str, Attempt]]:
    """All of them, by what is attempted."""
    web = resource_path("pods", "default", loot.web["metadata"]["name"])
    gated = resource_path("pods", "default", "gated")
    for kind, where in (
        ("pods", HOLDS), ("pods", "default"), ("jobs", HOLDS), ("configmaps", HOLDS), ("leases", SYSTEM),
        ("podtemplates", HOLDS),
    ):  # fmt: skip
        yield f"all {kind} of {where}", Attempt(RIGHTS, "DELETE", resource_path(kind, where))
    yield "replace a pod", Attempt(RIGHTS, "PUT", web, loot.web)
    yield "replace our Job", Attempt(RIGHTS, "PUT", resource_path("jobs", HOLDS, "hold-p-0"), loot.placeholder)
    yield "status of our Job", patch(resource_path("jobs", HOLDS, "hold-p-0", "status"), {"status": {}}, RIGHTS)
    places: tuple[tuple[str, str | None, str], ...] = (
        ("configmaps", HOLDS, "rescheduler-ledger"), ("leases", SYSTEM, "rescheduler"), ("replicasets", "default", "w"),
        ("statefulsets", "default", "w"), ("poddisruptionbudgets", "default", "w"), ("priorityclasses", None, "w"),
        ("persistentvolumeclaims", "default", "w"), ("serviceaccounts", SYSTEM, "rescheduler"),
    )  # fmt: skip
    for kind, space, name in places:
        yield f"patch {kind}", patch(resource_path(kind, space, name), {"metadata": {"labels": {"a": "b"}}}, RIGHTS)
    for part in ("attach", "portforward"):
        yield part, Attempt(RIGHTS, "POST", f"{web}/{part}")
    for path in (f"{web}/log", f"{web}/proxy/", resource_path("nodes", None, "node-0", "proxy") + "/metrics"):
        yield f"read {path.rpartition('node-0')[2] or path}", Attempt(RIGHTS, "GET", path)
    old_event = {**named("v1", "Event", "mine", "default"), "involvedObject": {"kind": "Pod", "namespace": "default"}}
    yield "an Event of the old kind", Attempt(RIGHTS, "POST", "/api/v1/namespaces/default/events", old_event)
    old = named("policy/v1beta1", "Eviction", loot.web["metadata"]["name"], "default")
    yield "evict by the older version", Attempt(GUARD, "POST", f"{web}/eviction", old)
    term = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
    pinned = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    yield "affinity of a gated pod", patch(gated, {"spec": {"affinity": pinned}})
    off = [{"$patch": "delete", "name": GUIDE}]
    both = {"metadata": {"labels": {"app": "mine"}}, "spec": {"schedulingGates": off}}
    yield "labels beside our gate", patch(gated, both, content_type=STRATEGIC)
