"""Hand-overs to an autoscaler and back, on the real control plane, with one that plays cluster-autoscaler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from rescheduler.model.daemon.capacity import EMPTIED
from rescheduler.model.daemon.notices import NodesOffered
from rescheduler.model.plan.plan import PlanResult
from tests.cluster.autoscaler.fake_autoscaler import GROUP_LABEL, FakeAutoscaler, NodeGroup
from tests.cluster.autoscaler.handing_over_scene import Handing, kept_empty, left_of_requests, listening, served
from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, NO_RATES, daemon
from tests.cluster.plane.audit import OUR_ACCOUNT
from tests.cluster.scenes import SINGLE_REPLICAS_MAY_MOVE, add_pending, spread
from tests.cluster.shapes import deployment
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until
from tests.paths import ACTING, DEPLOY

ROOMY: dict[str, Any] = {"disruption": {"workloads": {"max_unavailable": 99}, "single_replicas": "Allow"}}


def with_rights(cluster: Cluster) -> Path:
    """The account of the daemon, with what deploy/ grants it."""
    cluster.control_plane.apply_files(*ACTING, DEPLOY / "autoscaler.yaml", DEPLOY / "guards.yaml")
    return cluster.control_plane.service_account_kubeconfig("rescheduler", "rescheduler-system")


def full(cluster: Cluster) -> str:
    """Two full nodes of the autoscaler's group and a pod that no rearrangement helps; its name."""
    cluster.add_nodes(2, prefix="old", cpu="4", labels={GROUP_LABEL: "pool"})
    spread(cluster, deployment("web", replicas=4, cpu="2"))
    return add_pending(cluster, deployment("big", cpu="3"))


def test_a_pod_that_no_rearrangement_helps_is_left_to_the_autoscaler(cluster: Cluster) -> None:
    """It says that it adds a node: until then the pod is not planned for, and after that no node is emptied."""
    kubeconfig = with_rights(cluster)
    name = full(cluster)
    with listening(kubeconfig) as listener:
        handing = Handing(kubeconfig, {**ROOMY, "objectives": [{"name": "MakeRoom"}, {"name": "EmptyNodes"}]}, listener)
        plan = handing.round()
        assert (plan.objectives[0].status.value, plan.objectives[0].helped) == ("INFEASIBLE", 0)
        assert handing.asked() == [("Leave", [name])]
        handing.round()
        assert handing.asked() == [("Leave", [name])], "told once"
        with FakeAutoscaler(cluster.api, NodeGroup(most=3), node_takes_seconds=4.0) as autoscaler:
            handing.until(lambda: "TriggeredScaleUp" in handing.reasons(), "word from the autoscaler")
            plan = handing.round()
            refused = [item for item in plan.refusals if item.rule == "Autoscaler"]
            assert [item.pod.name for item in refused] == [name]  # type: ignore[union-attr]
            assert "cluster-autoscaler says TriggeredScaleUp" in refused[0].message
            assert [item.name for item in plan.objectives] == ["MakeRoom"]
            assert any(text.startswith("EmptyNodes waits: an autoscaler adds a node") for text in plan.warnings)
            cluster.wait_pods_running(5)
            assert cluster.node_of(name) == autoscaler.added[0]
        seen = handing.look()
        assert handing.hand_over.left_to_autoscaler(seen) == {}
        assert "EmptyNodes" in handing.hand_over.waiting(seen)
        assert {"TriggeredScaleUp", "ScaledUpGroup", "ScaleUpInProgress"} <= handing.reasons()
    assert left_of_requests(cluster) == []


@pytest.mark.parametrize("how", ["ProvisioningRequest", "CapacityBuffer", "Placeholders"])
def test_an_autoscaler_is_asked_for_room(cluster: Cluster, how: str) -> None:
    """Once; by an account with no more rights than deploy/ grants; and nothing is left when the pod has its place."""
    kubeconfig = with_rights(cluster)
    name = full(cluster)
    policy = {**ROOMY, "autoscaler": {"scale_up": how}}
    with served(cluster), listening(kubeconfig) as listener:
        mark = cluster.control_plane.audit.mark()
        handing = Handing(kubeconfig, policy, listener)
        handing.round()
        handing.round()
        assert handing.asked() == [(how, [name])]
        assert left_of_requests(cluster)
        seen = handing.look()
        [reason] = handing.hand_over.left_to_autoscaler(seen).values()
        assert reason.startswith(f"has room asked for by {how} rescheduler-")
        if how == "Placeholders":
            [placeholder] = [pod for pod in seen.pods if pod.namespace == "rescheduler-holds"]
            assert (placeholder.spec.priority, placeholder.scheduling_gates) == (-10, ())
        with FakeAutoscaler(cluster.api, NodeGroup(most=3)):
            cluster.wait_pods_running(5)
            handing.hand_over._requests._looked_at = 0.0  # as if time had passed
            handing.look()
        wait_until(lambda: left_of_requests(cluster) == [], lambda: f"nothing left: {left_of_requests(cluster)}")
        assert "Fault" not in {type(notice).__name__ for notice in handing.told}, handing.told
        writes = cluster.control_plane.audit.writes_since(mark, user=OUR_ACCOUNT)
        made = {(write.verb, write.resource, write.namespace) for write in writes if "review" not in write.resource}
        assert {namespace for _, _, namespace in made} == {"rescheduler-holds"}, made
        assert all(write.code < 400 for write in writes), writes


def test_without_the_api_or_the_rights_a_pod_is_left(cluster: Cluster) -> None:
    """And the daemon says once what is missing."""
    cluster.control_plane.apply_files(*ACTING)
    kubeconfig = cluster.control_plane.service_account_kubeconfig("rescheduler", "rescheduler-system")
    name = full(cluster)
    with listening(kubeconfig) as listener:
        assert "cluster-autoscaler" in listener.problems()
        for how, missing in (("ProvisioningRequest", "does not serve"), ("Placeholders", "no PriorityClass")):
            handing = Handing(kubeconfig, {**ROOMY, "autoscaler": {"scale_up": how}}, listener)
            handing.round()
            handing.round()
            assert handing.asked() == [("Leave", [name])]
            faults = [notice for notice in handing.told if type(notice).__name__ == "Fault"]
            assert len(faults) == 1
            assert missing in faults[0].message  # type: ignore[union-attr]
    assert left_of_requests(cluster) == []


def marks(cluster: Cluster) -> dict[str, str]:
    """How each node is marked as emptied."""
    found = {}
    for node in cluster.api.list("nodes"):
        name = node["metadata"]["name"]
        if EMPTIED in node["metadata"].get("annotations", {}):
            found[name] = "Annotate"
        if EMPTIED in [taint["key"] for taint in node["spec"].get("taints", [])]:
            found[name] = "Taint"
    return found


@pytest.mark.parametrize("how", ["Annotate", "Taint"])
def test_emptied_nodes_are_offered_and_go(cluster: Cluster, tool: Tool, how: str) -> None:
    """Marked by the daemon's own account, and removed by the autoscaler; one that is needed again is freed."""
    kubeconfig = with_rights(cluster)
    cluster.add_nodes(4, prefix="old", cpu="4", labels={GROUP_LABEL: "pool"})
    spread(cluster, deployment("web", replicas=8, cpu="1"))
    policy = {**ROOMY, "objectives": [{"name": "EmptyNodes"}], "autoscaler": {"scale_down": how}}
    done = tool.run("apply", "--objective", "EmptyNodes", "--policy", tool.policy(SINGLE_REPLICAS_MAY_MOVE), "--yes",
                    "-o", "json", timeout=200)  # fmt: skip
    result = msgspec.convert(done.document, PlanResult)
    emptied = {move.from_node for move in result.moves}
    assert len(emptied) == 2
    with listening(kubeconfig) as listener:
        handing = Handing(kubeconfig, policy, listener)
        handing.round(result)
        handing.until(lambda: marks(cluster), "marked nodes")
        assert marks(cluster) == dict.fromkeys(emptied, how)
        offered = [notice for notice in handing.told if isinstance(notice, NodesOffered)]
        assert [(notice.how, set(notice.nodes)) for notice in offered] == [(how, emptied)]
        needed, other = sorted(emptied)
        if how == "Taint":
            add_pending(cluster, deployment("big", cpu="3"))
            handing.look()
            assert marks(cluster) == {}, "a pod waits"
            cluster.wait_pods_running(9)
        else:
            cluster.create(deployment("big", cpu="3"))
            cluster.wait_pods_running(9)
            handing.look()
            assert len(marks(cluster)) == 1, "one of them is in use"
        with FakeAutoscaler(cluster.api, unneeded_seconds=1.0) as autoscaler:
            wait_until(lambda: len(autoscaler.removed) == 1, "a node that goes")
        assert autoscaler.removed[0] in (needed, other)
        handing.until(lambda: "ScaleDownEmpty" in handing.reasons(), "word of it")
        assert "Fault" not in {type(notice).__name__ for notice in handing.told}, handing.told
    if how == "Annotate":
        in_use = next(name for name in emptied if name not in autoscaler.removed)
        cluster.api.patch("nodes", in_use, {"metadata": {"annotations": {EMPTIED: "2100-01-01T00:00:00Z"}}})
        assert f"removed Mark {EMPTIED} on node {in_use}" in tool.run("clean", "--yes").output
    assert marks(cluster) == {}


def test_a_node_that_the_autoscaler_takes_is_neither_source_nor_target(cluster: Cluster) -> None:
    """And pods that come of it are left alone for a while."""
    kubeconfig = with_rights(cluster)
    names = cluster.add_nodes(3, prefix="old", cpu="4", labels={GROUP_LABEL: "pool"})
    cluster.create(deployment("web", replicas=3, cpu="1"))
    cluster.wait_pods_running(3)
    with listening(kubeconfig) as listener:
        handing = Handing(kubeconfig, {**ROOMY, "objectives": [{"name": "EmptyNodes"}]}, listener)
        FakeAutoscaler(cluster.api).mark(names[0])
        plan = handing.round()
        touched = {move.from_node for move in plan.moves} | {move.to_node for move in plan.moves}
        assert names[0] not in touched
        assert touched
        handing = Handing(kubeconfig, ROOMY, listener)
        handing.look()
        cluster.api.delete("nodes", names[0])
        handing.until(lambda: names[0] not in {node.name for node in handing.look().nodes}, "a node less")
        add_pending(cluster, deployment("big", cpu="4"))
        plan = handing.round()
        assert [item.rule for item in plan.refusals if item.rule == "Autoscaler"] == ["Autoscaler"]
        assert plan.moves == ()


def test_karpenter_is_heard(cluster: Cluster) -> None:
    """Its Events, by whichever field they name it, and its NodeClaims; nobody else's Events are."""
    kubeconfig = with_rights(cluster)
    with served(cluster):
        claim = {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": "default-x1"}}
        cluster.create(claim)
        with listening(kubeconfig) as listener:
            handing = Handing(kubeconfig, ROOMY, listener)
            resource = "karpenter.sh/v1/nodeclaims"
            held = [{"type": "Launched", "status": "True", "reason": "Launched", "message": "",
                     "lastTransitionTime": "2026-01-01T00:00:00Z"}]  # fmt: skip
            status = {"status": {"nodeName": "k1", "conditions": held}}
            cluster.api.patch(resource, "default-x1", status, subresource="status")
            for number, fields in enumerate((
                {"source": {"component": "karpenter"}, "reason": "Nominated"},
                {"reportingComponent": "karpenter", "reportingInstance": "k", "action": "x",
                 "reason": "DisruptionBlocked",
                 "eventTime": "2026-01-01T00:00:00.000000Z"},
                {"source": {"component": "somebody"}, "reason": "Unheard"},
            )):  # fmt: skip
                cluster.create(
                    {
                        "apiVersion": "v1", "kind": "Event", "metadata": {"name": f"e{number}", "namespace": "default"},
                        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "big"}, "message": "m",
                        "type": "Normal", **fields,
                    }
                )  # fmt: skip
            wanted = {"Launched", "Nominated", "DisruptionBlocked"}
            handing.until(lambda: wanted <= handing.reasons(), f"{wanted}; {listener.problems()}")
            cluster.api.patch(resource, "default-x1", {"metadata": {"finalizers": ["example.com/wait"]}})
            cluster.api.delete(resource, "default-x1")
            handing.until(lambda: "Deleting" in handing.reasons(), "a claim that is deleted")
            [deleting] = [notice for notice in handing.heard if notice.reason == "Deleting"]
            assert (deleting.name, deleting.message) == ("default-x1", "node k1")
            cluster.api.patch(resource, "default-x1", {"metadata": {"finalizers": None}})
            assert "Unheard" not in handing.reasons()


def running(tool: Tool, autoscaler: str, objectives: str) -> str:
    """A policy under which the daemon acts at once on what it sees."""
    text = f"""
mode: Execute
triggers:
- {{name: PendingPods, args: {{olderThan: 1s, debounce: 0s}}}}
- {{name: Schedule, args: {{every: 5s}}}}
objectives: {objectives}
autoscaler: {autoscaler}
telemetry: {{address: "127.0.0.1:0"}}
leaderElection: {{enabled: false}}
{AT_ONCE}
disruption: {{singleReplicas: Allow, workloads: {{maxUnavailable: 99%}}, {NO_RATES}}}
"""
    return tool.policy(text)


def test_the_daemon_plays_both_hand_overs(cluster: Cluster, tool: Tool) -> None:
    """It asks for room, a node comes and the pod gets it; it empties nodes and offers them, and they go."""
    cluster.control_plane.apply_files(*ACTING, DEPLOY / "autoscaler.yaml", DEPLOY / "guards.yaml")
    name = full(cluster)
    policy = running(
        tool, "{scaleUp: Placeholders, scaleDown: Annotate, afterScaleUp: 0s}",
        "[{name: MakeRoom}, {name: EmptyNodes, args: {nodeSelector: {matchLabels: {example.com/node-group: pool}}}}]",
    )  # fmt: skip
    with daemon(tool, "--policy", policy) as process:
        asked = process.wait_for("capacity requested", how="Placeholders")
        assert any(name in pod for pod in asked["pods"]), asked
        with FakeAutoscaler(cluster.api, NodeGroup(most=3)) as autoscaler:
            cluster.wait_pods_running(5)
            wait_until(lambda: left_of_requests(cluster) == [], lambda: f"nothing left: {left_of_requests(cluster)}")
            assert autoscaler.added
        cluster.api.patch("deployments", "web", {"spec": {"replicas": 1}}, "default")
        cluster.wait_pods_running(2)
        with FakeAutoscaler(cluster.api, unneeded_seconds=4.0) as autoscaler:
            wait_until(lambda: len(cluster.api.list("nodes")) <= 2, process.told, timeout_seconds=90.0)
        assert process.stop() == 0, process.told()
    assert autoscaler.removed
    cluster.wait_pods_running(2)


def test_an_emptied_node_is_held_until_it_is_needed(cluster: Cluster, tool: Tool) -> None:
    """With the rights and under the guards of ``deploy/``; a pod that waits for that very room gets it."""
    tool.kubeconfig = with_rights(cluster)
    cluster.add_nodes(3, cpu="4")
    spread(cluster, deployment("web", replicas=6, cpu="1"))
    with daemon(tool, "--policy", running(tool, "{scaleDown: Hold}", "[{name: EmptyNodes}]")) as process:
        process.wait_for("nodes offered", how="Hold")
        [held] = kept_empty(cluster)
        assert not [pod for pod in cluster.api.list("pods", "default") if pod["spec"]["nodeName"] == held]
        cluster.create(deployment("big", cpu="3"))
        cluster.wait_pods_running(7)
        [big] = cluster.api.list("pods", "default", labels="app=big")
        assert big["spec"]["nodeName"] == held
        assert kept_empty(cluster) == set()
        assert process.stop() == 0, process.told()
    tool.assert_nothing_left()
