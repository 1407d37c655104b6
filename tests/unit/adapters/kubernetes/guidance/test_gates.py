"""Pods at our gate: found among all that wait, let go with nothing left on them, by hand or in a killed run's place."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.kubernetes.guidance.gates import find_gated, ungate, ungate_all
from rescheduler.adapters.kubernetes.leftovers.cleaning import find_leftovers, remove_leftovers
from rescheduler.adapters.kubernetes.leftovers.orphans import free_stale, tidy_up
from rescheduler.extension_points import ClusterError
from tests.unit.adapters.kubernetes.api_server import GATES, HOLDS, JOBS, RULE_PATH, ApiServer, gated_pod, our_job


@pytest.fixture
def api() -> Any:
    """A cluster."""
    return ApiServer()


def put_rule(api: ApiServer, plan: str) -> None:
    """A plan's rule."""
    api.put(RULE_PATH, metadata={"labels": {"rescheduler.dev/plan": plan}}, data={"owners": "a"})


def test_one_patch_takes_gate_and_notes_off(api: Any) -> None:
    """Gates and annotations of others stay, and nothing is pinned."""
    pod = gated_pod(api, "a", "p1", gates=("theirs", *GATES))
    assert ungate(api, "default", "a", pod["metadata"]["uid"]) is True
    assert pod["spec"] == {"schedulingGates": [{"name": "theirs"}]}
    assert pod["metadata"]["annotations"] == {"theirs": "stays"}
    assert len(api.writes("PATCH")) == 1


def test_another_pod_of_the_name_is_left_alone(api: Any) -> None:
    """So is one that is gone; both are told by False."""
    pod = gated_pod(api, "a", "p1")
    assert ungate(api, "default", "a", "another") is False
    assert ungate(api, "default", "nobody", "x") is False
    assert pod["spec"]["schedulingGates"]


def test_only_pods_at_our_gate_are_found(api: Any) -> None:
    """With plan and expiry; those at other gates are not ours."""
    gated_pod(api, "a", "p1")
    gated_pod(api, "b", "p1", gates=("theirs",))
    (found,) = find_gated(api)
    assert (found.name, found.plan_id, found.expires) == ("a", "p1", "2027-01-15T08:00:00Z")


def test_one_that_fails_does_not_keep_the_others(api: Any) -> None:
    """All are tried before the failure is told."""
    for name in ("a", "b", "c"):
        gated_pod(api, name, "p1")
    api.answers["PATCH", "/a"] = 500
    with pytest.raises(ClusterError):
        ungate_all(api, find_gated(api))
    assert [pod.name for pod in find_gated(api)] == ["a"]


def test_everything_of_a_killed_plan_goes_and_nothing_else(api: Any) -> None:
    """Its rule, Jobs and gates; those of another plan stay."""
    put_rule(api, "p1")
    our_job(api, "hold-1", "p1")
    our_job(api, "hold-2", "p2")
    gated_pod(api, "a", "p1")
    gated_pod(api, "b", "p2")
    assert tidy_up(api, HOLDS, "p1") == 3
    assert RULE_PATH not in api.objects
    assert [path for path in api.objects if path.startswith(JOBS)] == [f"{JOBS}/hold-2"]
    assert [pod.name for pod in find_gated(api)] == ["b"]
    assert tidy_up(api, HOLDS, "p1") == 0


def test_the_rule_of_another_plan_stays(api: Any) -> None:
    """Only the one that bears the plan's label is ours."""
    put_rule(api, "p2")
    assert tidy_up(api, HOLDS, "p1") == 0
    assert RULE_PATH in api.objects


def test_each_part_is_tried_although_one_fails(api: Any) -> None:
    """Pods are let go even where the rule cannot be looked at."""
    api.answers["GET", "/rescheduler-guide"] = 500
    gated_pod(api, "a", "p1")
    with pytest.raises(ClusterError):
        tidy_up(api, HOLDS, "p1")
    assert find_gated(api) == []


def test_stale_gates_are_those_of_plans_without_a_job(api: Any) -> None:
    """A Job has a deadline, so a plan whose Job stands runs."""
    our_job(api, "guide-p1-0", "p1")
    gated_pod(api, "runs", "p1")
    gated_pod(api, "lost", "p2")
    gated_pod(api, "unknown", "")
    assert sorted(pod.name for pod in free_stale(api, HOLDS)) == ["lost", "unknown"]
    assert [pod.name for pod in find_gated(api)] == ["runs"]


def test_clean_finds_the_rule_and_the_gates(api: Any) -> None:
    """The rule goes first, pods are let go and stay."""
    put_rule(api, "p1")
    our_job(api, "hold-1", "p1")
    gated_pod(api, "a", "p1")
    found = find_leftovers(api, HOLDS)
    assert [item.kind for item in found] == ["ConfigMap", "Job", "Gate"]
    assert "default/a" in found[2].text
    assert remove_leftovers(api, found) == found
    assert find_leftovers(api, HOLDS) == []
    assert "/api/v1/namespaces/default/pods/a" in api.objects
