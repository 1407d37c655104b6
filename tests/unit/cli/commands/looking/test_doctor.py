"""``doctor``, and ``check`` against a cluster: forms and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rescheduler.composition.diagnosis import diagnosing
from rescheduler.extension_points import ClusterError
from rescheduler.report.diagnosis import Diagnosed, diagnosis_of
from tests.unit.cli.conftest import Answer

Shell = Callable[..., Answer]
NOTE = Diagnosed("OtherEvictor", "kube-system/descheduler-1", "descheduler is at work here", "end it")
BLOCK = Diagnosed("Rights", "see the cluster", "this account may not list pods", "grant it", True)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a pretended cluster has; an error stands for one that cannot be asked."""
    findings: list[Any] = []

    def diagnose(*_given: Any) -> Any:
        if findings and isinstance(findings[0], Exception):
            raise findings[0]
        return diagnosis_of(findings)

    monkeypatch.setattr(diagnosing, "diagnose", diagnose)
    monkeypatch.setattr(diagnosing, "diagnose_server", diagnose)
    return findings


def test_a_note_is_told_and_is_no_failure(shell: Shell, found: list[Any]) -> None:
    """Each with its fix."""
    found.append(NOTE)
    answer = shell("doctor")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "Nothing keeps it from working; 1 other to know of",
        "",
        "note   OtherEvictor kube-system/descheduler-1: descheduler is at work here",
        "       fix: end it",
    ]


def test_what_blocks_comes_first_and_is_exit_1(shell: Shell, found: list[Any]) -> None:
    """Under any form."""
    found += [NOTE, BLOCK]
    answer = shell("doctor")
    assert answer.code == 1
    assert answer.out.startswith(
        "1 finding must be mended first; 1 other to know of\n\nblocks Rights see the cluster: "
    )
    answer = shell("doctor", "-o", "json")
    assert answer.code == 1
    document = json.loads(answer.out)
    assert document["kind"] == "Diagnosis"
    assert [(item["rule"], item["blocks"]) for item in document["findings"]] == [
        ("Rights", True),
        ("OtherEvictor", False),
    ]
    assert set(document["findings"][0]) == {"rule", "object", "message", "fix", "blocks"}


def test_a_cluster_without_findings_is_told_so(shell: Shell, found: list[Any]) -> None:
    """In words, and as an empty list."""
    assert found == []
    assert shell("doctor").out == "Nothing was found that would keep it from working.\n"
    assert json.loads(shell("doctor", "-o", "json").out)["findings"] == []


def test_a_cluster_that_is_not_there_is_a_failure(shell: Shell, found: list[Any]) -> None:
    """As for every other command."""
    found.append(ClusterError("https://gone: no answer"))
    answer = shell("doctor")
    assert (answer.code, answer.out, answer.err) == (1, "", "error: https://gone: no answer\n")


@pytest.mark.parametrize(
    "arguments", [("-o", "html"), ("-o", "wide"), ("--policy", "no-such-policy"), ("-f", "x.json")]
)
def test_wrong_use_is_told_before_anything_is_asked(shell: Shell, found: list[Any], arguments: tuple[str, ...]) -> None:
    """A recording has no rights to ask for."""
    found.append(ClusterError("asked"))
    answer = shell("doctor", *arguments)
    assert (answer.code, answer.out) == (2, "")


def test_check_asks_a_cluster_only_where_one_is_named(shell: Shell, found: list[Any], tmp_path: Path) -> None:
    """Then what it lacks for the policy follows what the policy does, and what blocks is exit 1."""
    found.append(BLOCK)
    file = tmp_path / "policy.yaml"
    file.write_text("apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\nmetadata: {name: p}\n")
    answer = shell("check", str(file))
    assert (answer.code, "On that cluster:" in answer.out) == (0, False)
    answer = shell("check", str(file), "--context", "here")
    assert answer.code == 1
    assert "On that cluster:\n1 finding must be mended first\n\nblocks Rights" in answer.out
    found[:] = [NOTE]
    assert shell("check", str(file), "--kubeconfig", "there").code == 0


def test_check_asks_no_cluster_on_behalf_of_a_schedulers_file(shell: Shell, found: list[Any], tmp_path: Path) -> None:
    """Whether it lacks something depends on what a policy wants."""
    file = tmp_path / "scheduler.yaml"
    file.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    answer = shell("check", str(file), "--context", "here")
    assert answer.code == 2
    assert "on behalf of a ReschedulerPolicy" in answer.err
    assert found == []
