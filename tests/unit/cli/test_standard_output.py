"""Standard output: the answer and nothing else, whatever native code writes to the file descriptor."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.adapters.api_objects import api_object, container, list_of, node_object, pod_object

NOISY = """
import os, sys
from rescheduler.adapters.files.recording import reading
from rescheduler.__main__ import main
quiet = reading.read_recording
def noisy(*given, **named):
    os.write(1, b"NOISE of native code\\n")
    return quiet(*given, **named)
reading.read_recording = noisy
main()
"""
"""A program that writes past Python, as solvers do, in the midst of each command that reads a cluster."""


def recording(folder: Path) -> str:
    """Three nodes, and pods that fit on fewer."""
    pods = []
    for number in range(4):
        pod = pod_object(f"web-{number}", f"n{number % 3}", containers=[container(cpu="500m")])
        pod["metadata"]["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
        ]
        pod["metadata"]["uid"] = f"uid-{number}"
        pods.append(pod)
    owner = api_object("ReplicaSet", "web", namespace="default", version="apps/v1", spec={"replicas": 4},
                       metadata={"uid": "u"})  # fmt: skip
    nodes = [node_object(f"n{number}") for number in range(3)]
    for node, price in zip(nodes, ("1.5", "2.25", "3"), strict=True):
        node["metadata"]["labels"]["price"] = price
    file = folder / "cluster.json"
    file.write_text(json.dumps(list_of(*nodes, *pods, pod_object("big", None), owner)), encoding="utf-8")
    return str(file)


def run(program: str, *arguments: str) -> Any:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("arguments", [
    ("plan", "-o", "json"), ("plan", "-o", "yaml"), ("plan", "-o", "html"), ("plan",), ("plan", "-o", "wide"),
    ("simulate", "-o", "json"), ("schedule", "-o", "json"), ("score", "default/big", "-o", "json"),
    ("explain", "pod", "default/big"), ("explain", "node", "n1"),
], ids=" ".join)  # fmt: skip
def test_nothing_but_the_answer_stands_there(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """What was written past Python goes to standard error, and JSON stays JSON."""
    done = run(NOISY, *arguments, "-f", recording(tmp_path))
    assert done.returncode == 0, done
    assert "NOISE of native code" in done.stderr
    assert done.stdout
    assert "NOISE" not in done.stdout
    if arguments[-1] == "json":
        json.loads(done.stdout)


def test_a_plan_by_prices_prints_its_document_alone(tmp_path: Path) -> None:
    """The solver of programmes with prices and a cost of moves tells of itself on no stream that is read."""
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "{apiVersion: rescheduler/v1alpha1, kind: ReschedulerPolicy, metadata: {name: p}, objectives: [{"
        "name: EmptyNodes, moveCost: 0.1, args: {price: {label: price}}}]}", encoding="utf-8",
    )  # fmt: skip
    done = run("from rescheduler.__main__ import main; main()", "plan", "-o", "json", "--policy", str(policy),
               "-f", recording(tmp_path))  # fmt: skip
    assert done.returncode == 0, done
    assert json.loads(done.stdout)["kind"] == "Plan"


def test_a_reader_who_has_gone_is_no_error(tmp_path: Path) -> None:
    """As before: a closed pipe ends quietly."""
    command = f"{sys.executable} -m rescheduler plan -f {recording(tmp_path)} | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
