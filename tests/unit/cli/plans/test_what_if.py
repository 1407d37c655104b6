"""``plan --remove-node`` and ``--add-node`` as people type them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.adapters.api_objects import container, list_of, node_object, pod_object
from tests.unit.report.html.parsed import Page


@pytest.fixture
def recorded(tmp_path: Path) -> str:
    """Two nodes with room, and a pod on one of them."""
    file = tmp_path / "cluster.json"
    owner = [{"kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}]
    pods = [
        pod_object(f"web-{number}", where, metadata={"ownerReferences": owner})
        for number, where in enumerate(("n1", "n2"))
    ]
    file.write_text(json.dumps(list_of(node_object("n1"), node_object("n2"), *pods)))
    return str(file)


def test_both_questions_are_answered_as_plans(shell: Any, recorded: str) -> None:
    """With the question beside the answer."""
    answer = shell("plan", "-f", recorded, "--remove-node", "n1", "--remove-node", "n1", "-o", "json")
    assert answer.code == 0, answer.err
    plan = json.loads(answer.out)
    assert [item["name"] for item in plan["objectives"]] == ["EmptyNodes"]
    assert plan["whatIf"]["removedNodes"] == ["n1"]
    answer = shell("plan", "-f", recorded, "--add-node", "2xlike:n1", "-o", "json")
    assert answer.code == 0, answer.err
    plan = json.loads(answer.out)
    assert [item["name"] for item in plan["whatIf"]["addedNodes"]] == ["added-1", "added-2"]
    assert plan["snapshot"]["nodes"] == 4
    assert "added-1, added-2 exist in this plan only" in answer.err


@pytest.fixture
def priced(tmp_path: Path) -> tuple[str, str]:
    """A node that is far too large for its pods, and a table of prices."""
    file, prices = tmp_path / "large.json", tmp_path / "prices.json"
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
    labels = {"node.kubernetes.io/instance-type": "big", "karpenter.sh/nodepool": "web"}
    node = node_object("n1")
    node["metadata"]["labels"].update(labels)
    pods = [pod_object(f"web-{number}", "n1", containers=[container(cpu="500m")]) for number in range(2)]
    for pod in pods:
        pod["metadata"]["ownerReferences"] = [owner]
    file.write_text(json.dumps(list_of(node, *pods)))
    size = {"cpu": "2", "memory": "4Gi", "pods": "20"}
    rows = [
        {"instanceType": "big", "price": 1.0},
        {"instanceType": "small", "price": 0.1, "resources": size},
        {"instanceType": "bare", "price": 0.05},
    ]
    prices.write_text(json.dumps({"prices": rows}))
    return str(file), str(prices)


@pytest.mark.parametrize("asked", [("--replace-node", "n1"), ("--replace-pool", "web")])
def test_a_cheaper_machine_is_named_with_its_price(
    shell: Any, priced: tuple[str, str], tmp_path: Path, asked: tuple[str, str]
) -> None:
    """In JSON and in the table; what nobody can carry out ``apply`` refuses, whoever asks."""
    cluster, prices = priced
    answer = shell("plan", "-f", cluster, "--prices", prices, *asked, "-o", "json")
    assert answer.code == 0, answer.err
    plan = json.loads(answer.out)
    assert plan["whatIf"]["removedNodes"] == ["n1"]
    [added] = plan["whatIf"]["addedNodes"]
    assert (added["instanceType"], added["nodePool"], added["price"]) == ("small", "web", 73.0)
    assert plan["whatIf"]["replacement"] == {
        "oldCost": 730.0, "newCost": 73.0, "leastCost": 73.0, "oldPrices": {"n1": 730.0},
    }  # fmt: skip
    assert plan["cost"]["saving"] == 657.0
    table = shell("plan", "-f", cluster, "--prices", prices, *asked)
    assert "n1 could be replaced by 1 small (web): 73.00 USD a month in place of 730.00" in " ".join(table.out.split())

    html = shell("plan", "-f", cluster, "--prices", prices, *asked, "-o", "html")
    page = Page(html.out).text
    assert "Machines sold and bought" in page
    assert "1 node sold: 730.00 USD a month" in page
    assert "1 machine bought: 73.00 USD a month" in page
    assert "small web 1 73.00 73.00" in page

    file = tmp_path / "plan.json"
    file.write_text(answer.out)
    refused = shell("apply", "--plan", str(file), "--yes", "--kubeconfig", str(tmp_path / "none"))
    assert (refused.code, refused.out) == (1, "")
    assert "added-1 does not exist, so this plan cannot be carried out" in " ".join(refused.err.split())
    assert "apply --plan FILE --buy has it made first" in " ".join(refused.err.split())


def test_a_dry_run_says_what_would_be_asked_for(shell: Any, priced: tuple[str, str]) -> None:
    """Each placeholder with size and labels; the plan itself is the same with and without."""
    cluster, prices = priced
    asked = ("plan", "-f", cluster, "--prices", prices, "--replace-node", "n1", "-o", "json")
    plain, told = (json.loads(shell(*asked, *more).out) for more in ((), ("--buy",)))
    assert "added-1 exists in this plan only, until apply --buy has it made" in plain["warnings"]
    [line] = [text for text in told["warnings"] if text not in plain["warnings"]]
    assert line == (
        "apply --buy asks for added-1: small (web) by a placeholder in namespace rescheduler-holds with cpu=2, "
        "memory=4Gi on a node with node.kubernetes.io/instance-type=small, karpenter.sh/nodepool=web"
    )
    for plan in (plain, told):
        for part in ("warnings", "objectives"):
            del plan[part]
    assert plain == told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["plan", "--buy"], "--buy is for machines that replace nodes"),
        (["apply", "--yes", "--buy"], "--buy is for machines that replace nodes"),
        (["apply", "--yes", "--buy", "--resume", "7"], "a plan that was begun has its machines"),
        (["apply", "--yes", "--plan", "x", "--replace-node", "a"], "bring their own moves"),
        (["apply", "--yes", "--replace-pool", ""], "an empty name"),
        (["apply", "--yes", "--replace-node", "a", "--objective", "MakeRoom"], "leave --objective out"),
        (["apply", "--yes", "--replace-node", "a", "--buy"], "wanted a table of prices"),
        (["apply", "--yes", "--replace-node", "a", "--improve"], "leave the DeschedulerPolicy out"),
    ],
)
def test_wrong_use_of_buying_is_found_before_anything_is_read(shell: Any, arguments: list[str], told: str) -> None:
    """Exit 2, without a connection."""
    refused = shell(*arguments)
    assert (refused.code, refused.out) == (2, "")
    assert told in " ".join(refused.err.split())


def test_placeholders_are_not_made_under_predict(shell: Any, priced: tuple[str, str], tmp_path: Path) -> None:
    """That guidance writes nothing but evictions."""
    cluster, prices = priced
    policy = tmp_path / "policy.yaml"
    policy.write_text("apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\nguidance: Predict\n")
    asked = ("--prices", prices, "--replace-node", "n1", "--buy", "--policy", str(policy))
    for command in (("plan", "-f", cluster), ("apply", "--yes")):
        refused = shell(*command, *asked)
        assert refused.code == 2
        assert "guidance: Predict writes nothing but evictions" in " ".join(refused.err.split())


def test_a_type_of_the_table_is_added_with_its_size_and_price(shell: Any, priced: tuple[str, str]) -> None:
    """As one would ask for a machine by hand."""
    cluster, prices = priced
    answer = shell(
        "plan", "-f", cluster, "--prices", prices, "--remove-node", "n1", "--add-node", "type:small", "-o", "json"
    )
    assert answer.code == 0, answer.err
    plan = json.loads(answer.out)
    assert (plan["cost"]["before"], plan["cost"]["after"]) == (730.0, 73.0)
    assert "replacement" not in plan["whatIf"]
    for shape, told in (("type:bare", "says no resources"), ("type:gone", "has no row for it")):
        refused = shell("plan", "-f", cluster, "--prices", prices, "--add-node", shape)
        assert (refused.code, refused.out) == (1, "")
        assert told in " ".join(refused.err.split())


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--remove-node", "n9"], 1, "the cluster has no node n9"),
        (["--add-node", "like:n9"], 1, "the cluster has no node n9"),
        (["--remove-node", ""], 2, "--remove-node: an empty name"),
        (["--remove-node", "n1", "--objective", "MakeRoom"], 2, "give one"),
        (["--add-node", "cpu=0,memory=1Gi"], 2, "cpu: 0; a node needs some of it"),
        (["--add-node", "cpu=-4,memory=1Gi"], 2, "negative"),
        (["--add-node", "huge"], 2, "wanted a shape such as"),
        (["--add-node", "600xlike:n1", "--add-node", "600xlike:n2"], 2, "more than 1000 nodes in all"),
        (["--add-node", "like:n1", "--remove-node", "n1"], 2, "together change nothing"),
        (["--add-node", "type:small"], 2, "wanted a table of prices"),
        (["--replace-node", "n1"], 2, "wanted a table of prices that says instanceType and resources"),
        (["--replace-pool", ""], 2, "an empty name; name a node or a NodePool"),
        (["--replace-node", "n1", "--remove-node", "n2"], 2, "choose the nodes to add themselves"),
        (["--replace-pool", "web", "--objective", "MakeRoom"], 2, "leave --objective out"),
    ],
)
def test_what_cannot_be_asked_says_why(shell: Any, recorded: str, arguments: list[str], code: int, told: str) -> None:
    """In one paragraph, with nothing on standard output."""
    answer = shell("plan", "-f", recorded, *arguments)
    assert (answer.code, answer.out) == (code, "")
    assert told in " ".join(answer.err.split())
