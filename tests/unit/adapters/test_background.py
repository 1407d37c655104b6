"""Work in a thread of its own: begun, told to end, waited for."""

from __future__ import annotations

from threading import Event

from rescheduler.adapters.background import BackgroundThread


def test_work_goes_on_until_it_is_told_to_end() -> None:
    """Waiting for it before says that it still runs."""

    def work() -> None:
        thread.stopping.wait()

    thread = BackgroundThread(work, "work")
    thread.start()
    assert thread.is_running
    assert not thread.join(0.0)
    thread.stop()
    assert thread.join(30.0)
    assert not thread.is_running


def test_work_that_was_never_begun_need_not_be_waited_for() -> None:
    """What is taken down before it was started is taken down like all else."""
    thread = BackgroundThread(lambda: None, "work")
    thread.stop()
    assert thread.join(30.0)


def test_work_may_end_by_itself() -> None:
    """Nobody has to tell it."""
    done = Event()
    thread = BackgroundThread(done.set, "work")
    thread.start()
    assert thread.join(30.0)
    assert done.is_set()
