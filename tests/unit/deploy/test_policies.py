"""The policies that are shipped do what their first lines say, in the simulator."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.paths import EXAMPLES, ROOT
from tests.unit.cli.conftest import Answer, shell

__all__ = ["shell"]

POLICIES = sorted(file.name for file in (ROOT / "policies").glob("*.yaml"))
SMALL = json.loads((EXAMPLES / "small.json").read_text())
CONFIGURATIONS = {
    "volcano.yaml": ("volcano-system", "volcano-scheduler-configmap", "volcano-scheduler.conf", "volcano"),
    "trimaran.yaml": ("scheduler-plugins", "scheduler-config", "kube-scheduler-trimaran.yaml", "by-load"),
}
"""Namespace, name and contents of the ConfigMap that a policy names, and the scheduler which is configured there."""


def recording(folder: Path, policy: str) -> str:
    """The small example, its pods under the scheduler that the policy is for."""
    items = json.loads(json.dumps(SMALL["items"]))
    if policy in CONFIGURATIONS:
        namespace, name, file, scheduler = CONFIGURATIONS[policy]
        for item in items:
            if item["kind"] == "Pod":
                item["spec"]["schedulerName"] = scheduler
        data = {file: (EXAMPLES / file).read_text()}
        metadata = {"namespace": namespace, "name": name}
        items.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    path = folder / "cluster.json"
    path.write_text(json.dumps({**SMALL, "items": items}))
    return str(path)


@pytest.fixture
def simulated(tmp_path: Path, shell: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the simulation of a policy comes to; its files are named as they lie in the repository."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def run(policy: str) -> Any:
        given = ("--policy", f"policies/{policy}", "-f", recording(tmp_path, policy))
        answer = shell("simulate", "-o", "json", "--deadline", "60s", *given)
        assert answer.code == 0, answer.err
        return json.loads(answer.out)

    return run


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_runs_in_the_simulator(simulated: Any, policy: str) -> None:
    """Its plan ends as planned or elsewhere without harm, and each objective says what it reached."""
    result = simulated(policy)
    outcomes = {item["outcome"] for item in result["moves"] + result["placements"]}
    assert outcomes <= {"Landed", "LandedElsewhere"}
    assert all(item["status"] in ("OPTIMAL", "FEASIBLE", "INFEASIBLE") for item in result["objectives"])


@pytest.mark.parametrize("policy", ["pending-only.yaml", "volcano.yaml", "trimaran.yaml"])
def test_pending_pods_get_their_room(simulated: Any, policy: str) -> None:
    """All that want a place, under the scheduler that the policy is for."""
    made = simulated(policy)["objectives"][0]
    assert (made["name"], made["helped"]) == ("MakeRoom", made["wanted"])
    assert made["wanted"] > 0


@pytest.mark.parametrize("policy", CONFIGURATIONS)
def test_a_policy_that_names_a_configuration_says_when_it_is_not_there(tmp_path: Path, policy: str) -> None:
    """A recording without the ConfigMap: exit 1, and its name."""
    namespace, name, _, _ = CONFIGURATIONS[policy]
    done = subprocess.run(
        [sys.executable, "-m", "rescheduler", "plan", "--policy", f"policies/{policy}",
         "-f", "docs/examples/small.json"],
        capture_output=True, text=True, timeout=100, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"{namespace}/{name}" in done.stderr


def test_the_policy_that_only_looks_may_write_nothing() -> None:
    """Neither placeholders nor a lease: mode DryRun. It plans with the guidance that whoever acts would have."""
    from rescheduler.daemon.plugins import load_policy
    from rescheduler.policy.fields.policy import elects_leader

    found = load_policy([ROOT / "policies" / "observe-only.yaml"])
    assert (found.mode.value, found.guidance.value, elects_leader(found)) == ("DryRun", "Hold", False)


def test_every_policy_is_described() -> None:
    """docs/policies.md has a line for each."""
    text = (ROOT / "docs" / "policies.md").read_text()
    assert [name for name in POLICIES if f"| `policies/{name}` |" not in text] == []
