"""Local processes: each task is handed on once, deaths are survived, faults stay faults."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rescheduler.batch.engine.local_processes import LocalProcesses
from tests.unit.batch.engine.working import deadly, doubled, faulty, hungry


def test_every_task_is_handed_on_once() -> None:
    """However many processes do them."""
    tasks = {str(number): str(number).encode() for number in range(40)}
    done = list(LocalProcesses(2).run(doubled, tasks))
    assert Counter(one.key for one in done) == Counter(list(tasks))
    assert all(one.result == tasks[one.key] * 2 for one in done)


def test_a_fault_is_not_tried_again(tmp_path: Path) -> None:
    """It would be the same; its text is the failure."""
    notes = tmp_path / "notes"
    notes.touch()
    tasks = {name: f"{name}@{notes}".encode() for name in ("good", "bad")}
    done = {one.key: one for one in LocalProcesses(1).run(faulty, tasks)}
    assert (done["bad"].result, done["bad"].failure) == (None, "it was bad")
    assert done["good"].result == b"good"
    assert Counter(notes.read_text().split()) == {"good": 1, "bad": 1}


def test_a_task_that_kills_its_process_is_given_up_and_the_others_are_done(tmp_path: Path) -> None:
    """It alone is counted: after three more tries it is a failure."""
    notes = tmp_path / "notes"
    notes.touch()
    names = ["a", "deadly", "b", "c"]
    done = {one.key: one for one in LocalProcesses(2).run(deadly, {name: f"{name}@{notes}".encode() for name in names})}
    assert done["deadly"].result is None
    assert "died 4 times" in done["deadly"].failure
    assert all(done[name].result == name.encode() for name in ("a", "b", "c"))
    assert Counter(notes.read_text().split())["deadly"] == 5  # once beside others, of which nobody knew who it was


def test_a_process_keeps_within_its_limit_of_memory() -> None:
    """A task that wants more fails with that, and the next is done."""
    done = {one.key: one for one in LocalProcesses(1, 2 * 2**30).run(hungry, {"much": b"4000", "little": b"1"})}
    assert "MemoryError" in done["much"].failure
    assert done["little"].result == str(2**20).encode()
