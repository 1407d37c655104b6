"""Machines are moved by whoever owns them: asked once, never by a dry run, whatever comes of it told as it is."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.api import Manifest
from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, NO_RATES, SHORT_LEASE, daemon
from tests.cluster.shapes import disruption_budget, pod
from tests.cluster.surges.machine_owner import MARK, MachineOwner, machine_owner, machine_pod
from tests.cluster.surges.test_surge_applied import FILES, Own
from tests.cluster.waiting import wait_until

RULE = "moveBy: [{namespaces: [default], method: Migrate}]"


def policy_text(guidance: str = "Guide", rule: str = RULE, within: str = "60s", more: str = "") -> str:
    """A policy by which nodes are emptied, machines being moved by their owner."""
    return (
        f"guidance: {guidance}\nobjectives: [{{name: EmptyNodes}}]\nhold: {{deadline: 20s}}\n{more}\n"
        f"disruption:\n  {rule}\n  migration: {{within: {within}}}\n"
    )


@pytest.fixture
def own(cluster: Cluster, tmp_path: Path) -> Own:
    """The shipped rights are enough: nobody is taken out of anything."""
    return Own(cluster, tmp_path, *FILES)


@pytest.fixture
def owner(cluster: Cluster) -> Iterator[MachineOwner]:
    """The one who owns all machines."""
    with machine_owner(cluster) as found:
        yield found


def settled_machines(cluster: Cluster, count: int = 1) -> list[Manifest]:
    """So many machines on a-0, under budgets that allow no eviction, and on b-0 a pod that stays."""
    cluster.add_nodes(1, prefix="a", cpu="8")
    for number in range(count):
        cluster.create(
            disruption_budget(f"vm-{number}", minAvailable=1), machine_pod(f"vm-{number}", str(uuid.uuid4()))
        )
    machines = cluster.wait_pods_running(count)
    cluster.add_nodes(1, prefix="b", cpu="8")
    cluster.create(pod("filler", cpu="1", spec={"nodeName": "b-0"}))
    cluster.wait_pods_running(count + 1)
    return machines


def standing(cluster: Cluster) -> dict[str, list[str]]:
    """Nodes of the pods of each machine that have not ended."""
    found: dict[str, list[str]] = {}
    for item in cluster.api.list("pods", "default"):
        name = item["metadata"].get("labels", {}).get("app", "")
        if name.startswith("vm-") and item["status"]["phase"] != "Succeeded":
            found.setdefault(name, []).append(item["spec"].get("nodeName", ""))
    return found


def asked_in_log(own: Own) -> list[tuple[str, bool, int]]:
    """Evictions that the audit log knows of, by pod: whether it was a dry run, and the code of the answer."""
    return [(item.name, item.is_dry_run, item.code) for item in own.writes() if item.subresource == "eviction"]


@pytest.mark.parametrize("guidance", ["Guide", pytest.param("Hold", marks=pytest.mark.campaign)])
def test_each_owner_is_asked_once_and_his_machine_lands_as_planned(
    cluster: Cluster, own: Own, owner: MachineOwner, guidance: str
) -> None:
    """One after the other of a node; the audit log knows of one request a pod, and none of them is a dry run."""
    names = [item["metadata"]["name"] for item in settled_machines(cluster, 2)]
    own.writes()
    answer = own.apply(policy_text(guidance))
    assert [move["method"] for move in answer.document["moves"]] == ["Migrate"] * 2, answer
    assert answer.outcomes() == dict.fromkeys(names, ("Landed", "b-0")), answer
    assert sorted(asked_in_log(own)) == sorted((name, False, 429) for name in names)
    assert sorted(owner.asked) == sorted((name, False) for name in names)
    assert standing(cluster) == {"vm-0": ["b-0"], "vm-1": ["b-0"]}
    own.assert_nothing_left()
    told = own.run("history", "-o", "json").document["entries"]
    assert [(item["method"], item["state"], item["outcome"]) for item in told] == [("Migrate", "Repaid", "Landed")] * 2


@pytest.mark.campaign
def test_an_owner_who_gives_up_is_told_as_such(cluster: Cluster, own: Own, owner: MachineOwner) -> None:
    """Undone, exit 1; the machine runs where it was."""
    owner.gives_up = True
    (before,) = settled_machines(cluster)
    own.writes()
    answer = own.apply(policy_text(), code=1)
    assert answer.outcomes() == {before["metadata"]["name"]: ("Undone", None)}
    assert "has begun to move it, and has given up" in answer.errors
    assert len(asked_in_log(own)) == 1
    after = cluster.api.get("pods", before["metadata"]["name"], "default")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert MARK not in after["metadata"]["annotations"]
    assert standing(cluster) == {"vm-0": ["a-0"]}
    own.assert_nothing_left()
    (told,) = own.run("history", "-o", "json").document["entries"]
    assert (told["method"], told["state"], told["outcome"]) == ("Migrate", "NotEvicted", "Undone")


@pytest.mark.campaign
def test_what_another_webhook_says_is_told_in_its_own_words(cluster: Cluster, own: Own, owner: MachineOwner) -> None:
    """Refused, not asked again, and nobody says that the API server is overloaded."""
    owner.words = "no machine moves on a Friday"
    settled_machines(cluster)
    own.writes()
    answer = own.apply(policy_text(), code=1)
    assert [outcome for outcome, _ in answer.outcomes().values()] == ["Refused"]
    assert "no machine moves on a Friday" in answer.errors
    assert "overloaded" not in answer.errors
    assert len(asked_in_log(own)) == 1
    assert standing(cluster) == {"vm-0": ["a-0"]}


@pytest.mark.campaign
def test_without_a_rule_they_are_left_alone(cluster: Cluster, own: Own, owner: MachineOwner) -> None:
    """Not even a dry run is sent."""
    (machine,) = settled_machines(cluster)
    answer = own.apply(policy_text(rule="moveBy: []"))
    assert answer.document["moves"] == []
    policy = own.policy(policy_text(rule="moveBy: []"))
    told = own.run("explain", "pod", f"default/{machine['metadata']['name']}", "--policy", policy)
    assert "is moved by whoever owns it alone" in told.output
    assert owner.asked == []


@pytest.mark.campaign
def test_one_that_takes_too_long_is_unknown_and_not_asked_again(
    cluster: Cluster, own: Own, owner: MachineOwner
) -> None:
    """The next run leaves it alone, and the one after finds where it went."""
    owner.seconds = 15.0
    settled_machines(cluster)
    own.writes()
    answer = own.apply(policy_text(within="4s"), code=1)
    assert [outcome for outcome, _ in answer.outcomes().values()] == ["Unknown"]
    assert "was not done within 4 s" in answer.errors
    assert own.apply(policy_text(within="4s")).document["moves"] == []
    wait_until(lambda: standing(cluster) == {"vm-0": ["b-0"]}, lambda: f"{standing(cluster)}")
    assert len(asked_in_log(own)) == 1
    own.assert_nothing_left()


@pytest.mark.campaign
def test_after_a_kill_the_owner_goes_on_and_is_not_asked_again(cluster: Cluster, own: Own, owner: MachineOwner) -> None:
    """Its guardian opens the gate, so that the new pod is not held back for long."""
    owner.seconds = 10.0
    settled_machines(cluster)
    own.writes()
    process = own.start("apply", "--yes", "-o", "json", "--policy", own.policy(policy_text()), process_group=0)
    wait_until(lambda: bool(owner.asked), "the owner to be asked")
    process.kill()
    process.communicate(timeout=30)
    assert own.apply(policy_text()).document["moves"] == []
    wait_until(lambda: standing(cluster) == {"vm-0": ["b-0"]}, lambda: f"{standing(cluster)}", timeout_seconds=90)
    assert [code for _, is_dry, code in asked_in_log(own) if not is_dry] == [429]
    wait_until(lambda: is_tidy(own), "nothing of ours", timeout_seconds=60)


def is_tidy(own: Own) -> bool:
    """Whether nothing of ours is left."""
    try:
        own.assert_nothing_left()
    except AssertionError:
        return False
    return True


@pytest.mark.campaign
@pytest.mark.parametrize("gives_up", [False, True])
def test_a_daemon_has_machines_moved(cluster: Cluster, own: Own, owner: MachineOwner, gives_up: bool) -> None:
    """By itself, under all that binds it; an owner who gave up is not asked again at once."""
    owner.gives_up = gives_up
    settled_machines(cluster)
    own.writes()
    file = own.policy(
        "mode: Execute\nguidance: Guide\nobjectives: [{name: EmptyNodes}]\nhold: {deadline: 20s}\n"
        f"triggers: [{{name: Schedule, args: {{every: 3s}}}}]\ntelemetry: {{address: '127.0.0.1:0'}}\n{SHORT_LEASE}\n"
        f"{AT_ONCE}\ndisruption:\n  {NO_RATES.replace(', rampUp', chr(10) + '  rampUp')}\n  {RULE}\n"
    )
    with daemon(own, "--policy", file) as process:
        process.wait_for("round ended", outcomes={"Undone": 1} if gives_up else {"Landed": 1})
        process.wait_for("round ended", count=len(process.events("round ended")) + 2)
        assert process.stop() == 0
    assert len(asked_in_log(own)) == 1
    assert standing(cluster) == {"vm-0": ["a-0" if gives_up else "b-0"]}
