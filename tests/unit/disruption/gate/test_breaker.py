"""Tests of the circuit breaker: when it opens, its trial, and who closes it."""

from __future__ import annotations

import pytest

from rescheduler.disruption.gate.breaker import breaker_objection, is_failure, is_on_trial, judge_breaker
from rescheduler.model.daemon.ledger import Breaker, EntryState, LedgerEntry
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.daemon.safety import BreakerPolicy
from tests.builders import NOW
from tests.unit.disruption.ledgers import HOUR, MINUTE, entry, ledger

RULES = BreakerPolicy()
CLOSED = Breaker()
FAILED, OPEN, REPAID = EntryState.FAILED, EntryState.OPEN, EntryState.REPAID


def judged(
    *entries: LedgerEntry, breaker: Breaker = CLOSED, rules: BreakerPolicy = RULES, **options: object
) -> Breaker:
    """The breaker now."""
    return judge_breaker(ledger(*entries, breaker=breaker), rules, NOW, **options)  # type: ignore[arg-type]


def many(count: int, *, state: EntryState = REPAID, first: int = 1, ago: float = 2 * HOUR) -> list[LedgerEntry]:
    """Alike entries, a minute apart."""
    return [entry(first + number, ago=ago - number * MINUTE, state=state) for number in range(count)]


def test_nothing_sent_nothing_wrong() -> None:
    """It is closed to begin with, and closed evictions that went well leave it so."""
    assert judged() == Breaker()
    assert judged(*many(10)) == Breaker()


def test_two_failures_of_ten_open_it() -> None:
    """One does not; the reason counts them and names the last."""
    assert judged(*many(9), entry(10, ago=HOUR, state=FAILED)) == Breaker()
    found = judged(*many(8), entry(9, ago=HOUR, state=FAILED), entry(10, ago=HOUR, state=FAILED))
    assert (found.opened_at, found.openings, found.trial) == (NOW, 1, None)
    assert found.reason == "2 of the last 10 evictions came to nothing, default/web-10 among them"


def test_only_the_last_ten_count() -> None:
    """A failure that ten others followed is forgotten."""
    failures = many(2, state=FAILED)
    assert judged(*failures, *many(8, first=3)).opened_at == NOW
    assert judged(*failures, *many(9, first=3)).opened_at is None


def test_what_was_sent_before_it_was_closed_does_not_count() -> None:
    """``since`` is the operator's line; what was sent at that very moment counts."""
    failures = [entry(1, ago=HOUR, state=FAILED), entry(2, ago=HOUR, state=FAILED)]
    assert judged(*failures, breaker=Breaker(since=NOW - HOUR + 1)).opened_at is None
    assert judged(*failures, breaker=Breaker(since=NOW - HOUR)).opened_at == NOW


@pytest.mark.parametrize("state", [EntryState.REFUSED, EntryState.NOT_EVICTED])
def test_evictions_that_were_not_sent_do_not_count(state: EntryState) -> None:
    """Refusals say nothing about replacements."""
    assert judged(*(entry(number, ago=HOUR, state=state) for number in range(1, 6))).opened_at is None


@pytest.mark.parametrize(
    ("found", "is_one"),
    [
        (entry(ago=HOUR, state=FAILED), True),
        (entry(ago=5 * MINUTE + 30, state=OPEN), False),
        (entry(ago=5 * MINUTE + 31, state=OPEN), True),
        (entry(ago=5 * MINUTE + 31, state=EntryState.INTENDED), True),
        (entry(ago=6 * MINUTE, state=OPEN, grace_seconds=60), False),
        (entry(ago=6 * MINUTE + 1, state=OPEN, grace_seconds=60), True),
        (entry(ago=HOUR), False),
        (entry(ago=HOUR, closed_at=NOW - HOUR + 330), False),
        (entry(ago=HOUR, closed_at=NOW - HOUR + 331), True),
        (entry(ago=HOUR, closed_at=NOW, method=MoveMethod.SURGE), False),
        (entry(ago=HOUR, state=EntryState.SURGING, method=MoveMethod.SURGE), False),
        (entry(ago=HOUR, state=FAILED, method=MoveMethod.SURGE), True),
        (entry(ago=HOUR, state=EntryState.REFUSED, closed_at=NOW), False),
        (entry(ago=1.0, state=OPEN, failure="ImagePullBackOff"), True),
        (entry(ago=HOUR, failure="CrashLoopBackOff"), True),
        (entry(ago=HOUR, state=EntryState.REFUSED, failure="x"), False),
    ],
)
def test_a_replacement_has_five_minutes_and_the_grace(found: LedgerEntry, is_one: bool) -> None:
    """Late is failed, whether it still came or not; but for a surge, during which nobody is missing."""
    assert is_failure(found, RULES, NOW) is is_one


def test_one_very_late_replacement_opens_it() -> None:
    """Fifteen minutes and the grace; a single one is enough."""
    assert judged(entry(ago=15 * MINUTE + 30, state=OPEN)).opened_at is None
    found = judged(entry(ago=16 * MINUTE, state=OPEN))
    assert found.opened_at == NOW
    assert found.reason == "default/web-1 has not been replaced for 16m"
    assert judged(entry(ago=16 * MINUTE, state=REPAID, closed_at=NOW - HOUR)).opened_at is None


def test_a_workload_that_we_left_without_a_ready_pod_opens_it() -> None:
    """Unless it had but one when the eviction was announced: that the policy allowed."""
    debt = entry(ago=10, state=OPEN)
    assert judged(debt).opened_at is None
    assert judged(debt, bereft={"uid-default-other"}).opened_at is None
    found = judged(debt, bereft={"uid-default-web"})
    assert (found.opened_at, found.reason) == (NOW, "ReplicaSet default/web has no ready pod left")
    assert judged(entry(ago=10, state=OPEN, workload_key=""), bereft={"uid-default-web"}).reason.startswith("default/")
    assert judged(entry(ago=10, state=OPEN, ready=1), bereft={"uid-default-web"}).opened_at is None
    assert judged(entry(ago=10, state=OPEN, ready=2), bereft={"uid-default-web"}).opened_at == NOW
    assert judged(entry(ago=10), bereft={"uid-default-web"}).opened_at is None


def test_it_can_be_switched_off() -> None:
    """failures: 0; what an operator forgave stays forgiven for when it is switched on again."""
    off = BreakerPolicy(failures=0)
    assert judged(*many(10, state=FAILED), rules=off) == Breaker()
    assert judged(breaker=Breaker(opened_at=NOW - 1, openings=2, since=5.0), rules=off) == Breaker(since=5.0)


def opened(ago: float = 2 * HOUR, **fields: object) -> Breaker:
    """A breaker that opened a while ago."""
    return Breaker(**{"opened_at": NOW - ago, "openings": 1, "reason": "because", **fields})  # type: ignore[arg-type]


class TestTrial:
    """After an hour one eviction is tried."""

    def test_it_stays_open_without_a_trial(self) -> None:
        """Neither time nor earlier evictions close it."""
        assert judged(*many(10, ago=5 * HOUR), breaker=opened()) == opened()
        assert judged(entry(ago=2 * HOUR), breaker=opened()) == opened()

    def test_the_first_eviction_since_is_the_trial(self) -> None:
        """It is remembered by its number, while its outcome is open."""
        found = judged(entry(7, ago=60, state=OPEN), entry(8, ago=30), breaker=opened())
        assert found == opened(trial=7)

    def test_a_refused_trial_is_none(self) -> None:
        """Another may be tried."""
        refused = entry(7, ago=60, state=EntryState.REFUSED)
        assert judged(refused, breaker=opened(trial=7)) == opened()
        assert judged(refused, entry(8, ago=30, state=OPEN), breaker=opened(trial=7)) == opened(trial=8)

    def test_a_repaid_trial_closes_it(self) -> None:
        """What was sent before is not looked at again; that it opened once is remembered."""
        failures = many(5, state=FAILED, ago=10 * HOUR)
        found = judged(*failures, entry(7, ago=60), breaker=opened(trial=7))
        assert found == Breaker(openings=1, since=NOW - 60)
        assert judged(*failures, entry(7, ago=60), breaker=found) == found

    @pytest.mark.parametrize("trial", [entry(7, ago=60, state=FAILED), entry(7, ago=HOUR, state=OPEN)])
    def test_a_failed_trial_opens_it_for_good(self, trial: LedgerEntry) -> None:
        """Then neither time nor another eviction helps."""
        found = judged(trial, breaker=opened(trial=7))
        assert (found.opened_at, found.openings, found.trial) == (NOW, 2, None)
        assert found.reason == "the trial eviction of default/web-7 came to nothing"
        later = judge_breaker(ledger(trial, entry(8, ago=-5), breaker=found), RULES, NOW + 10 * HOUR)
        assert later == found

    def test_it_opens_for_good_the_second_time(self) -> None:
        """Even if a trial went well in between."""
        found = judged(*many(2, state=FAILED), breaker=Breaker(openings=1))
        assert (found.openings, found.opened_at) == (2, NOW)


class TestObjection:
    """What the gate is told."""

    def test_a_closed_one_does_not_object(self) -> None:
        """Nothing is on trial either."""
        assert breaker_objection(Breaker(openings=1), RULES, NOW) is None
        assert not is_on_trial(Breaker(openings=1))

    def test_it_rests_for_an_hour(self) -> None:
        """Then one eviction may be tried."""
        assert breaker_objection(opened(HOUR - 60), RULES, NOW) == (
            "the circuit breaker is open: because; one eviction is tried in 60s"
        )
        assert breaker_objection(opened(HOUR), RULES, NOW) is None
        assert is_on_trial(opened(HOUR))

    def test_it_waits_for_its_trial(self) -> None:
        """However long that takes."""
        told = breaker_objection(opened(5 * HOUR, trial=7), RULES, NOW)
        assert told == "the circuit breaker is open: because; its trial eviction is not over yet"

    def test_an_operator_has_to_close_it_after_the_second_time(self) -> None:
        """However long ago that was."""
        told = breaker_objection(opened(100 * HOUR, openings=2), RULES, NOW)
        assert told == "the circuit breaker is open: because; it opened 2 times, so an operator has to close it"

    def test_an_operator_closes_it(self) -> None:
        """It starts afresh, and what was sent before is forgiven."""
        fresh = Breaker(since=NOW - HOUR)
        assert fresh == Breaker(since=NOW - HOUR)
        assert judged(*many(10, state=FAILED), breaker=fresh) == fresh
