"""A folder with a recording, a policy and what it names, and commands that are run on them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

from tests.unit.adapters.api_objects import complete, container, node_object, pod_object
from tests.unit.policy.policies import HEAD

KUBE = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


class Desk:
    """A folder with a recording of three nodes, a policy and what it names."""

    def __init__(self, folder: Path, shell: Callable[..., Any]) -> None:
        self.folder, self.shell = folder, shell

    def file(self, name: str, text: str) -> str:
        """Write a file, and return its path."""
        (self.folder / name).write_text(dedent(text))
        return str(self.folder / name)

    def record(self, *objects: dict[str, Any]) -> None:
        """The cluster that commands read."""
        self.file("cluster.json", json.dumps(complete(*objects)))

    def policy(self, body: str) -> None:
        """The policy that commands go by."""
        self.file("policy.yaml", HEAD + dedent(body))

    def run(self, *arguments: str) -> Any:
        """Run a command on cluster and policy."""
        given = ["-f", str(self.folder / "cluster.json"), "--policy", str(self.folder / "policy.yaml")]
        return self.shell(*arguments, *given)

    def document(self, *arguments: str) -> Any:
        """The JSON of a command that went well without a warning."""
        answer = self.run(*arguments, "-o", "json")
        assert (answer.code, answer.err) == (0, ""), answer.err
        return json.loads(answer.out)

    def placed(self) -> dict[str, str | None]:
        """Where ``schedule`` says that each pending pod goes."""
        return {item["pod"]["name"]: item["node"] for item in self.document("schedule")["pods"]}

    def scores(self, pod: str) -> dict[str, Any]:
        """What ``score`` says by node."""
        return {item["node"]: item for item in self.document("score", f"default/{pod}")["nodes"]}


def waiting(scheduler: str, name: str = "", **spec: Any) -> dict[str, Any]:
    """A pending pod of a scheduler, named after it."""
    return pod_object(name or scheduler, None, **{"schedulerName": scheduler, **spec})


NODES = tuple(node_object(name) for name in "abc")
STANDING = (
    pod_object("a-1", "a", containers=[container(cpu="3")]),
    pod_object("b-1", "b", containers=[container(cpu="1")]),
)
PACKING = """\
profiles:
- schedulerName: default-scheduler
- schedulerName: packing
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
"""
VOLCANO = """\
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: predicates
  - name: nodeorder
  - name: usage
    arguments:
      thresholds: {cpu: 80, mem: 80}
metrics: {type: prometheus, address: "http://prometheus:9090", interval: 30s}
"""
