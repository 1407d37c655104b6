"""Pods that a dead run left out of their ReplicaSets are given back before anything else, and those of others stay."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.eviction.detaching import find_detached
from rescheduler.adapters.kubernetes.leftovers.cleaning import find_leftovers, remove_leftovers
from rescheduler.adapters.kubernetes.leftovers.orphans import give_stale_back, tidy_up
from rescheduler.adapters.kubernetes.leftovers.stale_leftovers import remove_stale
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.surge_mark import TEMPLATE_HASH
from rescheduler.model.plan.detachment import Detachment
from tests.builders import NOW
from tests.unit.adapters.kubernetes.api_server import HOLDS, ApiServer, gated_pod, our_job


@pytest.fixture
def api() -> Any:
    """A cluster whose own clock says NOW."""
    server = ApiServer()
    server.server_time = NOW
    return server


def put_out(api: Any, name: str, plan: str, *, ago: float = 0.0) -> Any:
    """A pod that is out since a plan took it, whose time ended so long ago."""
    expires = datetime.fromtimestamp(NOW - ago, UTC).isoformat().replace("+00:00", "Z")
    notes = {SURGE: Detachment(TEMPLATE_HASH, "h1", plan, expires).written(), "theirs": "stays"}
    return api.put(
        f"/api/v1/namespaces/default/pods/{name}",
        metadata={"labels": {"app": "web", TEMPLATE_HASH: "h1-leaving"}, "annotations": notes}, spec={"nodeName": "n"},
    )  # fmt: skip


def names(api: Any) -> list[str]:
    """Those that are out."""
    return [pod.name for pod in find_detached(api)]


def test_the_guardian_gives_back_first_and_lets_go_then(api: Any) -> None:
    """The ReplicaSet shall delete the pod that waits at the gate; pods of other plans are left alone."""
    put_out(api, "web-0", "p1")
    put_out(api, "web-1", "p2")
    gated_pod(api, "web-new", "p1")
    assert tidy_up(api, HOLDS, "p1", has_surges=True) == 2
    assert names(api) == ["web-1"]
    assert [path.rpartition("/")[2] for path in api.writes("PATCH")] == ["web-0", "web-new"]
    assert tidy_up(api, HOLDS, "p1", has_surges=True) == 0


def test_a_plan_without_surges_looks_at_no_pod_that_has_a_node(api: Any) -> None:
    """In a large cluster that list is long."""
    put_out(api, "web-0", "p1")
    assert tidy_up(api, HOLDS, "p1") == 0
    assert names(api) == ["web-0"]


def test_the_next_run_gives_back_what_no_running_plan_took(api: Any) -> None:
    """A plan runs as long as a Job of it stands."""
    our_job(api, "guide-p1-0", "p1")
    put_out(api, "web-0", "p1")
    put_out(api, "web-1", "p2")
    assert [pod.name for pod in give_stale_back(api, HOLDS)] == ["web-1"]
    assert names(api) == ["web-0"]


def test_clean_tells_of_each_pod_that_it_gives_back(api: Any) -> None:
    """Before it removes anything else."""
    our_job(api, "hold-1", "p1")
    put_out(api, "web-0", "p1")
    found = find_leftovers(api, HOLDS)
    assert [item.kind for item in found] == ["Surge", "Job"]
    assert "default/web-0, which its ReplicaSet is given back" in found[0].text
    assert remove_leftovers(api, found) == found
    assert names(api) == []
    assert api.objects["/api/v1/namespaces/default/pods/web-0"]["metadata"]["annotations"] == {"theirs": "stays"}


def test_clean_stale_waits_for_the_end_of_the_plan(api: Any) -> None:
    """By the annotation's own time, and only without a Job of it."""
    our_job(api, "guide-p1-0", "p1")
    put_out(api, "web-0", "p1", ago=3600.0)
    put_out(api, "web-1", "p2", ago=3600.0)
    put_out(api, "web-2", "p3", ago=-60.0)
    removed = remove_stale(api, HOLDS, lambda: NOW)
    assert [item.name for item in removed.removed if item.kind == "Surge"] == ["web-1"]
    assert names(api) == ["web-0", "web-2"]
