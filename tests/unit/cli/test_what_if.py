"""``plan --remove-node`` and ``--add-node`` as people type them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.adapters.api_objects import list_of, node_object, pod_object


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
    ],
)
def test_what_cannot_be_asked_says_why(shell: Any, recorded: str, arguments: list[str], code: int, told: str) -> None:
    """In one paragraph, with nothing on standard output."""
    answer = shell("plan", "-f", recorded, *arguments)
    assert (answer.code, answer.out) == (code, "")
    assert told in " ".join(answer.err.split())
