"""``apply``: shows, asks, and acts only after a yes, on a live cluster alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rescheduler.extension_points import ClusterError, ExecutionInterruptedError
from rescheduler.model.plan.move_change import MoveChange, MoveState
from rescheduler.model.plan.plan import OutcomeKind
from rescheduler.report.documents import to_json, to_yaml
from tests.unit.cli.conftest import Answer, World
from tests.unit.report.exchanges import exchange_plan
from tests.unit.report.plans import small_plan, small_result

Shell = Callable[..., Answer]


def test_off_a_terminal_nothing_is_done_without_yes(world: World, shell: Shell) -> None:
    """Wrong use, before the cluster is even read."""
    answer = shell("apply")
    assert (answer.code, answer.out, world.calls) == (2, "", {})
    assert "repeat with --yes" in answer.err


def test_a_recording_cannot_be_acted_on(world: World, shell: Shell) -> None:
    """-f is refused even with --yes; simulate is named as the way."""
    answer = shell("apply", "--yes", "-f", "x.json")
    assert (answer.code, world.calls) == (2, {})
    assert "simulate" in answer.err


def test_with_yes_the_result_is_printed(world: World, shell: Shell) -> None:
    """Data to standard output, exit 0."""
    answer = shell("apply", "--yes", "-o", "json")
    assert (answer.code, answer.out, answer.err) == (0, to_json(world.result), "")
    assert world.calls["apply"]["timeout_seconds"] == 600.0
    assert json.loads(answer.out)["kind"] == "PlanResult"


def _change(world: World, state: MoveState, **fields: Any) -> MoveChange:
    move = world.plan.moves[0]
    return MoveChange("2026-11-24T08:00:00.000Z", move.pod, state, move.from_node, move.to_node, **fields)


def test_events_are_one_json_object_a_line(world: World, shell: Shell) -> None:
    """Nothing else comes to standard output; the report for people goes to standard error."""
    move = world.plan.moves[0]
    world.changes = (_change(world, MoveState.PLANNED), _change(world, MoveState.SETTLED, node=move.to_node))
    answer = shell("apply", "--yes", "--events")
    first, last = (json.loads(line) for line in answer.out.splitlines())
    pod = {"namespace": move.pod.namespace, "name": move.pod.name, "uid": move.pod.uid}
    assert first == {
        "time": "2026-11-24T08:00:00.000Z", "pod": pod, "state": "planned", "fromNode": move.from_node,
        "toNode": move.to_node, "node": None, "message": "",
    }  # fmt: skip
    assert (last["state"], last["node"]) == ("settled", move.to_node)
    assert "Landed" in answer.err
    assert answer.code == 0


def test_with_json_the_result_is_the_last_line_after_the_events(world: World, shell: Shell) -> None:
    """The same document as without events."""
    world.changes = (_change(world, MoveState.DROPPED, message="the gate says no"),)
    answer = shell("apply", "--yes", "--events", "-o", "json")
    first, last = (json.loads(line) for line in answer.out.splitlines())
    assert (first["state"], first["message"]) == ("dropped", "the gate says no")
    assert last == json.loads(to_json(world.result))
    assert answer.err == ""


@pytest.mark.parametrize("output", ["yaml", "html"])
def test_events_and_another_form_do_not_go_together(world: World, shell: Shell, output: str) -> None:
    """Wrong use, before anything is read."""
    answer = shell("apply", "--yes", "--events", "-o", output)
    assert (answer.code, answer.out, world.calls) == (2, "", {})
    assert f"-o {output}" in answer.err


def test_off_a_terminal_moves_are_told_in_lines(world: World, shell: Shell) -> None:
    """When a pod leaves and when its move has come to rest; with -o json nothing is told."""
    move = world.plan.moves[0]
    world.changes = tuple(_change(world, state) for state in (MoveState.PLANNED, MoveState.EVICTED, MoveState.BOUND))
    world.changes += (_change(world, MoveState.SETTLED, node="elsewhere"),)
    answer = shell("apply", "--yes")
    told = [line for line in answer.err.splitlines() if move.pod.key in line]
    assert told == [
        f"evicted   {move.pod.key} from {move.from_node} to {move.to_node}",
        f"settled   {move.pod.key} from {move.from_node} to {move.to_node}, landed on elsewhere",
    ]
    assert move.pod.key not in shell("apply", "--yes", "-o", "json").err


@pytest.mark.parametrize("typed", ["y\n", "yes\n", "Y\n"])
def test_on_a_terminal_a_yes_carries_out(world: World, shell: Shell, typed: str) -> None:
    """The plan is shown on standard error before the question."""
    answer = shell("apply", typed=typed)
    assert (answer.code, world.was_applied) == (0, True)
    assert answer.err.index("makes room for default/big-1") < answer.err.index("Evict 1 pod as shown? [y/N]")
    assert "Landed" in answer.out


@pytest.mark.parametrize("typed", ["n\n", "\n", "", "yep\n"])
def test_anything_else_does_nothing(world: World, shell: Shell, typed: str) -> None:
    """No, nothing, and the end of input are all a no."""
    answer = shell("apply", typed=typed)
    assert (answer.code, answer.out, world.was_applied) == (1, "", False)
    assert "nothing was done" in answer.err


def test_an_empty_plan_needs_no_question(world: World, shell: Shell) -> None:
    """With nothing to move nobody is asked."""
    world.plan = small_plan(moves=(), placements=())
    assert "[y/N]" not in shell("apply", typed="").err
    assert world.was_applied


@pytest.mark.parametrize(
    ("outcome", "code"), [(OutcomeKind.LANDED_ELSEWHERE, 0), (OutcomeKind.REFUSED, 1), (OutcomeKind.UNKNOWN, 1)]
)
def test_the_exit_code_is_that_of_the_outcomes(world: World, shell: Shell, outcome: OutcomeKind, code: int) -> None:
    """Elsewhere is no harm; a plan that stopped says why."""
    world.result = small_result(outcome, "stopped: PodDisruptionBudget default/web")
    answer = shell("apply", "--yes", "-o", "json")
    assert answer.code == code
    assert ("error: stopped: PodDisruptionBudget default/web" in answer.err) is (code == 1)


def test_exit_code_3_only_after_success(world: World, shell: Shell) -> None:
    """--exit-code does not hide a failure."""
    assert shell("apply", "--yes", "--exit-code").code == 3
    world.result = small_result(OutcomeKind.REFUSED)
    assert shell("apply", "--yes", "--exit-code").code == 1


@pytest.mark.parametrize("write", [to_json, to_yaml])
def test_a_reviewed_plan_is_carried_out_as_it_is(
    world: World, shell: Shell, tmp_path: Path, write: Callable[..., str]
) -> None:
    """Its moves are handed on, and shown before the question."""
    file = tmp_path / "plan"
    file.write_text(write(small_plan()))
    assert shell("apply", "--plan", str(file), "--timeout", "90s", typed="y\n").code == 0
    assert world.calls["apply"]["reviewed"] == small_plan()
    assert world.calls["apply"]["timeout_seconds"] == 90.0


def test_a_broken_plan_file_fails_before_anything_is_done(world: World, shell: Shell, tmp_path: Path) -> None:
    """Exit 1 with file and field; the cluster is not touched."""
    (tmp_path / "plan.json").write_text(to_json(small_plan()).replace('"wave": 1', '"wave": 0'))
    answer = shell("apply", "--yes", "--plan", str(tmp_path / "plan.json"))
    assert (answer.code, answer.out, world.calls) == (1, "", {})
    assert "plan.json: moves[0].wave: found 0; wanted 1 or more" in answer.err


def kept(monkeypatch: pytest.MonkeyPatch, *, is_begun: bool) -> None:
    """This machine keeps the small plan as number 7, and has begun it or not."""
    plans = {7: lambda: to_json(small_plan()).encode()}
    monkeypatch.setattr("rescheduler.composition.live.history.kept_plans", lambda _: plans)
    monkeypatch.setattr("rescheduler.composition.live.history.was_begun", lambda *_: is_begun)


@pytest.mark.parametrize("by_number", [True, False])
def test_an_interrupted_plan_is_gone_on_with(
    world: World, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_number: bool
) -> None:
    """By its number in history, or its file: its moves and no others."""
    kept(monkeypatch, is_begun=True)
    file = tmp_path / "plan.json"
    file.write_text(to_json(small_plan()))
    assert shell("apply", "--yes", "--resume", "7" if by_number else str(file)).code == 0
    assert world.calls["apply"]["reviewed"] == small_plan()


@pytest.mark.parametrize("by_number", [True, False])
def test_a_plan_of_which_nothing_was_begun_is_not_gone_on_with(
    world: World, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_number: bool
) -> None:
    """Exit 1; it names what would begin it."""
    kept(monkeypatch, is_begun=False)
    file = tmp_path / "plan.json"
    file.write_text(to_json(small_plan()))
    answer = shell("apply", "--yes", "--resume", "7" if by_number else str(file))
    assert (answer.code, answer.out, world.calls) == (1, "", {})
    assert "nothing of this plan was begun" in answer.err


def test_a_number_that_is_not_kept_names_those_that_are(
    world: World, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 1; a file would serve as well."""
    kept(monkeypatch, is_begun=True)
    answer = shell("apply", "--yes", "--resume", "8")
    assert (answer.code, world.calls) == (1, {})
    assert "plan 8: not among the plans of this cluster that this machine keeps (it has 7); give the" in answer.err


@pytest.mark.parametrize(("guidance", "code"), [("Hold", 2), ("Predict", 2), ("Guide", 0)])
def test_pods_leave_before_they_arrive_with_guide_only(
    world: World, shell: Shell, tmp_path: Path, guidance: str, code: int
) -> None:
    """With other guidance such a plan is wrong use, named, before anything is read."""
    (tmp_path / "plan.json").write_text(to_json(exchange_plan()))
    (tmp_path / "policy.yaml").write_text(
        f"apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\nguidance: {guidance}\n"
    )
    files = ("--plan", str(tmp_path / "plan.json"), "--policy", str(tmp_path / "policy.yaml"))
    answer = shell("apply", "--yes", *files)
    assert answer.code == code
    assert ("apply" in world.calls) is (code == 0)
    if code:
        assert "plan.json: the pods of wave 2 leave before they arrive (evictFirst)" in answer.err
        assert f"the policy has guidance: {guidance}" in answer.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--timeout", "0"],
        ["--timeout", "-1s"],
        ["--plan", "x", "--objective", "MakeRoom"],
        ["--resume", "7", "--objective", "MakeRoom"],
        ["--resume", "7", "--plan", "x"],
        ["--resume", "7", "--plan", ""],
    ],
)
def test_wrong_use_does_nothing(world: World, shell: Shell, arguments: list[str]) -> None:
    """No time at all, and contradictions, are wrong use."""
    assert (shell("apply", "--yes", *arguments).code, world.calls) == (2, {})


def test_a_cluster_that_fails_is_a_failure(world: World, shell: Shell) -> None:
    """Exit 1 and one paragraph."""
    world.error = ClusterError("https://x:6443: connection refused")
    assert shell("apply", "--yes") == Answer(1, "", "error: https://x:6443: connection refused\n")


def test_an_interruption_is_130(world: World, shell: Shell) -> None:
    """Ctrl-C leaves no traceback."""
    world.error = KeyboardInterrupt()
    assert shell("apply", "--yes") == Answer(130, "", "interrupted\n")


def test_an_interrupted_plan_tells_how_far_it_came(world: World, shell: Shell) -> None:
    """The result so far is data as ever, and the exit code is 130."""
    world.error = ExecutionInterruptedError("interrupted", small_result(OutcomeKind.UNKNOWN))
    answer = shell("apply", "--yes", "-o", "json")
    assert (answer.code, answer.err) == (130, "interrupted\n")
    assert json.loads(answer.out)["moves"][0]["outcome"] == "Unknown"
