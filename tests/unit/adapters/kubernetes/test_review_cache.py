"""Answers of the cluster about tokens and rights, kept for a short time."""

from __future__ import annotations

import pytest

from rescheduler.adapters.kubernetes.review_cache import MOST_KEPT, NO_SECONDS, YES_SECONDS, ReviewCache
from rescheduler.extension_points import ClusterError
from rescheduler.simulation.clock import SimulatedClock


class Asked:
    """Counts how often the cluster was asked."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.times = 0

    def __call__(self) -> object:
        """One question."""
        self.times += 1
        return self.answer


@pytest.mark.parametrize(("answer", "seconds"), [("jane", YES_SECONDS), (True, YES_SECONDS), (None, NO_SECONDS)])
def test_an_answer_is_kept_and_then_asked_for_anew(answer: object, seconds: float) -> None:
    """A yes for a minute at most, a no for ten seconds."""
    clock, asked = SimulatedClock(), Asked(answer)
    cache: ReviewCache[object] = ReviewCache(clock)
    assert (YES_SECONDS, NO_SECONDS) == (60.0, 10.0)
    assert cache.get("k", asked) == answer
    clock.sleep(seconds - 0.1)
    assert (cache.get("k", asked), asked.times) == (answer, 1)
    clock.sleep(0.1)
    assert (cache.get("k", asked), asked.times) == (answer, 2)


def test_the_time_runs_from_the_question_not_from_the_answer() -> None:
    """A slow answer is not kept for longer."""
    clock, asked = SimulatedClock(), Asked("jane")
    cache: ReviewCache[object] = ReviewCache(clock)

    def slow() -> object:
        clock.sleep(59)
        return "jane"

    cache.get("k", slow)
    clock.sleep(1)
    cache.get("k", asked)
    assert asked.times == 1


def test_a_failure_is_not_kept() -> None:
    """The next request asks again."""
    cache: ReviewCache[object] = ReviewCache(SimulatedClock())

    def fail() -> object:
        raise ClusterError("away")

    with pytest.raises(ClusterError):
        cache.get("k", fail)
    assert cache.get("k", Asked("jane")) == "jane"


def test_keys_are_kept_apart_and_not_without_end() -> None:
    """The oldest are forgotten: strangers cannot fill our memory."""
    cache: ReviewCache[object] = ReviewCache(SimulatedClock())
    for number in range(MOST_KEPT + 1):
        cache.get(number, lambda number=number: number or "zero")  # type: ignore[misc]
    newest, oldest = Asked("other"), Asked("other")
    assert cache.get(MOST_KEPT, newest) == MOST_KEPT
    cache.get(0, oldest)
    assert (newest.times, oldest.times) == (0, 1)
