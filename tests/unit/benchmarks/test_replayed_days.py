"""Two compressed days beside their replay: the history, how waits are told apart, and when forecasts are off."""

from __future__ import annotations

import pytest

from benchmarks.replayed_days.__main__ import policy_text
from benchmarks.replayed_days.comparison import Sums, apart, broken, foretold_sums, mean_of, played_sums, together
from benchmarks.replayed_days.history import random_history
from benchmarks.replayed_days.playing import PlayedHistory, PlayedStep
from benchmarks.replayed_days.waits import Look, Waits, waits
from rescheduler.daemon.plugins import parse_policy
from rescheduler.policy.fields.policy import API_VERSION


def test_a_history_is_the_same_for_the_same_numbers_and_asks_for_less_than_there_is() -> None:
    """Services stay all the time; batches and pods as large as a node come and go."""
    history = random_history(1, 100, 48)
    assert history == random_history(1, 100, 48) != random_history(2, 100, 48)
    room = 1000 * sum(history.nodes.values())
    for wanted in history.steps:
        asked = sum(count * history.workloads[name].millicores for name, count in wanted.items())
        assert 0.4 * room < asked < room
    always = set.intersection(*map(set, history.steps))
    assert always == {name for name in history.workloads if name.startswith("service")}
    assert {name.partition("-")[0] for name in history.workloads} == {"service", "batch", "large"}
    assert random_history(1, 100, 48, 2).steps == history.steps[::2]


def test_the_policy_is_one() -> None:
    """Its durations are of steps, the shortest that there may be among them."""
    policy = parse_policy(f"apiVersion: {API_VERSION}\nkind: ReschedulerPolicy\n{policy_text(60.0)}")
    assert policy.scope.minimum_age == 42.0
    assert policy.disruption.budgets[0].rate is not None


def test_a_wait_that_ends_within_its_step_is_no_pending_minute() -> None:
    """A replay counts who waits at the end of a step, for all of it; the last look counts until the step's end."""
    a, b = frozenset("a"), frozenset("b")
    looks = [Look(0.0, a | b), Look(15.0, a), Look(45.0, a), Look(60.0, a), Look(70.0, frozenset()), Look(120.0, b)]
    found = waits(looks, [0.0, 60.0, 120.0])
    assert found == Waits(in_all=(2 * 15 + 45 + 10) / 60, whole_steps=1.0, ended=2)
    assert found.latency_seconds == pytest.approx((30 + 45 + 10 - 60) / 2)


def test_forecasts_are_compared_by_their_sums() -> None:
    """Of evictions and nodes to 5 %, of waits to 15 %."""
    steps = [PlayedStep(60, 20, 10, 3, 2, 1.0, 2.0), PlayedStep(40, 12, 2, 0, 0, 1.0, 2.0)]
    played = played_sums(PlayedHistory(steps, Waits(50.0, 40.0, 7), 60.0))
    assert played == Sums(100, 20, 6.0, 40.0)
    rows = [{"evictions": 95, "nodesEmptied": 21, "nodesInUse": 6, "pendingMinutes": 46.0}]
    assert apart(foretold_sums(rows), played) == {"evictions": -0.05, "nodes emptied": 0.05, "pending minutes": 0.15}
    assert broken(foretold_sums(rows), played) == []
    [told] = broken(foretold_sums([{**rows[0], "pendingMinutes": 47.0}]), played)
    assert told == "pending minutes: foretold 47, played 40: +17.5% is more than 15%"
    assert broken(Sums(1, 0, 0.0, 0.0), Sums(0, 0, 0.0, 0.0)) != []


def test_draws_are_taken_in_the_mean_and_histories_together() -> None:
    """Whoever is foretold 39, 49 and 48 is foretold 45.33; nodes in use stay a mean."""
    draws = [Sums(145, 39, 98.0, 46.0), Sums(151, 49, 97.0, 44.0), Sums(146, 48, 96.0, 54.0)]
    one = mean_of(draws)
    assert one == Sums(147.33, 45.33, 97.0, 48.0)
    assert together([one, Sums(138, 41, 99.0, 56.0)]) == Sums(285.33, 86.33, 98.0, 104.0)
