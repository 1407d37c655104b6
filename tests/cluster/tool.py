"""The rescheduler as a user runs it against the test cluster, and what the audit log says that it wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from tests.cluster.cluster import Cluster
from tests.cluster.plane.audit import Request

USER = "rescheduler-under-test"
HOLDS = "rescheduler-holds"
LEASES = "rescheduler-system"
ALLOWED_BESIDE_EVICTIONS = {
    ("create", "jobs", "", HOLDS),
    ("patch", "jobs", "", HOLDS),
    ("delete", "jobs", "", HOLDS),
    ("patch", "pods", "status", HOLDS),
    ("create", "namespaces", "", ""),
    ("create", "selfsubjectaccessreviews", "", ""),
    ("create", "selfsubjectrulesreviews", "", ""),
    ("create", "selfsubjectreviews", "", ""),
    ("create", "configmaps", "", HOLDS),
    ("update", "configmaps", "", HOLDS),
    ("create", "leases", "", LEASES),
    ("update", "leases", "", LEASES),
}
"""What docs/what-we-write.md lists, but for Events and the nominations of pods in their own namespaces."""


class Answer(NamedTuple):
    """What a run printed and how it ended."""

    code: int
    output: str
    errors: str

    @property
    def document(self) -> dict[str, Any]:
        """Standard output as JSON."""
        found: dict[str, Any] = json.loads(self.output)
        return found

    @property
    def warnings(self) -> list[str]:
        """Warnings of a plan, but for what the daemon would wait for (test clusters are minutes old) and the version.

        ``make e2e KUBERNETES=1.34`` tries servers that are told to be older or newer than what is tested.
        """
        expected = ("run would ", "the API server is Kubernetes v")
        return [text for text in self.document["warnings"] if not text.startswith(expected)]

    def outcomes(self) -> dict[str, tuple[str, str | None]]:
        """Outcome and node of each move and placement, by pod name."""
        found = self.document
        return {
            item["pod"]["name"]: (item["outcome"], item["landedOn"]) for item in found["moves"] + found["placements"]
        }


class Tool:
    """Runs commands as one user of the cluster, who may do everything and is told apart in the audit log."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        plane = cluster.control_plane
        self.kubeconfig = plane.user_kubeconfig(USER, ("system:masters",))
        self.user = USER
        self._cluster = cluster
        self._folder = folder
        self._mark = plane.audit.mark()

    def run(self, *arguments: str, timeout: float = 120.0, code: int | None = 0, standard_input: str = "") -> Answer:
        """Run a command to its end; ``code``: what it must exit with (None: anything)."""
        done = subprocess.run(
            self._command(arguments), input=standard_input, capture_output=True, text=True, timeout=timeout,
            env=self._environment(),
        )  # fmt: skip
        answer = Answer(done.returncode, done.stdout, done.stderr)
        assert code is None or answer.code == code, answer
        assert "Traceback" not in answer.errors, answer.errors
        return answer

    def start(self, *arguments: str, process_group: int | None = None) -> subprocess.Popen[str]:
        """Start a command and let it run; ``process_group``: 0 for one of its own."""
        return subprocess.Popen(
            self._command(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=self._environment(), process_group=process_group,
        )  # fmt: skip

    def policy(self, text: str) -> str:
        """Write a policy and return its path."""
        path = self._folder / "policy.yaml"
        path.write_text(f"apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n{text}\n")
        return str(path)

    def plan_file(self, *arguments: str) -> str:
        """Plan, keep the plan in a file, and return its path."""
        path = self._folder / "plan.json"
        path.write_text(self.run("plan", "-o", "json", *arguments).output)
        return str(path)

    def writes(self) -> list[Request]:
        """Everything that was asked to be changed since the last call."""
        audit = self._cluster.control_plane.audit
        found = audit.writes_since(self._mark, user=self.user)
        self._mark = audit.mark()
        return found

    def refused_reads(self) -> list[Request]:
        """What the chart's account has been forbidden to read since the last call of ``writes``."""
        found = self._cluster.control_plane.audit.reads_since(self._mark)
        assert found, "the audit log knows of no read at all"
        return [read for read in found if read.code in (401, 403)]

    def evictions(self) -> list[str]:
        """Names of the pods that were evicted in earnest since the last call; every other write must be a known one."""
        found = self.writes()
        for write in found:
            assert is_known(write), write
        return [write.name for write in found if write.subresource == "eviction" and not write.is_dry_run]

    def assert_nothing_left(self) -> None:
        """No placeholder Job or pod anywhere, no gate and no nomination on a pending pod."""
        api = self._cluster.api
        label = "app.kubernetes.io/managed-by=rescheduler"
        left = [item["metadata"]["name"] for kind in ("jobs", "pods") for item in api.list(kind, labels=label)]
        assert left == []
        for pod in api.list("pods"):
            assert not pod["spec"].get("schedulingGates"), pod["metadata"]["name"]

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", "rescheduler", *arguments, "--kubeconfig", str(self.kubeconfig)]

    def _environment(self) -> dict[str, str]:
        state = str(self._folder / "state")
        return {**os.environ, "NO_COLOR": "1", "PYTHONUNBUFFERED": "1", "XDG_STATE_HOME": state}


def is_known(write: Request) -> bool:
    """Whether a write is one that the documentation lists."""
    if write.resource == "pods" and write.subresource in ("eviction", "status"):
        return write.verb == ("create" if write.subresource == "eviction" else "patch")
    if write.resource == "events":
        return write.verb == "create"
    return (write.verb, write.resource, write.subresource, write.namespace) in ALLOWED_BESIDE_EVICTIONS


def crowd(cluster: Cluster, namespace: str = "default") -> Counter[str]:
    """How many pods run for each value of the label ``app``."""
    pods = cluster.api.list("pods", namespace)
    return Counter(pod["metadata"]["labels"]["app"] for pod in pods if pod["status"].get("phase") == "Running")
