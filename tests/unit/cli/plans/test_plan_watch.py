"""``plan --watch``: a plan for each state of the cluster, until somebody has seen enough."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rescheduler.cli.plans.repeating import repeated
from rescheduler.composition.changes import LONGEST_SECONDS, QUIET_SECONDS, ClusterChanges, changes_of
from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.extension_points import Clock, ReschedulerError
from tests.paths import EXAMPLES

SMALL = EXAMPLES / "small.json"


class Ended(BaseException):
    """Somebody pressed Ctrl-C."""


class StepClock(Clock):
    """Sleeping is a step; ``at`` does something at a time."""

    def __init__(self, at: dict[float, Callable[[], None]], end: float = 100.0) -> None:
        self.time, self._at, self._end = 0.0, dict(at), end

    def now(self) -> float:
        """The same as ``monotonic``."""
        return self.time

    def monotonic(self) -> float:
        """How long was slept."""
        return self.time

    def sleep(self, seconds: float) -> None:
        """On to the next step."""
        self.time += seconds
        for time in [time for time in self._at if time <= self.time]:
            self._at.pop(time)()
        if self.time > self._end:
            raise Ended


def test_a_change_is_waited_for_and_then_a_moment_of_quiet() -> None:
    """Changes that follow one another are one."""
    state = [0]
    clock = StepClock({time: lambda: state.append(len(state)) for time in (10.0, 11.0, 12.0)})
    changes = ClusterChanges(lambda: len(state), clock)
    changes.look()
    changes.wait()
    assert len(state) == 4
    assert clock.time == pytest.approx(12.0 + QUIET_SECONDS, abs=1.0)
    changes.look()
    with pytest.raises(Ended):
        changes.wait()


def test_what_is_never_quiet_is_planned_for_all_the_same() -> None:
    """After a while."""
    clock = StepClock({})
    ClusterChanges(lambda: int(clock.time * 2), clock).wait()
    assert clock.time == pytest.approx(LONGEST_SECONDS, abs=1.5)


def test_a_file_that_is_replaced_written_or_removed_has_changed(tmp_path: Path) -> None:
    """A recording as well as a policy."""
    recording, policy = tmp_path / "cluster.json", tmp_path / "policy.yaml"
    recording.write_text("a")
    policy.write_text("a")
    with changes_of(ClusterOptions(filenames=(str(recording),)), [str(policy)], clock := StepClock({})) as changes:
        for act in (
            lambda: recording.write_text("longer"),
            lambda: policy.write_text("longer"),
            policy.unlink,
            lambda: policy.write_text("longer"),
            lambda: (tmp_path / "new").write_text("longer") and (tmp_path / "new").replace(recording),
        ):
            changes.look()
            act()
            changes.wait()
    assert clock.time < 50


def test_an_error_ends_the_command_at_first_and_is_waited_out_later(capsys: pytest.CaptureFixture[str]) -> None:
    """A recording that is half written is no reason to go."""
    answers: list[Any] = [None, ReschedulerError("half written"), None, Ended()]

    def once() -> None:
        answer = answers.pop(0)
        if answer is not None:
            raise answer

    ticks = iter(range(100))
    with pytest.raises(Ended):
        repeated(once, ClusterChanges(lambda: next(ticks) // 2, StepClock({}, end=1000)))
    assert "error: half written" in capsys.readouterr().err
    with pytest.raises(ReschedulerError):
        repeated(lambda: (_ for _ in ()).throw(ReschedulerError("no file")), ClusterChanges(lambda: 0, StepClock({})))


@pytest.mark.parametrize("more", [("--exit-code",), ("-f", "-")])
def test_what_does_not_go_with_it_is_refused(shell: Callable[..., Any], more: tuple[str, ...]) -> None:
    """Before anything is read."""
    answer = shell("plan", "--watch", *more)
    assert answer.code == 2
    assert "--watch does not go with" in answer.err


def test_each_state_of_a_recording_gets_its_plan_and_ctrl_c_ends(tmp_path: Path) -> None:
    """Documents of JSON, one after another."""
    recording = tmp_path / "cluster.json"
    recording.write_bytes(SMALL.read_bytes())
    with subprocess.Popen(
        [sys.executable, "-m", "rescheduler", "plan", "--watch", "-o", "json", "-f", str(recording)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        first = document(process.stdout)
        (tmp_path / "new").write_bytes((EXAMPLES / "infeasible.json").read_bytes())
        (tmp_path / "new").replace(recording)
        second = document(process.stdout)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    assert [plan["objectives"][0]["status"] for plan in (first, second)] == ["OPTIMAL", "INFEASIBLE"]


def document(lines: Any) -> Any:
    """The next whole document of a stream."""
    text = ""
    for line in lines:
        text += line
        if line == "}\n":
            return json.loads(text)
    raise AssertionError(text)
