"""What the test cluster itself promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.api import Api, ApiError
from tests.cluster.cluster import Cluster, condition
from tests.cluster.plane.kwok import COMPLETE_AFTER, GONE_AFTER, NEVER_READY, NOT_READY, READY_AFTER
from tests.cluster.shapes import deployment, disruption_budget, job, namespace, pod, priority_class
from tests.cluster.waiting import wait_until

RULES = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: pod-reader}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: pod-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: pod-reader}
subjects:
  - {apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}
  - {kind: ServiceAccount, name: reader, namespace: default}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: reader, namespace: default}
"""


def test_states_the_version_of_its_binaries(cluster: Cluster) -> None:
    """The API server answers with the version its binaries are stamped with, so clients see a real release."""
    assert cluster.control_plane.version == cluster.control_plane.binaries.kubernetes_version


def test_runs_a_deployment_on_pretended_nodes(cluster: Cluster) -> None:
    """Nodes become ready and lose their taints; a Deployment's pods are spread over them, run and are ready."""
    nodes = cluster.add_nodes(3, cpu="2")
    cluster.create(deployment("web", replicas=6, cpu="500m"))
    cluster.wait_pods_running(6, labels="app=web")
    assert list(cluster.pods_by_node("default")) == nodes


def test_annotations_steer_a_pods_life(cluster: Cluster) -> None:
    """A pod becomes ready late or never, where its annotation says so; a Job's pod succeeds and so does the Job."""
    cluster.add_nodes(1)
    cluster.create(
        pod("late", annotations={READY_AFTER: "1s"}),
        pod("never", annotations={NEVER_READY: "true"}),
        job("done", annotations={COMPLETE_AFTER: "0s"}),
    )
    wait_until(lambda: condition(cluster.api.get("pods", "late", "default"), "Ready") == "True", "late to be ready")
    wait_until(lambda: condition(cluster.api.get("jobs", "done", "default"), "Complete") == "True", "the Job's end")
    never = cluster.api.get("pods", "never", "default")
    assert (never["status"]["phase"], condition(never, "Ready")) == ("Running", "False")


def test_a_pod_takes_its_time_to_go(cluster: Cluster) -> None:
    """A deleted pod is still there, on its way out, until the time its annotation asks for has passed."""
    cluster.add_nodes(1)
    cluster.create(pod("slow", annotations={GONE_AFTER: "2s"}), pod("quick"))
    cluster.wait_pods_running(2)
    cluster.api.delete("pods", "slow", "default")
    cluster.api.delete("pods", "quick", "default")
    cluster.wait_gone("pods", "quick", "default")
    assert "deletionTimestamp" in cluster.api.get("pods", "slow", "default")["metadata"]
    cluster.wait_gone("pods", "slow", "default")


def test_a_node_can_fall_ill_and_recover(cluster: Cluster) -> None:
    """A node with the annotation turns unready and is tainted; without it the node is ready again."""
    cluster.add_nodes(1)

    def annotate(value: str | None) -> None:
        cluster.api.patch("nodes", "node-0", {"metadata": {"annotations": {NOT_READY: value}}})

    annotate("true")
    wait_until(lambda: bool(cluster.api.get("nodes", "node-0")["spec"].get("taints")), "the taint of an unready node")
    annotate(None)
    cluster.wait_nodes_ready()


def test_the_api_server_comes_back_with_everything(cluster: Cluster) -> None:
    """After the API server and etcd were killed and started again, all objects are there and new pods run."""
    cluster.add_nodes(1)
    cluster.create(deployment("web"))
    cluster.wait_pods_running(1)
    cluster.control_plane.kill("kube-apiserver")
    cluster.control_plane.restart("etcd", gracefully=False)
    cluster.control_plane.restart("kube-apiserver")
    cluster.create(pod("later"))
    cluster.wait_pods_running(2)


def test_a_paused_scheduler_places_nothing(cluster: Cluster) -> None:
    """While the scheduler is frozen a pod stays pending; when it goes on the pod is placed."""
    cluster.add_nodes(1)
    cluster.control_plane.pause("kube-scheduler")
    cluster.create(deployment("web"))
    wait_until(lambda: len(cluster.api.list("pods", "default")) == 1, "the Deployment's pod")
    assert list(cluster.pods_by_node()) == [""]
    cluster.control_plane.resume("kube-scheduler")
    cluster.wait_pods_running(1)


def test_a_second_scheduler_places_its_own_pods(cluster: Cluster) -> None:
    """A further scheduler binds the pods that name its profile, by that profile's rules."""
    cluster.add_nodes(2)
    cluster.create(pod("first", cpu="1", spec={"nodeName": "node-1"}))
    cluster.wait_pods_running(1)
    packing = {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}
    fit = {"name": "NodeResourcesFit", "args": {"scoringStrategy": packing}}
    disabled = {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit"}]}}
    profile = {"schedulerName": "packer", "plugins": disabled, "pluginConfig": [fit]}
    cluster.control_plane.start_scheduler("packer", {"profiles": [profile]})
    cluster.create(pod("second", spec={"schedulerName": "packer"}))
    cluster.wait_pods_running(2)
    assert cluster.node_of("second") == "node-1"


def test_the_audit_log_shows_one_eviction_and_nothing_else(cluster: Cluster) -> None:
    """Between two marks, the log holds exactly what one user wrote, with dry-run and refusals told apart."""
    cluster.add_nodes(1)
    cluster.create(deployment("web"), deployment("kept"), disruption_budget("kept", minAvailable=1))
    pods = cluster.wait_pods_running(2)
    web, kept = sorted((pod["metadata"] for pod in pods), key=lambda metadata: str(metadata["name"]), reverse=True)
    mine = Api.from_kubeconfig(cluster.control_plane.kubeconfig, user_agent="evictor/1")
    mark = cluster.control_plane.audit.mark()
    mine.post_eviction(web["name"], uid=web["uid"], dry_run=True)
    mine.post_eviction(web["name"], uid=web["uid"])
    with pytest.raises(ApiError, match="429"):
        mine.post_eviction(kept["name"], uid=kept["uid"])
    mine.close()
    writes = cluster.control_plane.audit.writes_since(mark, user="admin", user_agent="evictor/1")
    assert [(w.verb, w.resource, w.subresource, w.name, w.is_dry_run, w.code) for w in writes] == [
        ("create", "pods", "eviction", web["name"], True, 201),
        ("create", "pods", "eviction", web["name"], False, 201),
        ("create", "pods", "eviction", kept["name"], False, 429),
    ]
    assert cluster.control_plane.audit.writes_since(mark, user="nobody") == []


def test_a_gated_job_dies_by_itself(cluster: Cluster) -> None:
    """A Job with a gated pod and a deadline disappears with its pod, though the pod is never placed."""
    cluster.add_nodes(1)
    limits = {"activeDeadlineSeconds": 2, "ttlSecondsAfterFinished": 0}
    gates = [{"name": "rescheduler-test/hold"}]
    cluster.create(job("hold", job_spec=limits, spec={"schedulingGates": gates}))
    wait_until(lambda: len(cluster.api.list("pods", "default")) == 1, "the Job's pod")
    cluster.wait_gone("jobs", "hold", "default")
    wait_until(lambda: not cluster.api.list("pods"), "the gated pod's end")


@pytest.mark.parametrize("kind", ["certificate", "token"])
def test_a_user_may_do_what_its_rules_say_and_no_more(cluster: Cluster, tmp_path: Path, kind: str) -> None:
    """A user of a client certificate or of a ServiceAccount token may read pods, and is denied to evict one."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    cluster.control_plane.apply_files(rules)
    if kind == "certificate":
        kubeconfig = cluster.control_plane.user_kubeconfig("reader")
    else:
        kubeconfig = cluster.control_plane.service_account_kubeconfig("reader", "default")
    reader = Api.from_kubeconfig(kubeconfig)
    wait_until(lambda: _may_list_pods(reader), "the rules to hold")
    with pytest.raises(ApiError, match="cannot create resource") as refusal:
        reader.post_eviction("any")
    assert refusal.value.code == 403
    reader.close()


def _may_list_pods(reader: Api) -> bool:
    """Whether a user may list pods; the authorizer learns new rules a moment after they are stored."""
    try:
        reader.list("pods")
    except ApiError as error:
        if error.code == 403:
            return False
        raise
    return True


class TestCleanSlate:
    """Each test finds an empty cluster, whatever the one before has made."""

    @pytest.mark.parametrize("turn", [1, 2])
    def test_nothing_is_left_by_another_test(self, cluster: Cluster, turn: int) -> None:
        """The same names can be made anew in every test, in a namespace of the test's own too."""
        cluster.add_nodes(2)
        cluster.create(
            priority_class("high", 1000),
            namespace("shop"),
            deployment("web", 5, "shop", annotations={GONE_AFTER: "1h"}),
            job("hold", "shop", spec={"schedulingGates": [{"name": "rescheduler-test/hold"}]}),
            disruption_budget("web", "shop", minAvailable=5),
        )
        cluster.wait_pods_running(5, "shop", labels="app=web")
