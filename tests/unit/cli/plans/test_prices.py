"""``--prices`` and ``costs`` as a user runs them on a recording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.adapters.api_objects import container, node_object, pod_object
from tests.unit.cli.desk import Desk

TYPE = "node.kubernetes.io/instance-type"


@pytest.fixture
def fleet(desk: Desk) -> Desk:
    """A dear and a cheap node, each with pods of one workload that would fit on either."""
    nodes = [node_object(name) for name in ("cheap", "dear")]
    pods = []
    for number, node in enumerate(("cheap", "dear", "dear")):
        nodes[node == "dear"]["metadata"]["labels"] = {"kubernetes.io/hostname": node, TYPE: node}
        pod = pod_object(f"web-{number}", node, containers=[container(cpu="500m")])
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
        pod["metadata"]["ownerReferences"] = [owner]
        pods.append(pod)
    desk.record(*nodes, *pods)
    desk.policy("objectives: [{name: EmptyNodes}]\ndisruption: {workloads: {maxUnavailable: 2}}\n")
    return desk


@pytest.fixture
def prices(tmp_path: Path) -> str:
    """A table of both types."""
    path = tmp_path / "prices.csv"
    path.write_text("instanceType,price\ncheap,0.1\ndear,1\n")
    return str(path)


def test_a_plan_with_prices_empties_the_dear_node_and_tells_the_money(fleet: Desk, prices: str) -> None:
    """As data, as lines and as a page: before, after and saved."""
    plan = json.loads(fleet.run("plan", "-o", "json", "--prices", prices).out)
    assert plan["cost"] == {
        "currency": "USD", "before": 803, "after": 73, "saving": 730, "complete": True, "unpriced": [], "kept": [],
        "empty": 0,
    }  # fmt: skip
    assert {move["fromNode"] for move in plan["moves"]} == {"dear"}
    assert (plan["objectives"][0]["value"], plan["objectives"][0]["unit"]) == (730, "USD/month")
    table = fleet.run("plan", "--prices", prices).out
    assert "Cost: 803.00 USD a month before, 73.00 after: 730.00 saved" in table
    page = fleet.run("plan", "-o", "html", "--prices", prices).out
    assert "<b>803.00</b> USD a month before" in page
    assert "<b>73.00</b> USD a month after" in page


def test_costs_tells_fleet_payers_and_idle(fleet: Desk, prices: str) -> None:
    """As data and as lines."""
    found = json.loads(fleet.run("costs", "-o", "json", "--prices", prices, "--deadline", "5s").out)
    assert (found["kind"], found["cost"]["before"]) == ("Costs", 803)
    assert [(one["name"], one["nodes"], one["cost"]) for one in found["byPool"]] == [("none", 2, 803)]
    assert found["byOwner"][0]["name"] == "ReplicaSet default/web"
    assert found["idle"] + found["byOwner"][0]["cost"] == pytest.approx(803, abs=0.02)
    assert "803.00 USD a month" in fleet.run("costs", "--prices", prices, "--deadline", "5s").out


def test_a_bad_table_is_wrong_use(fleet: Desk, tmp_path: Path) -> None:
    """Exit 2, naming file, row and field; nothing on standard output."""
    path = tmp_path / "bad.json"
    path.write_text('{"prices": [{"instanceType": "dear", "price": -1}]}')
    answer = fleet.run("plan", "--prices", str(path))
    assert (answer.code, answer.out) == (2, "")
    assert f"{path}: prices[0].price: found -1; wanted 0 to 1e+12" in answer.err


def test_costs_without_prices_is_wrong_use(fleet: Desk) -> None:
    """It says where prices come from."""
    answer = fleet.run("costs")
    assert answer.code == 2
    assert "costs needs prices: give --prices FILE" in answer.err
