"""``diff``: two plans beside each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rescheduler.report.documents import to_json, to_yaml
from tests.unit.cli.conftest import Answer
from tests.unit.report.plans import small_plan, small_result

Shell = Callable[..., Answer]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A plan in JSON, and one without moves in YAML."""
    one, other = tmp_path / "one.json", tmp_path / "other.yaml"
    one.write_text(to_json(small_plan()))
    other.write_text(to_yaml(small_plan(moves=(), placements=())))
    return str(one), str(other)


def test_what_differs_is_shown_and_the_exit_code_is_0(shell: Shell, files: tuple[str, str]) -> None:
    """As it is where nothing differs."""
    answer = shell("diff", *files)
    assert (answer.code, answer.err) == (0, "")
    assert "- default/web-1 from n1 to n2 in wave 1" in answer.out
    answer = shell("diff", files[0], files[0])
    assert (answer.code, answer.out) == (0, "The plans are the same.\n")


def test_scripts_read_it_as_json(shell: Shell, files: tuple[str, str]) -> None:
    """Whether they are equal, and each part's additions, removals and changes."""
    found = json.loads(shell("diff", *files, "-o", "json").out)
    assert (found["kind"], found["equal"]) == ("PlanDifference", False)
    assert [item["pod"]["name"] for item in found["moves"]["removed"]] == ["web-1"]
    assert [item["pod"]["name"] for item in found["placements"]["removed"]] == ["big-1"]
    assert found["objectives"] == {"added": [], "removed": [], "changed": []}
    assert json.loads(shell("diff", files[1], files[1], "-o", "json").out)["equal"] is True


def test_what_is_no_plan_is_refused(shell: Shell, files: tuple[str, str], tmp_path: Path) -> None:
    """A missing file, a result, and a form that there is not."""
    (tmp_path / "result.json").write_text(to_json(small_result()))
    assert "cannot be read" in shell("diff", files[0], str(tmp_path / "gone.json")).err
    answer = shell("diff", files[0], str(tmp_path / "result.json"))
    assert (answer.code, answer.out) == (1, "")
    assert "kind: found PlanResult; wanted Plan" in answer.err
    assert shell("diff", *files, "-o", "html").code == 2
    assert shell("diff", files[0]).code == 2


def test_plans_for_nodes_in_thought_are_compared(shell: Shell, tmp_path: Path) -> None:
    """They can be looked at, though nobody can carry them out."""
    recording = "docs/examples/small.json"
    (tmp_path / "now.json").write_text(shell("plan", "-f", recording, "-o", "json").out)
    (tmp_path / "then.json").write_text(shell("plan", "-f", recording, "--add-node", "like:worker-1", "-o", "json").out)
    answer = shell("diff", str(tmp_path / "now.json"), str(tmp_path / "then.json"))
    assert answer.code == 0, answer.err
    assert "Objectives: " in answer.out
