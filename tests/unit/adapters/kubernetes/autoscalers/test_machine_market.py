"""Machines are asked for by one Job each, which is found again, renewed, and taken away with its pod."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.kubernetes.autoscalers.capacity_objects import PRIORITY_CLASS
from rescheduler.adapters.kubernetes.autoscalers.machine_market import PATIENCE_SECONDS, KubernetesMarket
from rescheduler.adapters.kubernetes.leftovers.orphans import tidy_up
from rescheduler.adapters.kubernetes.leftovers.stale_leftovers import find_stale
from rescheduler.execution.buying.orders import orders_of, request_for
from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.capacity import AskedMachine, CapacityRequest
from tests.builders import NOW
from tests.clocks import FakeClock
from tests.unit.adapters.kubernetes.api_server import HOLDS, JOBS, ApiServer, our_job
from tests.unit.execution.buying.market import LABELS, buying_plan, machine, world

PODS = f"/api/v1/namespaces/{HOLDS}/pods"
NAMES = ["rescheduler-buy-r1-0", "rescheduler-buy-r1-1"]


def request(*names: str, run: str = "r1", expires_at: float = NOW + 60) -> CapacityRequest:
    """One for machines of these names in a plan."""
    start = world()
    machines = [machine(name) for name in names or ("added-1", "added-2")]
    orders = orders_of(buying_plan(start, *machines), start)
    return request_for((order.placeholder for order in orders), run, expires_at)


def market(api: ApiServer) -> tuple[KubernetesMarket, FakeClock]:
    """One on this server, and its clock."""
    clock = FakeClock()
    return KubernetesMarket(api, HOLDS, clock), clock  # type: ignore[arg-type]


def controlled(api: ApiServer, job: str, node: str | None = None, **status: Any) -> dict[str, Any]:
    """The pod that the job controller makes."""
    made = api.objects[f"{JOBS}/{job}"]
    metadata = {
        "labels": made["spec"]["template"]["metadata"]["labels"],
        "ownerReferences": [{"kind": "Job", "name": job, "uid": made["metadata"]["uid"], "controller": True}],
    }
    spec = {"nodeName": node} if node else {}
    return api.put(f"{PODS}/{job}-abc", metadata=metadata, spec=spec, status=status)


def test_each_machine_has_a_job_of_the_form_that_guards_let_through() -> None:
    """One pod of the lowest priority that is not gated, for its type alone, over by itself and never made again."""
    api = ApiServer()
    found, _ = market(api)
    found.ask(request())
    assert sorted(api.writes("POST")) == [JOBS, JOBS]
    for name in NAMES:
        job = api.objects[f"{JOBS}/{name}"]
        spec, pod = job["spec"], job["spec"]["template"]["spec"]
        assert (spec["parallelism"], spec["completions"], spec["backoffLimit"]) == (1, 1, 0)
        assert (spec["activeDeadlineSeconds"], spec["ttlSecondsAfterFinished"]) == (60, 0)
        assert pod["nodeSelector"] == LABELS
        assert (pod["priorityClassName"], pod["schedulerName"]) == (PRIORITY_CLASS, "default-scheduler")
        assert "schedulingGates" not in pod
        assert "affinity" not in pod
        [container] = pod["containers"]
        assert container["resources"] == {"requests": {"cpu": "3900m", "memory": str(4086 * 2**20)}}
        assert set(job["metadata"]["labels"]) == {"app.kubernetes.io/managed-by", "rescheduler.dev/capacity"}


def test_a_single_machine_has_the_name_of_the_request() -> None:
    """Which is that of the run."""
    api = ApiServer()
    found, _ = market(api)
    found.ask(request("added-1"))
    assert [path for path in api.objects if path.startswith(JOBS)] == [f"{JOBS}/rescheduler-buy-r1"]


def test_the_first_may_be_asked_for_before_the_others() -> None:
    """What stands is not made anew; all are looked at, renewed and taken back."""
    api = ApiServer()
    found, _ = market(api)
    found.ask(request(), 1)
    assert [path for path in api.objects if path.startswith(f"{JOBS}/")] == [f"{JOBS}/{NAMES[0]}"]
    assert found.asked() == [AskedMachine(stands=False)]
    found.ask(request())
    assert len(api.writes("POST")) == 2
    assert len(found.asked()) == 2
    assert found.renew(60) is True
    found.withdraw()
    assert not [path for path in api.objects if path.startswith(f"{JOBS}/")]


def test_it_is_told_how_far_each_has_come() -> None:
    """In the order of the request; a pod that has ended, or is about to, does not ask any more."""
    api = ApiServer()
    found, _ = market(api)
    found.ask(request())
    assert found.asked() == [AskedMachine(stands=False)] * 2
    controlled(api, NAMES[1], "k1", phase="Running")
    pod = controlled(api, NAMES[0], phase="Pending")
    assert found.asked() == [AskedMachine(stands=True), AskedMachine(True, "k1")]
    pod["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z"
    controlled(api, NAMES[1], "k1", phase="Failed")
    assert found.asked() == [AskedMachine(stands=False)] * 2


def test_the_deadline_is_counted_from_the_job_s_birth() -> None:
    """A Job that is gone is told, and the others are renewed all the same."""
    api = ApiServer()
    found, clock = market(api)
    found.ask(request())
    clock.time += 40
    assert found.renew(60) is True
    patches = [body for method, _, body in api.asked if method == "PATCH"]
    assert [body["spec"]["activeDeadlineSeconds"] for body in patches] == [100, 100]
    assert {body["metadata"]["annotations"]["rescheduler.dev/expires"] for body in patches} == {"2027-01-15T08:01:40Z"}
    del api.objects[f"{JOBS}/{NAMES[0]}"]
    assert found.renew(60) is False
    assert len(api.writes("PATCH", NAMES[1])) == 2


def test_what_was_asked_for_is_taken_back_with_its_pods() -> None:
    """It returns when they are gone, and says so where they stay."""
    api = ApiServer()
    found, clock = market(api)
    found.ask(request())
    controlled(api, NAMES[0], "k1")
    with pytest.raises(ClusterError, match="were not removed"):
        found.withdraw()
    assert clock.time >= NOW + PATIENCE_SECONDS
    assert not [path for path in api.objects if path.startswith(f"{JOBS}/")]
    del api.objects[f"{PODS}/{NAMES[0]}-abc"]
    found.withdraw()
    found.withdraw()


def test_where_an_answer_is_lost_the_job_is_taken_back_all_the_same() -> None:
    """It may have been made; the second one never was."""
    api = ApiServer()
    found, _ = market(api)
    api.answers[("POST", "jobs")] = 500
    with pytest.raises(ClusterError):
        found.ask(request())
    found.withdraw()
    assert {path.rpartition("/")[2] for path in api.writes("DELETE")} == set(NAMES)


def test_requests_of_other_runs_are_found_and_nothing_else_is() -> None:
    """By Jobs and by pods whose Job is gone; room that pods wait for, and holds, are not machines of a plan."""
    api = ApiServer()
    ours, _ = market(api)
    ours.ask(request("added-1"))
    other, _ = market(api)
    other.ask(request("added-1", run="r2"))
    controlled(api, "rescheduler-buy-r2")
    del api.objects[f"{JOBS}/rescheduler-buy-r2"]
    our_job(api, "hold-1", "p1")
    labels = {"app.kubernetes.io/managed-by": "rescheduler", "rescheduler.dev/capacity": "rescheduler-1234"}
    api.put(f"{JOBS}/rescheduler-1234", metadata={"labels": labels})
    assert ours.of_others() == ["rescheduler-buy-r2"]
    assert other.of_others() == ["rescheduler-buy-r1"]


def test_what_a_killed_run_has_asked_for_is_taken_away_and_nothing_of_another() -> None:
    """By its guardian at once, and by ``clean --stale`` once it has run out."""
    api = ApiServer()
    api.server_time = NOW
    for run in ("r1", "r2"):
        market(api)[0].ask(request("added-1", run=run, expires_at=NOW + (60 if run == "r1" else 6000)))
    assert tidy_up(api, HOLDS, "r1", request="rescheduler-buy-r1") == 1  # type: ignore[arg-type]
    assert [path for path in api.objects if path.startswith(JOBS)] == [f"{JOBS}/rescheduler-buy-r2"]
    assert tidy_up(api, HOLDS, "r2") == 0  # type: ignore[arg-type]
    assert find_stale(api, HOLDS, lambda: NOW) == []  # type: ignore[arg-type]
    api.server_time = NOW + 7000
    stale = find_stale(api, HOLDS, lambda: NOW)  # type: ignore[arg-type]
    assert [item.leftover.name for item in stale] == ["rescheduler-buy-r2"]
    assert stale[0].remove()
