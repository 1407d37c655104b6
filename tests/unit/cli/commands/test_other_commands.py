"""``simulate``, ``snapshot``, ``clean`` and ``check``, at the seams."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rescheduler.model.plan.plan import OutcomeKind
from tests.unit.cli.conftest import Answer, World
from tests.unit.policy.policies import HEAD
from tests.unit.report.plans import small_result

Shell = Callable[..., Answer]


def test_simulate_prints_what_became_of_the_plan(world: World, shell: Shell) -> None:
    """One cycle prints a PlanResult, several a list."""
    one = json.loads(shell("simulate", "-f", "x", "-o", "json").out)
    several = json.loads(shell("simulate", "-f", "x", "-o", "json", "--cycles", "3").out)
    assert (one["kind"], several["kind"], len(several["items"])) == ("PlanResult", "PlanResultList", 3)
    assert several["items"][0] == one
    assert "Cycle 3" in shell("simulate", "-f", "x", "--cycles", "3").out
    assert "Landed" in shell("simulate", "-f", "x", "-o", "html").out


def test_simulate_fails_if_the_plan_did_not_work(world: World, shell: Shell) -> None:
    """A plan that does not hold in the simulator is a failure; one that holds is 0, or 3 when asked."""
    assert (shell("simulate").code, shell("simulate", "--exit-code").code) == (0, 3)
    world.result = small_result(OutcomeKind.NOT_ATTEMPTED)
    assert shell("simulate", "--exit-code").code == 1


@pytest.mark.parametrize("arguments", [["--cycles", "0"], ["--cycles", "x"], ["--cycles", "2", "-o", "html"]])
def test_simulate_refuses_what_it_cannot_do(world: World, shell: Shell, arguments: list[str]) -> None:
    """No cycles at all; several on one page."""
    assert (shell("simulate", *arguments).code, world.calls) == (2, {})


def test_snapshot_records_where_it_is_told(world: World, shell: Shell, tmp_path: Path) -> None:
    """File and anonymity are handed on; what was recorded is said on standard error."""
    answer = shell("snapshot", "-o", str(tmp_path / "x.json"), "--anonymize", "--context", "c")
    assert (answer.code, answer.out, answer.err) == (0, "", "recorded 2 nodes and 4 pods\n")
    call = world.calls["record"]
    assert (call["file"], call["anonymize"], call["options"].context) == (str(tmp_path / "x.json"), True, "c")


def test_snapshot_never_writes_over_a_file_unasked(world: World, shell: Shell, tmp_path: Path) -> None:
    """An existing file, a folder and a missing folder are found before the cluster is read."""
    existing = tmp_path / "x.json"
    existing.write_text("mine")
    for target in (existing, tmp_path, tmp_path / "missing" / "x.json"):
        answer = shell("snapshot", "-o", str(target))
        assert (answer.code, world.calls) == (2, {})
        assert str(target) in answer.err
    assert shell("snapshot", "-o", str(existing), "--force").code == 0


def test_clean_asks_and_removes(world: World, shell: Shell) -> None:
    """Names what it found, removes after a yes, and says what it removed."""
    world.left_behind = ("Job holds/a", "Job holds/b")
    answer = shell("clean", typed="y\n")
    assert (answer.code, answer.out) == (0, "removed Job holds/a\nremoved Job holds/b\n")
    assert "Remove 2 leftovers? [y/N]" in answer.err
    refused = shell("clean", typed="n\n")
    assert (refused.code, refused.out) == (1, "")
    assert shell("clean", "--yes").out == answer.out


def test_clean_off_a_terminal_needs_yes(world: World, shell: Shell) -> None:
    """As apply does; with nothing left behind it says so."""
    assert (shell("clean").code, world.calls) == (2, {})
    assert shell("clean", "--yes") == Answer(0, "nothing was left behind\n", "")


def test_clean_stale_asks_nobody(world: World, shell: Shell) -> None:
    """Fit for a CronJob: no terminal, no --yes; what could not be removed is told, and is a failure."""
    assert shell("clean", "--stale") == Answer(0, "nothing was left behind\n", "")
    world.left_behind = ("Job holds/a",)
    assert shell("clean", "--stale") == Answer(0, "removed Job holds/a\n", "")
    world.not_removed = ("Job holds/b could not be removed: forbidden",)
    answer = shell("clean", "--stale")
    assert (answer.code, answer.out) == (1, "removed Job holds/a\n")
    assert "Job holds/b could not be removed" in answer.err
    world.left_behind = ()
    assert shell("clean", "--stale").out == ""
    assert "clean" not in world.calls


def test_check_tells_what_a_policy_does(shell: Shell, tmp_path: Path) -> None:
    """Valid policies in sentences; of two, what they do together."""
    (tmp_path / "a.yaml").write_text(HEAD + "metadata: {name: mine}\nlimits: {maxEvictions: 5}\n")
    (tmp_path / "b.yaml").write_text(HEAD + "guidance: Predict\n")
    answer = shell("check", str(tmp_path / "a.yaml"))
    assert (answer.code, answer.err) == (0, "")
    assert "a.yaml is valid. Policy mine:" in answer.out
    assert "at most 5 evictions" in answer.out
    both = shell("check", str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")).out
    assert "at most 5 evictions" in both
    assert "(Predict)" in both


def test_check_tells_first_what_the_mode_may_do_and_then_each_number(shell: Shell, tmp_path: Path) -> None:
    """With the place that it comes from; and what binds now where the policy says nothing."""
    path = tmp_path / "a.yaml"
    path.write_text(HEAD + "limits: {maxEvictions: 5}\ndisruption: {rates: {perDay: unlimited}}\n")
    lines = shell("check", str(path)).out.splitlines()
    assert lines[0] == "DryRun: evicts nothing"
    text = "".join(lines)
    assert f"limits.maxEvictions: 5 ({path}:3)" in text
    assert f"disruption.rates.perDay: unlimited ({path}:4)" in text
    assert "disruption.rates.perHour: 20 (default)" in text
    newly = text.partition("where a policy says nothing (docs/upgrading.md):")[2]
    assert "disruption.rates.perHour: at most 20 evictions an hour; write unlimited for none" in newly
    assert "perDay" not in newly


def test_check_names_every_problem(shell: Shell, tmp_path: Path) -> None:
    """Wrong use, file, line and column; files that are missing as well."""
    (tmp_path / "a.yaml").write_text(HEAD + "x: 1\ny: 2\n")
    answer = shell("check", str(tmp_path / "a.yaml"))
    assert (answer.code, answer.out) == (2, "")
    assert [line.split(":")[1] for line in answer.err.splitlines()] == ["3", "4"]
    assert "No such file" in shell("check", str(tmp_path / "missing.yaml")).err
    assert shell("check").code == 2
