"""`apply` moves pods by surge from a policy file, under its own account with the shipped rights and guards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.api import Manifest
from tests.cluster.cluster import Cluster
from tests.cluster.faults.floor_watch import is_serving
from tests.cluster.guidance.guided_scenes import move as move_of
from tests.cluster.guidance.guided_scenes import plan_of, pods_of
from tests.cluster.plane.control_plane import ControlPlane
from tests.cluster.plane.kwok import NEVER_READY, READY_AFTER
from tests.cluster.rights.thief_scene import ACCOUNT, SYSTEM
from tests.cluster.scenes import add_pending
from tests.cluster.shapes import deployment, pod, resource_quota
from tests.cluster.surges.surge_scenes import Floor, owner_generations, remains, shop, wait_out
from tests.cluster.tool import HOLDS, Answer, Tool
from tests.cluster.waiting import wait_until
from tests.paths import DEPLOY

FILES = (
    "reading.yaml",
    "acting.yaml",
    "guide.yaml",
    "guide-binding.yaml",
    "guards.yaml",
    "overlays/execute/lease.yaml",
)
SURGES = ("surge.yaml", "surge-binding.yaml")
WITHIN = "20s"


def policy_text(guidance: str = "Guide", objective: str = "EmptyNodes", within: str = WITHIN, more: str = "") -> str:
    """A policy by which all pods of the default namespace move by surge."""
    return (
        f"guidance: {guidance}\nobjectives: [{{name: {objective}}}]\nhold: {{deadline: 20s}}\n{more}\n"
        "disruption:\n"
        "  moveBy: [{namespaces: [default], method: Surge}]\n"
        f"  surge: {{readyWithin: {within}, settle: 500ms}}\n"
    )


class Own(Tool):
    """The rescheduler under its own account's token."""

    def __init__(self, cluster: Cluster, folder: Path, *files: str) -> None:
        super().__init__(cluster, folder)
        plane: ControlPlane = cluster.control_plane
        plane.apply_files(*(DEPLOY / name for name in files))
        self.kubeconfig = plane.service_account_kubeconfig("rescheduler", SYSTEM)
        self.user = ACCOUNT
        self.folder = folder

    def apply(self, policy: str, *more: str, code: int | None = 0) -> Answer:
        """Carry out what the policy asks for, without a question."""
        arguments = ("apply", "--yes", "-o", "json", "--timeout", "2m", "--policy", self.policy(policy), *more)
        return self.run(*arguments, code=code)

    def changes(self) -> set[tuple[str, str, str]]:
        """What was written of the user's, in earnest, since the last call."""
        return {
            (item.verb, item.resource, item.subresource)
            for item in self.writes()
            if item.namespace == "default" and item.code < 300 and not item.is_dry_run
        }


def settled_shop(cluster: Cluster, replicas: int = 1, **template: Any) -> list[tuple[str, int]]:
    """The shop on a-0, and on b-0 a pod that nobody would make again; generations of the shop's owners."""
    shop(cluster, replicas, **template)
    cluster.create(pod("filler", cpu="1", spec={"nodeName": "b-0"}))
    cluster.wait_pods_running(replicas + 1)
    return owner_generations(cluster)


def wait_tidy_shop(cluster: Cluster, replicas: int = 1) -> None:
    """Until the shop has its pods, and nothing of ours is left anywhere."""

    def is_tidy() -> bool:
        pods = cluster.api.list("pods", "default", labels="app=web")
        return len(pods) == replicas and all(map(is_serving, pods)) and remains(cluster) == ["filler"]

    wait_until(is_tidy, lambda: f"a tidy shop: {cluster.pods_by_node('default')}, {remains(cluster)}")


@pytest.fixture
def own(cluster: Cluster, tmp_path: Path) -> Own:
    """With all that surges need."""
    return Own(cluster, tmp_path, *FILES, *SURGES)


@pytest.mark.parametrize("guidance", ["Guide", pytest.param("Hold", marks=pytest.mark.campaign)])
def test_a_node_is_emptied_and_nobody_is_ever_missing(cluster: Cluster, own: Own, guidance: str) -> None:
    """One replica under a budget of one: the policy's own gate lets it out and lets it go, and nothing is left."""
    before = settled_shop(cluster)
    own.writes()
    with Floor(cluster) as floor:
        answer = own.apply(policy_text(guidance))
    assert [move["method"] for move in answer.document["moves"]] == ["Surge"], answer
    assert [outcome for outcome, _ in answer.outcomes().values()] == ["Landed"], answer
    floor.holds(1)
    wait_tidy_shop(cluster)
    assert {pod["spec"]["nodeName"] for pod in pods_of(cluster, "web")} == {"b-0"}
    assert owner_generations(cluster) == before
    assert own.changes() <= {
        ("patch", "pods", ""), ("patch", "pods", "status"), ("create", "pods", "eviction"), ("create", "events", ""),
    }  # fmt: skip
    told = own.run("history", "-o", "json").document["entries"]
    assert [(item["method"], item["state"], item["outcome"]) for item in told] == [("Surge", "Repaid", "Landed")]


@pytest.mark.campaign
def test_a_workload_of_five_moves_in_steps(cluster: Cluster, own: Own) -> None:
    """As many at a time as its own rollouts may add: the next ones are let out once the ones before have gone."""
    before = settled_shop(cluster, 5)
    with Floor(cluster) as floor:
        answer = own.apply(policy_text())
    moves = answer.document["moves"]
    assert {(move["method"], move["outcome"]) for move in moves} == {("Surge", "Landed")}, answer
    assert len(moves) == 5
    floor.holds(5)
    wait_tidy_shop(cluster, 5)
    assert {pod["spec"]["nodeName"] for pod in pods_of(cluster, "web")} == {"b-0"}
    assert owner_generations(cluster) == before


def test_room_is_made_by_a_surge(cluster: Cluster, own: Own) -> None:
    """The pending pod gets the whole node of the only replica, which is never missing."""
    settled_shop(cluster)
    big = add_pending(cluster, deployment("big", cpu="7500m"))
    with Floor(cluster) as floor:
        answer = own.apply(policy_text(objective="MakeRoom"))
    assert [move["method"] for move in answer.document["moves"]] == ["Surge"], answer
    assert {outcome for outcome, _ in answer.outcomes().values()} == {"Landed"}, answer
    assert cluster.node_of(big) == "a-0"
    floor.holds(1)
    wait_tidy_shop(cluster)


def test_a_quota_with_room_for_one_pod_more_is_enough(cluster: Cluster, own: Own) -> None:
    """While the replacement is there the quota is full, and that is no reason to keep the old pod."""
    settled_shop(cluster)
    cluster.create(resource_quota("snug", pods="3"))
    wait_until(lambda: quota_used(cluster) == "2", "the quota to be counted")
    with Floor(cluster) as floor:
        answer = own.apply(policy_text())
    assert [outcome for outcome, _ in answer.outcomes().values()] == ["Landed"], answer
    floor.holds(1)
    wait_tidy_shop(cluster)


def quota_used(cluster: Cluster) -> str | None:
    """Pods that the quota counts."""
    used = cluster.api.get("resourcequotas", "snug", "default").get("status", {}).get("used", {})
    found: str | None = used.get("pods")
    return found


@pytest.mark.campaign
def test_a_replacement_that_never_gets_ready_costs_nothing(cluster: Cluster, own: Own) -> None:
    """Undone, exit 1, with the same pod as before; the history says so."""
    settled_shop(cluster, annotations={NEVER_READY: "true"})
    (before,) = pods_of(cluster, "web")
    with Floor(cluster) as floor:
        answer = own.apply(policy_text(within="4s"), code=1)
    assert answer.outcomes()[before["metadata"]["name"]] == ("Undone", None)
    assert "was not Ready and answering within 4 s" in answer.errors
    floor.holds(1)
    wait_tidy_shop(cluster)
    (after,) = pods_of(cluster, "web")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    (told,) = own.run("history", "-o", "json").document["entries"]
    assert (told["method"], told["state"], told["outcome"]) == ("Surge", "NotEvicted", "Undone")


@pytest.mark.campaign
def test_a_stop_before_the_last_step_is_obeyed(cluster: Cluster, own: Own) -> None:
    """All that may forbid an eviction is asked once more before it: the old pod is given back."""
    settled_shop(cluster, annotations={READY_AFTER: "5s"})
    (before,) = pods_of(cluster, "web")
    process = own.start("apply", "--yes", "-o", "json", "--policy", own.policy(policy_text()), process_group=0)
    with Floor(cluster) as floor:
        wait_out(cluster)
        marks = {"metadata": {"annotations": {"rescheduler.dev/stop": "maintenance"}}}
        cluster.api.patch("configmaps", "rescheduler-ledger", marks, HOLDS)
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 1, (output, errors)
    assert [move["outcome"] for move in json.loads(output)["moves"]] == ["Undone"]
    assert "maintenance" in errors
    floor.holds(1)
    wait_tidy_shop(cluster)
    assert pods_of(cluster, "web")[0]["metadata"]["uid"] == before["metadata"]["uid"]


def test_after_a_kill_the_guardian_gives_back_with_the_same_rights(cluster: Cluster, own: Own) -> None:
    """Within 15 seconds the pods are as their owner has them."""
    settled_shop(cluster, annotations={READY_AFTER: "4s"})
    process = own.start("apply", "--yes", "-o", "json", "--policy", own.policy(policy_text()), process_group=0)
    with Floor(cluster) as floor:
        wait_out(cluster)
        process.kill()
        process.communicate(timeout=30)
        wait_until(
            lambda: not [name for name in remains(cluster) if name.startswith("web-")],
            lambda: f"pods as their owner has them: {remains(cluster)}", timeout_seconds=15,
        )  # fmt: skip
    floor.holds(1)
    wait_until(lambda: remains(cluster) == ["filler"], lambda: f"{remains(cluster)}", timeout_seconds=40)


@pytest.mark.parametrize("given", [(), ("surge.yaml",)])
def test_without_the_rights_nothing_is_written(cluster: Cluster, tmp_path: Path, given: tuple[str, ...]) -> None:
    """Neither bound nor there: the missing ones are named with the file that grants them; no pod is evicted instead."""
    own = Own(cluster, tmp_path, *FILES, *given)
    settled_shop(cluster)
    own.writes()
    answer = own.apply(policy_text(), code=None)
    assert answer.code != 0
    assert "deploy/surge.yaml grants them" in answer.errors
    assert "list  networkpolicies  default" in answer.errors
    assert [item for item in own.writes() if not item.resource.startswith("selfsubject")] == []


def network_policy() -> Manifest:
    """One that goes by the label that a surge changes."""
    peers = [{"podSelector": {"matchExpressions": [{"key": "pod-template-hash", "operator": "Exists"}]}}]
    return {
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": {"name": "by-revision", "namespace": "default"},
        "spec": {"podSelector": {"matchLabels": {"app": "db"}}, "ingress": [{"from": peers}]},
    }  # fmt: skip


def test_a_network_policy_that_goes_by_the_label_forbids_it(cluster: Cluster, own: Own) -> None:
    """When it is planned, and where it came after that: nobody is taken out, and nobody evicted."""
    settled_shop(cluster)
    file = own.plan_file("--policy", own.policy(policy_text()))
    assert [move["method"] for move in json.loads(Path(file).read_text())["moves"]] == ["Surge"]
    cluster.create(network_policy())
    own.writes()
    answer = own.apply(policy_text())
    assert answer.document["moves"] == []
    late = own.apply(policy_text(), "--plan", file, code=1)
    for told in (answer.output, late.errors):
        assert "NetworkPolicy default/by-revision goes by the label pod-template-hash" in told
    assert own.changes() == set()


def test_a_plan_that_evicts_a_pod_that_is_to_surge_is_refused(cluster: Cluster, own: Own) -> None:
    """Whoever wrote it: the rules of evictions were not asked."""
    settled_shop(cluster)
    file = own.folder / "by-hand.json"
    file.write_text(plan_of(cluster, move_of(pods_of(cluster, "web")[0], "b-0")))
    own.writes()
    answer = own.apply(policy_text(), "--plan", str(file), code=1)
    assert [move["outcome"] for move in answer.document["moves"]] != ["Landed"]
    assert "Surge" in answer.errors
    assert own.changes() == set()
