"""`run` moves pods by surge under its own account, and whatever becomes of the daemon nobody is ever missing."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, NO_RATES, SHORT_LEASE, DaemonProcess, daemon
from tests.cluster.guidance.guided_scenes import pods_of
from tests.cluster.plane.kwok import NEVER_READY, READY_AFTER
from tests.cluster.surges.surge_scenes import Floor, owner_generations, remains, wait_out
from tests.cluster.surges.test_surge_applied import FILES, SURGES, Own, settled_shop, wait_tidy_shop
from tests.cluster.surges.test_surge_killed import kill_with_guardian
from tests.cluster.tool import HOLDS
from tests.cluster.waiting import wait_until

LEASE_SECONDS = 8
SIGTERM_SECONDS = 30.0
BINDING = "rbac.authorization.k8s.io/v1/clusterrolebindings"


def policy_of(own: Own, within: str = "60s") -> str:
    """A file by which nodes are emptied by surge, on demand."""
    return own.policy(
        "mode: Execute\nguidance: Guide\nobjectives: [{name: EmptyNodes}]\nhold: {deadline: 20s}\n"
        f"triggers: [{{name: OnDemand}}]\ntelemetry: {{address: '127.0.0.1:0'}}\n{SHORT_LEASE}\n{AT_ONCE}\n"
        "disruption:\n"
        f"  {NO_RATES.replace(', rampUp', chr(10) + '  rampUp')}\n"
        "  moveBy: [{namespaces: [default], method: Surge}]\n"
        f"  surge: {{readyWithin: {within}, settle: 500ms}}\n"
    )


@pytest.fixture
def own(cluster: Cluster, tmp_path: Path) -> Own:
    """With all that a daemon needs that surges."""
    return Own(cluster, tmp_path, *FILES, *SURGES)


def ask(process: DaemonProcess) -> None:
    """For a round."""
    process.wait_for("leading")
    process.process.send_signal(signal.SIGUSR1)


def wait_whole(cluster: Cluster, seconds: float) -> None:
    """Until no pod of the shop is out of its ReplicaSet, nor one too many."""
    wait_until(
        lambda: (
            not [name for name in remains(cluster) if name.startswith("web-")] and len(pods_of(cluster, "web")) == 1
        ),
        lambda: f"the shop as its owner has it: {remains(cluster)}, {cluster.pods_by_node('default')}",
        timeout_seconds=seconds,
    )


def test_a_node_is_emptied_and_nobody_is_ever_missing(cluster: Cluster, own: Own) -> None:
    """One replica under a budget of one; the Lease is renewed while the replacement starts for longer than it lasts."""
    before = settled_shop(cluster, annotations={READY_AFTER: f"{LEASE_SECONDS + 5}s"})
    own.writes()
    with Floor(cluster) as floor, daemon(own, "--policy", policy_of(own)) as process:
        ask(process)
        before_it = len(process.events("not leading"))
        ended = process.wait_for("round ended")
        assert (ended["outcome"], ended["outcomes"]) == ("done", {"Landed": 1}), process.told()
        assert ended["seconds"] > LEASE_SECONDS
        assert len(process.events("not leading")) == before_it, process.told()
        assert process.stop() == 0
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
    """As many at a time as its own rollouts may add, under all that binds a daemon."""
    before = settled_shop(cluster, 5)
    with Floor(cluster) as floor, daemon(own, "--policy", policy_of(own)) as process:
        ask(process)
        ended = process.wait_for("round ended")
        assert (ended["outcome"], ended["outcomes"]) == ("done", {"Landed": 5}), process.told()
        assert process.stop() == 0
    floor.holds(5)
    wait_tidy_shop(cluster, 5)
    assert {pod["spec"]["nodeName"] for pod in pods_of(cluster, "web")} == {"b-0"}
    assert owner_generations(cluster) == before


@pytest.mark.parametrize(
    "is_guarded", [pytest.param(False, marks=pytest.mark.campaign), True], ids=["alone", "with a guardian"]
)
def test_after_kill_9_the_next_leader_gives_back_without_any_trigger(
    cluster: Cluster, own: Own, is_guarded: bool
) -> None:
    """As soon as it leads, though the placeholders of the dead one stand and the time on the pod has not passed."""
    settled_shop(cluster, annotations={READY_AFTER: "30s"})
    (before,) = pods_of(cluster, "web")
    file = policy_of(own)
    with daemon(own, "--policy", file) as leader:
        leader.wait_for("leading")
        with daemon(own, "--policy", file) as other, Floor(cluster) as floor:
            other.wait_for("not leading")
            ask(leader)
            wait_out(cluster)
            if is_guarded:
                leader.process.kill()
            else:
                kill_with_guardian(leader.process)
            other.wait_for("leading", timeout_seconds=LEASE_SECONDS + 20)
            wait_whole(cluster, 15)
            assert other.events("round ended") == []
            (after,) = pods_of(cluster, "web")
            assert after["metadata"]["uid"] == before["metadata"]["uid"], "the Ready one stays"
            assert other.stop() == 0
    floor.holds(1)
    wait_until(lambda: remains(cluster) == ["filler"], lambda: f"{remains(cluster)}", timeout_seconds=60)


@pytest.mark.campaign
def test_after_kill_9_the_next_process_finishes_what_was_planned(cluster: Cluster, own: Own) -> None:
    """Its first round gives back, and a later one moves the pod in its own name."""
    settled_shop(cluster, annotations={READY_AFTER: "4s"})
    file = policy_of(own)
    with Floor(cluster) as floor:
        with daemon(own, "--policy", file) as first:
            ask(first)
            wait_out(cluster)
            kill_with_guardian(first.process)
        with daemon(own, "--policy", file) as second:
            second.wait_for("leading")
            wait_whole(cluster, 15)
            wait_until(lambda: len(cluster.api.list("jobs", HOLDS)) == 0, "the placeholders to go", timeout_seconds=60)
            second.process.send_signal(signal.SIGUSR1)
            ended = second.wait_for("round ended")
            assert ended["outcomes"] == {"Landed": 1}, second.told()
            assert second.stop() == 0
    floor.holds(1)
    wait_tidy_shop(cluster)
    assert {pod["spec"]["nodeName"] for pod in pods_of(cluster, "web")} == {"b-0"}


@pytest.mark.campaign
def test_sigterm_in_the_middle_gives_back(cluster: Cluster, own: Own) -> None:
    """Long before its kubelet would kill it: same pod as before, exit code 0, and nothing of ours is left."""
    settled_shop(cluster, annotations={READY_AFTER: "60s"})
    (before,) = pods_of(cluster, "web")
    with Floor(cluster) as floor, daemon(own, "--policy", policy_of(own, "5m")) as process:
        ask(process)
        wait_out(cluster)
        began = time.monotonic()
        assert process.stop(timeout_seconds=SIGTERM_SECONDS) == 0
        assert time.monotonic() - began < SIGTERM_SECONDS / 2
        ended = process.wait_for("round ended")
        assert ended["outcomes"] == {"Undone": 1}, process.told()
        wait_whole(cluster, 10)
    floor.holds(1)
    wait_tidy_shop(cluster)
    assert pods_of(cluster, "web")[0]["metadata"]["uid"] == before["metadata"]["uid"]
    (told,) = own.run("history", "-o", "json").document["entries"]
    assert (told["state"], told["outcome"]) == ("NotEvicted", "Undone")


@pytest.mark.campaign
def test_a_stop_while_a_surge_is_open_is_obeyed(cluster: Cluster, own: Own) -> None:
    """The mark on the ledger forbids the last step: given back, by a daemon that goes on living."""
    settled_shop(cluster, annotations={READY_AFTER: "5s"})
    (before,) = pods_of(cluster, "web")
    with Floor(cluster) as floor, daemon(own, "--policy", policy_of(own)) as process:
        ask(process)
        wait_out(cluster)
        marks = {"metadata": {"annotations": {"rescheduler.dev/stop": "maintenance"}}}
        cluster.api.patch("configmaps", "rescheduler-ledger", marks, HOLDS)
        ended = process.wait_for("round ended")
        assert "maintenance" in ended["reason"], process.told()
        wait_tidy_shop(cluster)
        assert process.stop() == 0
    floor.holds(1)
    assert pods_of(cluster, "web")[0]["metadata"]["uid"] == before["metadata"]["uid"]


@pytest.mark.campaign
def test_a_replacement_that_never_gets_ready_is_tried_once(cluster: Cluster, own: Own) -> None:
    """Undone, and the next round leaves the workload alone for the time of the back-off."""
    settled_shop(cluster, annotations={NEVER_READY: "true"})
    with Floor(cluster) as floor, daemon(own, "--policy", policy_of(own, "4s")) as process:
        ask(process)
        assert process.wait_for("round ended")["outcomes"] == {"Undone": 1}, process.told()
        wait_tidy_shop(cluster)
        own.writes()
        process.process.send_signal(signal.SIGUSR1)
        assert process.wait_for("round ended", count=2)["planned"] == 0, process.told()
        assert process.stop() == 0
    floor.holds(1)
    assert own.changes() == set()


def test_without_the_rights_it_does_not_begin(cluster: Cluster, tmp_path: Path) -> None:
    """The missing ones are named, and nothing is written; no pod is evicted instead."""
    own = Own(cluster, tmp_path, *FILES)
    settled_shop(cluster)
    own.writes()
    answer = own.run("run", "--once", "--policy", policy_of(own), code=None)
    assert answer.code != 0
    assert "networkpolicies" in answer.errors
    assert [item for item in own.writes() if not item.resource.startswith("selfsubject")] == []


@pytest.mark.campaign
def test_a_right_that_is_taken_away_later_is_told(cluster: Cluster, own: Own) -> None:
    """The plan is refused as a whole, before anything of it is done."""
    settled_shop(cluster)
    with daemon(own, "--policy", policy_of(own)) as process:
        process.wait_for("leading")
        cluster.api.delete(BINDING, "rescheduler-surge")
        own.writes()
        ask(process)
        ended = process.wait_for("round ended")
        assert "moves by surge are not possible here: we may not" in ended["reason"], process.told()
        assert "networkpolicies" in ended["reason"]
        assert ended["planned"] == 1
        assert process.stop() == 0
    assert own.changes() == set()
