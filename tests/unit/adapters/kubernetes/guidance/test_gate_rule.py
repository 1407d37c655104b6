"""The rule that gates new pods: in force when the call returns, renewed, never another plan's, gone at the end."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.guidance.gate_rule import GateRule
from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.extension_points import ClusterError
from tests.unit.adapters.kubernetes.api_server import HOLDS, JOBS, RULE_PATH, ApiServer, our_job


@pytest.fixture
def api() -> ApiServer:
    """A cluster with the policy installed."""
    return ApiServer()


def rule(api: Any) -> GateRule:
    """The rule of a new process."""
    return GateRule(api, HOLDS, SimulatedClock(0.0))


def test_the_rule_names_the_owners_and_dies_with_its_job(api: ApiServer) -> None:
    """One ConfigMap, owned by a Job without pods that has the deadline; plan and expiry stand in it."""
    rule(api).put(["a", "b"], "p1", 60)
    found = api.objects[RULE_PATH]
    (path,) = [path for path in api.objects if path.startswith(JOBS)]
    job = api.objects[path]
    assert found["data"]["owners"].split(",")[1:] == ["a", "b"]
    assert found["data"]["plan"] == "p1"
    assert re.fullmatch(r"\d{4}-.*Z", found["data"]["expires"])
    assert found["metadata"]["ownerReferences"][0]["uid"] == job["metadata"]["uid"]
    assert (job["spec"]["parallelism"], job["spec"]["activeDeadlineSeconds"]) == (0, 60)
    assert job["spec"]["ttlSecondsAfterFinished"] == 0


def test_a_change_of_owners_is_probed_anew(api: ApiServer) -> None:
    """A probe that an earlier list would gate proves nothing: each list has an owner of its own for that."""
    ours = rule(api)
    ours.put(["a"], "p1", 60)
    first = api.objects[RULE_PATH]["data"]["owners"].split(",")
    ours.put(["b"], "p1", 60)
    second = api.objects[RULE_PATH]["data"]["owners"].split(",")
    assert first[0] != second[0]
    assert second[1:] == ["b"]
    probes = [body for method, path, body in api.asked if method == "POST" and path.endswith("/pods")]
    assert [pod["metadata"]["ownerReferences"][0]["uid"] for pod in probes] == [first[0], second[0]]


def test_renewing_extends_the_job_and_asks_for_no_probe(api: ApiServer) -> None:
    """The deadline counts from the renewal."""
    ours = rule(api)
    ours.put(["a"], "p1", 60)
    probes = len(api.writes("POST", "/pods"))
    ours.put(["a"], "p1", 60)
    assert len(api.writes("POST", "/pods")) == probes
    assert len(api.writes("PATCH", "/jobs/")) == 1


def test_a_rule_that_does_not_bite_is_an_error(api: ApiServer) -> None:
    """Nothing may be evicted then; the end takes away what was written."""
    api.gates_new_pods = False
    ours = rule(api)
    with pytest.raises(ClusterError, match=r"does not gate new pods"):
        ours.put(["a"], "p1", 60)
    ours.end()
    assert RULE_PATH not in api.objects
    assert not [path for path in api.objects if path.startswith(JOBS)]


def test_the_rule_of_a_plan_that_runs_is_left_alone(api: ApiServer) -> None:
    """It is named; one whose Job is gone is nobody's and is replaced."""
    other = rule(api)
    other.put(["a"], "p1", 60)
    late = rule(api)
    with pytest.raises(ClusterError, match=r"belongs to the plan p1"):
        late.put(["b"], "p2", 60)
    late.end()
    assert api.objects[RULE_PATH]["data"]["plan"] == "p1"
    for path in [path for path in api.objects if path.startswith(f"{JOBS}/guide-p1")]:
        del api.objects[path]
    rule(api).put(["b"], "p2", 60)
    assert api.objects[RULE_PATH]["data"]["plan"] == "p2"


def test_a_job_that_somebody_removed_stops_the_plan(api: ApiServer) -> None:
    """The rule went with it, so replacements are not held back any more."""
    ours = rule(api)
    ours.put(["a"], "p1", 60)
    for path in [path for path in api.objects if path.startswith(JOBS)]:
        del api.objects[path]
    with pytest.raises(ClusterError, match=r"somebody removed the Job"):
        ours.put(["a"], "p1", 60)


def test_a_lost_answer_to_the_job_leaves_nothing(api: ApiServer) -> None:
    """The end asks for its removal all the same, and probes nothing."""
    api.answers["POST", "/jobs"] = 500
    ours = rule(api)
    with pytest.raises(ClusterError):
        ours.put(["a"], "p1", 60)
    our_job(api, "guide-p1-0", "p1")
    ours.end()
    assert not [path for path in api.objects if path.startswith(JOBS)]
    assert api.writes("POST", "/pods") == []


def test_the_end_takes_away_what_is_ours_only(api: ApiServer) -> None:
    """A rule that another plan has put in the place of ours stays; a second end does nothing."""
    ours = rule(api)
    ours.put(["a"], "p1", 60)
    api.objects[RULE_PATH]["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "other", "uid": "other"}]
    api.gates_new_pods = False
    ours.end()
    assert RULE_PATH in api.objects
    asked = len(api.asked)
    ours.end()
    assert len(api.asked) == asked


def test_an_end_that_failed_can_be_repeated(api: ApiServer) -> None:
    """What was not removed is tried again."""
    ours = rule(api)
    ours.put(["a"], "p1", 60)
    api.answers["DELETE", "rescheduler-guide"] = 503
    with pytest.raises(ClusterError):
        ours.end()
    api.answers.clear()
    ours.end()
    assert RULE_PATH not in api.objects
