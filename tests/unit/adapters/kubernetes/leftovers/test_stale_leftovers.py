"""Only what has run out, and belongs to no plan that runs, is removed; and only as it was found."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.leftovers.stale_leftovers import find_stale, remove_stale
from rescheduler.extension_points import ClusterError
from rescheduler.model.plan.leaving_taint import leaving_taint
from tests.builders import NOW
from tests.unit.adapters.kubernetes.api_server import HOLDS, JOBS, RULE_PATH, ApiServer, gated_pod

PODS = f"/api/v1/namespaces/{HOLDS}/pods"
LABELS = {"app.kubernetes.io/managed-by": "rescheduler", "rescheduler.dev/hold": "hold-1"}


@pytest.fixture
def api() -> Any:
    """A cluster whose own clock says NOW."""
    server = ApiServer()
    server.server_time = NOW
    return server


def stamp(ago: float) -> str:
    """A time as Kubernetes writes it."""
    return datetime.fromtimestamp(NOW - ago, UTC).isoformat().replace("+00:00", "Z")


def put_job(api: Any, plan: str = "p1", *, ago: float = 100.0, deadline: int | None = 60, **notes: str) -> Any:
    """A placeholder Job of a plan, made so long ago; ``expires``: its annotation."""
    metadata = {
        "labels": {**LABELS, "rescheduler.dev/plan": plan},
        "creationTimestamp": stamp(ago),
        "annotations": {f"rescheduler.dev/{key}": value for key, value in notes.items()},
    }
    return api.put(f"{JOBS}/hold-{plan}", metadata=metadata, spec={"activeDeadlineSeconds": deadline})


def put_gated(api: Any, plan: str, expires: str) -> Any:
    """A pod at our gate."""
    pod = gated_pod(api, f"web-{plan}", plan)
    pod["metadata"]["annotations"]["rescheduler.dev/expires"] = expires
    return pod


def put_rule(api: Any, expires: str, job_uid: str = "gone") -> Any:
    """The gate rule of a plan's Job."""
    owner = {"kind": "Job", "name": "guide-p1-0", "uid": job_uid}
    return api.put(
        RULE_PATH, metadata={"annotations": {"rescheduler.dev/expires": expires}, "ownerReferences": [owner]}
    )


def put_node(api: Any, name: str, ends_at: float) -> Any:
    """A node with a taint of ours and one of somebody else."""
    ours = {"key": "rescheduler.dev/leaving", "value": leaving_taint("p1", ends_at).value, "effect": "NoSchedule"}
    return api.put(f"/api/v1/nodes/{name}", spec={"taints": [{"key": "theirs", "effect": "NoSchedule"}, ours]})


def found(api: Any) -> list[str]:
    """Kinds of what is stale."""
    return [item.leftover.kind for item in find_stale(api, HOLDS, lambda: 0.0)]


def test_an_empty_cluster_has_nothing_stale(api: Any) -> None:
    """And nothing is written."""
    assert remove_stale(api, HOLDS, lambda: 0.0) == ((), ())
    assert api.asked == []


@pytest.mark.parametrize(
    ("made", "is_stale"),
    [
        ({"ago": 66.0}, True),
        ({"ago": 64.0}, False),
        ({"ago": 300.0, "deadline": 300}, False),
        ({"ago": 300.0, "expires": stamp(-1)}, False),
        ({"ago": 300.0, "expires": stamp(6)}, True),
        ({"ago": 300.0, "expires": "soon"}, True),
        ({"ago": 300.0, "deadline": None, "expires": stamp(6)}, True),
        ({"ago": 3600.0, "deadline": None}, False),
        ({"ago": 3700.0, "deadline": None}, True),
    ],
)
def test_a_job_is_stale_once_the_cluster_should_have_ended_it(api: Any, made: dict[str, Any], is_stale: bool) -> None:
    """By its own deadline and by its expiry, whichever is later, and five seconds; one without either in an hour."""
    put_job(api, **made)
    assert found(api) == (["Job"] if is_stale else [])


def test_a_placeholder_whose_job_is_gone_goes_when_it_has_run_out(api: Any) -> None:
    """One of a Job that stands is the Job's; one that was made a moment ago may be of a Job that we have not seen."""
    job = put_job(api, ago=10.0)
    spec = {"schedulingGates": [{"name": "rescheduler.dev/hold"}]}
    for name, expires, owner in (("a", stamp(6), "gone"), ("b", stamp(-50), "gone"), ("c", stamp(6), None)):
        uid = owner or job["metadata"]["uid"]
        api.put(
            f"{PODS}/{name}", spec=spec,
            metadata={"labels": LABELS, "annotations": {"rescheduler.dev/expires": expires},
                      "ownerReferences": [{"kind": "Job", "uid": uid}]},
        )  # fmt: skip
    assert [item.text for item in remove_stale(api, HOLDS, lambda: 0.0).removed] == [f"Pod {HOLDS}/a"]


def test_a_rule_goes_when_its_job_is_gone_and_it_has_run_out(api: Any) -> None:
    """Not before, and not while its plan's Job stands."""
    job = put_job(api, ago=10.0)
    put_rule(api, stamp(-1))
    assert found(api) == []
    put_rule(api, stamp(6), job["metadata"]["uid"])
    assert found(api) == []
    put_rule(api, stamp(6))
    assert found(api) == ["ConfigMap"]
    remove_stale(api, HOLDS, lambda: 0.0)
    assert RULE_PATH not in api.objects


@pytest.mark.parametrize(
    ("plan", "expires", "is_stale"),
    [
        ("p1", stamp(600), False),
        ("p2", stamp(6), True),
        ("p2", stamp(-30), False),
        ("p2", "soon", False),
        ("", stamp(600), False),
    ],
)
def test_pods_at_the_gate_are_let_go_when_their_plan_is_over(api: Any, plan: str, expires: str, is_stale: bool) -> None:
    """Plan p1 runs, since a Job of it stands, however old the pod's own note; nobody's pod may be that plan's."""
    put_job(api, "p1", ago=10.0)
    pod = put_gated(api, plan, expires)
    assert found(api) == (["Gate"] if is_stale else [])
    remove_stale(api, HOLDS, lambda: 0.0)
    assert pod["spec"]["schedulingGates"] == ([] if is_stale else [{"name": "rescheduler.dev/guide"}])


def test_where_no_plan_runs_a_pod_without_notes_is_let_go(api: Any) -> None:
    """Nobody else would do it."""
    put_gated(api, "", "")
    assert found(api) == ["Gate"]


def test_taints_that_have_run_out_go(api: Any) -> None:
    """Those that still hold stay, and others' stay word for word."""
    put_node(api, "old", NOW - 6)
    put_node(api, "new", NOW + 60)
    (removed,) = remove_stale(api, HOLDS, lambda: 0.0).removed
    assert removed.node == "old"
    assert api.objects["/api/v1/nodes/old"]["spec"]["taints"] == [{"key": "theirs", "effect": "NoSchedule"}]
    assert len(api.objects["/api/v1/nodes/new"]["spec"]["taints"]) == 2


def test_what_autoscalers_were_asked_for_goes_when_it_has_run_out(api: Any) -> None:
    """The request before the templates that it refers to; one that still holds stays."""
    root = f"/apis/autoscaling.x-k8s.io/v1/namespaces/{HOLDS}/provisioningrequests"
    labels = {"app.kubernetes.io/managed-by": "rescheduler", "rescheduler.dev/capacity": "room"}
    for path, ago in (
        (f"/api/v1/namespaces/{HOLDS}/podtemplates/old", 6), (f"{root}/old", 6), (f"{root}/new", -60),
    ):  # fmt: skip
        api.put(path, metadata={"labels": labels, "annotations": {"rescheduler.dev/expires": stamp(ago)}})
    removed = remove_stale(api, HOLDS, lambda: 0.0).removed
    assert [item.text for item in removed] == [f"ProvisioningRequest {HOLDS}/old", f"PodTemplate {HOLDS}/old"]
    assert f"{root}/new" in api.objects


def test_nodes_are_offered_no_longer_than_was_said(api: Any) -> None:
    """By annotation or by taint; a mark that is renewed meanwhile, or still holds, stays."""
    for name, ago in (("old", 6), ("renewed", 6), ("new", -60)):
        api.put(f"/api/v1/nodes/{name}", metadata={"annotations": {"rescheduler.dev/emptied": stamp(ago)}}, spec={})
    ours = {"key": "rescheduler.dev/emptied", "value": str(int(NOW) - 6), "effect": "NoSchedule"}
    api.put("/api/v1/nodes/tainted", spec={"taints": [{"key": "theirs"}, ours]})
    stale = find_stale(api, HOLDS, lambda: 0.0)
    assert [item.leftover.text for item in stale] == [
        f"Mark rescheduler.dev/emptied on node {name}" for name in ("old", "renewed", "tainted")
    ]
    renewed = api.objects["/api/v1/nodes/renewed"]["metadata"]["annotations"]
    renewed["rescheduler.dev/emptied"] = stamp(-60)
    assert [item.remove() for item in stale] == [True, False, True]
    assert api.objects["/api/v1/nodes/old"]["metadata"]["annotations"] == {}
    assert api.objects["/api/v1/nodes/tainted"]["spec"]["taints"] == [{"key": "theirs"}]
    assert "rescheduler.dev/emptied" in api.objects["/api/v1/nodes/new"]["metadata"]["annotations"]


def test_what_is_renewed_meanwhile_is_left_alone(api: Any) -> None:
    """Between looking and removing a plan may go on: a Job, a rule, a taint."""
    job, rule = put_job(api), put_rule(api, stamp(6))
    put_node(api, "n0", NOW - 6)
    stale = find_stale(api, HOLDS, lambda: 0.0)
    assert len(stale) == 3
    job["metadata"]["resourceVersion"] = "newer"
    rule["metadata"]["resourceVersion"] = "newer"
    put_node(api, "n0", NOW + 60)
    assert [item.remove() for item in stale] == [False, False, False]
    assert not {JOBS + "/hold-p1", RULE_PATH} - set(api.objects)
    assert len(api.objects["/api/v1/nodes/n0"]["spec"]["taints"]) == 2


def test_each_thing_is_tried_although_others_fail(api: Any) -> None:
    """What could not be removed is told by name."""
    put_job(api, "p1")
    put_job(api, "p2")
    api.answers["DELETE", "/hold-p1"] = 500
    cleaned = remove_stale(api, HOLDS, lambda: 0.0)
    assert [item.name for item in cleaned.removed] == ["hold-p2"]
    assert "hold-p1" in cleaned.failures[0]


@pytest.mark.parametrize(("status", "is_told"), [(403, False), (500, True)])
def test_where_we_may_not_look_there_is_nothing_of_ours(api: Any, status: int, is_told: bool) -> None:
    """A server that fails is no such place: nothing is said to be clean that was not seen."""
    put_job(api)
    for path in ("/nodes", "/rescheduler-guide"):
        api.answers["GET", path] = status
    if is_told:
        with pytest.raises(ClusterError):
            remove_stale(api, HOLDS, lambda: 0.0)
    else:
        assert len(remove_stale(api, HOLDS, lambda: 0.0).removed) == 1


def test_our_own_clock_stands_in_for_the_servers(api: Any) -> None:
    """Only where the server does not tell its time."""
    put_job(api, ago=0.0)
    api.server_time = None
    assert find_stale(api, HOLDS, lambda: NOW) == []
    assert len(find_stale(api, HOLDS, lambda: NOW + 100)) == 1
