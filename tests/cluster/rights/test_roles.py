"""The daemon under the chart's own account, out of the cluster: what it may, what it may not, what it uses of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.chart import NAMESPACE, Manifest, Values
from tests.cluster.api import Api, ApiError
from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, NO_RATES, SHORT_LEASE, daemon
from tests.cluster.plane.kwok import GONE_AFTER
from tests.cluster.rights.chart_release import Release
from tests.cluster.scenes import add_pending, spread
from tests.cluster.shapes import deployment
from tests.cluster.tool import HOLDS

WRITING = ("create", "update", "patch", "delete", "deletecollection")
QUICK = "\n".join(
    [
        "telemetry: {address: '127.0.0.1:0'}",
        SHORT_LEASE,
        "triggers: [{name: PendingPods, args: {olderThan: 1s, debounce: 1s}}]",
        f"disruption: {{workloads: {{maxUnavailable: 99%}}, quiet: 0s, {NO_RATES}}}",
        AT_ONCE,
    ]
)
HEAD = "apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n"
ABOUT_ONESELF = {("create", f"selfsubject{name}") for name in ("accessreviews", "rulesreviews", "reviews")}
"""Questions that every account may ask; nothing is stored."""
RARE = {
    ("delete", "pods"): "of placeholders whose Job is gone, which `clean` and the next round remove",
}
"""Rights that an undisturbed daemon does not use, with the reason for each."""
FOR_OTHER_PLANS = {
    "Taint": ({("patch", "nodes")}, "this plan makes room and closes no node"),
    "Guide": ({("patch", "pods")}, "this plan has no replacement at the gate that another one has to take off"),
}
"""By guidance, what the plan of this test has no use for; test_rights.py has plans that use it."""


def release(cluster: Cluster, folder: Path, values: Values, more: str = "") -> Release:
    """The chart's rights and policy, made quick enough for a test."""
    return Release(cluster, folder, values, f"{HEAD}{QUICK}\n{more}")


def all_resources(api: Api) -> Iterator[tuple[str, str, str]]:
    """Group, resource and subresource of everything that the API server serves."""
    groups = [("", "/api/v1")]
    for group in api.request("GET", "/apis")["groups"]:
        groups += [(group["name"], f"/apis/{version['groupVersion']}") for version in group["versions"]]
    for name, path in groups:
        for found in api.request("GET", path)["resources"]:
            resource, _, subresource = found["name"].partition("/")
            yield name, resource, subresource


def may(api: Api, verb: str, group: str, resource: str, subresource: str, namespace: str) -> bool:
    """What the API server says about a right of ours."""
    attributes = {
        "verb": verb, "group": group, "resource": resource, "subresource": subresource, "namespace": namespace,
    }  # fmt: skip
    body = {
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }  # fmt: skip
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    allowed: bool = api.request("POST", path, body)["status"]["allowed"]
    return allowed


def test_the_observing_account_may_write_nothing_that_the_server_serves(cluster: Cluster, tmp_path: Path) -> None:
    """Every verb that writes, on every resource and subresource of every group, in our namespaces and elsewhere."""
    api = Api.from_kubeconfig(release(cluster, tmp_path, {"mode": "DryRun"}).tool.kubeconfig)
    questions = [
        (verb, *found, namespace)
        for found, verb, namespace in itertools.product(
            set(all_resources(cluster.api)), WRITING, ("", HOLDS, NAMESPACE)
        )
        if (verb, found[1]) not in ABOUT_ONESELF
    ]
    try:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda question: may(api, *question), questions))
    finally:
        api.close()
    assert len(questions) > 1000
    assert [question for question, is_allowed in zip(questions, answers, strict=True) if is_allowed] == []


def test_what_the_observing_account_tries_is_forbidden(cluster: Cluster, tmp_path: Path) -> None:
    """In earnest, one request of each kind that any of our parts sends."""
    cluster.add_nodes(1)
    cluster.create(deployment("web"))
    cluster.wait_pods_running(1)
    [pod] = cluster.api.list("pods", "default")
    name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
    api = Api.from_kubeconfig(release(cluster, tmp_path, {"mode": "DryRun"}).tool.kubeconfig)
    tried = {
        "evict": lambda: api.post_eviction(name, uid=uid),
        "evict as a dry run": lambda: api.post_eviction(name, uid=uid, dry_run=True),
        "delete a pod": lambda: api.delete("pods", name, "default"),
        "nominate": lambda: api.patch("pods", name, {"status": {}}, "default", subresource="status"),
        "taint": lambda: api.patch("nodes", "n-0", {"spec": {"taints": []}}),
        "ledger": lambda: api.create(_object("v1", "ConfigMap", HOLDS)),
        "lease": lambda: api.create(_object("coordination.k8s.io/v1", "Lease", NAMESPACE)),
        "hold": lambda: api.create(_object("batch/v1", "Job", HOLDS)),
        "event": lambda: api.create(_object("events.k8s.io/v1", "Event", "default")),
        "scale": lambda: api.patch("deployments", "web", {"spec": {"replicas": 0}}, "default", subresource="scale"),
        "read a secret": lambda: api.list("secrets"),
    }
    try:
        for what, request in tried.items():
            with pytest.raises(ApiError) as refused:
                request()
            assert refused.value.code == 403, what
    finally:
        api.close()


def _object(version: str, kind: str, namespace: str) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "try", "namespace": namespace}}


def test_the_observing_daemon_sees_all_it_needs(cluster: Cluster, tmp_path: Path) -> None:
    """It becomes ready, plans, and has asked for nothing that was forbidden; it has written nothing."""
    scene(cluster)
    found = release(cluster, tmp_path, {"mode": "DryRun"})
    found.tool.writes()
    with daemon(found.tool, *found.policies) as process:
        assert process.wait_for("round ended")["planned"] == 2
        assert process.stop() == 0
    assert found.tool.refused_reads() == []
    assert {(write.verb, write.resource) for write in found.tool.writes()} <= ABOUT_ONESELF


def scene(cluster: Cluster) -> None:
    """Room for a pending pod after two evictions, of pods that take long enough for everything to be renewed."""
    cluster.add_nodes(4, cpu="4")
    spread(cluster, deployment("web", replicas=12, cpu="1", annotations={GONE_AFTER: "7s"}))
    add_pending(cluster, deployment("big", cpu="2500m"))


@pytest.mark.parametrize("guidance", ["Predict", "Hold", "Taint", "Guide"])
def test_the_executing_account_lacks_nothing_and_has_nothing_that_it_does_not_use(
    cluster: Cluster, tmp_path: Path, guidance: str
) -> None:
    """By the audit log: nothing was forbidden, and each right to write was used, but for the rare ones."""
    scene(cluster)
    found = release(cluster, tmp_path, {"mode": "Execute", "guidance": guidance}, "hold: {deadline: 10s}")
    found.tool.writes()
    with daemon(found.tool, *found.policies) as process:
        ended = process.wait_for("round ended", timeout_seconds=90)
        # With Predict nothing keeps the room, and the plan may have to stop when a replacement takes it.
        assert (ended["outcome"] == "done") >= (guidance == "Hold"), process.told()
        assert process.events("eviction sent"), process.told()
        assert process.stop() == 0
    writes = found.tool.writes()
    assert [write for write in writes if write.code == 403] == []
    used = {(write.verb, "/".join(filter(None, (write.resource, write.subresource)))) for write in writes}
    granted = found.granted_writes()
    assert used - ABOUT_ONESELF <= granted
    unused, _ = FOR_OTHER_PLANS.get(guidance, (set(), ""))
    assert granted - used - RARE.keys() == unused


def test_an_account_without_its_rights_does_not_begin_to_evict(cluster: Cluster, tmp_path: Path) -> None:
    """A policy in mode Execute under the observing account: refused at the start, with what is missing; exit 1."""
    found = release(cluster, tmp_path, {"mode": "DryRun"}, "mode: Execute")
    answer = found.tool.run("run", *found.policies, code=1)
    assert "create  pods/eviction" in answer.errors
    assert {(write.verb, write.resource) for write in found.tool.writes()} <= ABOUT_ONESELF


def test_an_account_with_more_rights_than_its_mode_needs_is_told(cluster: Cluster, tmp_path: Path) -> None:
    """Evictions alone under an account that may keep room as well: a warning names what could be taken away."""
    found = release(cluster, tmp_path, {"mode": "Execute"}, "guidance: Predict")
    answer = found.tool.run("run", "--once", *found.policies)
    assert "more than its policy needs" in answer.errors
    assert "patch pods/status" in answer.errors
    assert "in rescheduler-holds" in answer.errors
