"""The steps of one eviction, each by itself: what is asked, what is said, and what counts as in flight."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec import structs

from rescheduler.execution.core.events import Accepted, Allowed, Event, HeldBack, NotYet, Refused, Written
from rescheduler.execution.eviction import evicting
from rescheduler.execution.eviction.evicting import Evictor
from rescheduler.execution.stopping import NoRoomError, Waiter
from rescheduler.extension_points import EvictionAnswer, NotSentError
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move, PodReference
from tests.builders import pod
from tests.clocks import FakeClock

YES = EvictionAnswer("Accepted")
POD = pod("web-0", node="n0", uid="u")
MOVE = Move(PodReference("default", "web-0", "u"), "n0", "n1", 1, "EmptyNodes", "because")


@dataclass
class Stage:
    """Everything round one evictor. ``answers``: of the API, in turn; ``takes``: seconds that each request takes."""

    answers: list[EvictionAnswer | Exception] = field(default_factory=list)
    takes: float = 0.0
    read_takes: float = 0.0
    live: Pod | None = POD
    objections: list[str | None] = field(default_factory=list)
    seen_before: float = 0.0
    timeout: float = 600.0
    is_full: bool = False

    def __post_init__(self) -> None:
        self.clock = FakeClock()
        self.told: list[Any] = []
        self.asked: list[bool] = []
        seen_at = self.clock.monotonic() - self.seen_before
        self.evictor = Evictor(
            self, Waiter(self.clock, self.timeout), self,  # type: ignore[arg-type]
            lambda _: self.objections.pop(0) if self.objections else None,
            lambda _: None, lambda _: (seen_at, POD),
        )  # fmt: skip

    def evict(self, _pod: PodReference, _version: str, *, dry_run: bool) -> EvictionAnswer:
        """As the cluster would."""
        self.asked.append(dry_run)
        self.clock.sleep(self.takes)
        answer = self.answers.pop(0) if self.answers else YES
        if isinstance(answer, Exception):
            raise answer
        return answer

    def read_pod(self, _namespace: str, _name: str) -> Pod | None:
        """As the cluster would."""
        self.told.append("read")
        self.clock.sleep(self.read_takes)
        return self.live

    def announce(self, *_: Any) -> str | None:
        """As the ledger's session would."""
        if self.is_full:
            raise NoRoomError("the ledger is full")
        return None

    def left(self, move: Move) -> None:
        """As the ledger's session would."""
        self.told.append((move.pod.name, "left"))

    def last_look(self, _move: Move) -> str | None:
        """As the ledger's session would."""
        return None

    def not_sent(self, move: Move, why: str) -> None:
        """As the ledger's session would."""
        self.told.append((move.pod.name, why))

    def answered(self, move: Move, answer: EvictionAnswer) -> None:
        """As the ledger's session would."""
        self.told.append((move.pod.name, answer.kind))

    def refused(self, move: Move, expected: Pod, answer: EvictionAnswer) -> None:
        """As the ledger's session would."""
        self.told.append((move.pod.name, expected.name, answer.kind))

    def sent(self) -> Event:
        """All three steps."""
        assert type(self.evictor.ask(7, MOVE, POD)) is Allowed
        assert type(self.evictor.write(7)) is Written
        return self.evictor.send(7)


def is_event(found: Event, wanted: Event) -> bool:
    """With its name, which plain tuples do not compare."""
    return type(found) is type(wanted) and found == wanted


def test_numbers_that_others_rely_on() -> None:
    """Those of the page about safety and of the server's own patience."""
    assert (evicting.ATTEMPTS, evicting.LOOKS) == (3, 3)
    assert (evicting.SHORTEST_BACK_OFF_SECONDS, evicting.CONFLICT_PAUSE_SECONDS) == (30.0, 1.0)
    assert (evicting.DOUBT_SECONDS, evicting.LIVE_SECONDS) == (15.0, 1.0)
    assert evicting.Eviction(MOVE, POD) == (MOVE, POD, None, 0.0, None, "")


def test_a_pod_that_has_gone_since_it_was_seen_long_ago_is_asked_nobody_about() -> None:
    """It was seen over a second ago, so it is read, and there is nothing to evict."""
    stage = Stage(live=None, seen_before=1.5)
    assert is_event(stage.evictor.ask(7, MOVE, POD), Refused(7))
    assert (stage.told, stage.asked) == (["read"], [])
    assert stage.evictor.give_up() == "default/web-0 is gone; plan again"


@pytest.mark.parametrize(("seconds", "reads"), [(1.0, []), (1.1, ["read"])])
def test_a_look_of_a_second_ago_is_still_good(seconds: float, reads: list[str]) -> None:
    """One that is older is not: before the dry run as after it."""
    stage = Stage(seen_before=seconds)
    assert is_event(stage.evictor.ask(7, MOVE, POD), Allowed(7))
    assert stage.told == reads
    stage = Stage(takes=seconds)
    assert is_event(stage.evictor.ask(7, MOVE, POD), Allowed(7))
    assert stage.told == reads


def test_what_is_said_against_it_during_the_dry_run_stands() -> None:
    """The verdict is asked before and after it."""
    stage = Stage(objections=[None, "a budget has just closed"])
    assert is_event(stage.evictor.ask(7, MOVE, POD), Refused(7))
    assert stage.evictor.give_up() == "a budget has just closed"
    assert stage.asked == [True]


def test_one_that_changes_during_a_slow_dry_run_is_left() -> None:
    """It is read once more, and is not what was planned for."""
    stage = Stage(takes=2.0, live=pod("web-0", node="n0", uid="another"))
    assert is_event(stage.evictor.ask(7, MOVE, POD), Refused(7))
    assert "another pod of the same name" in stage.evictor.give_up()


def test_an_intent_is_taken_back_where_there_is_one() -> None:
    """And nothing is told where nothing was begun."""
    stage = Stage()
    stage.evictor.withdraw()
    assert stage.told == []
    stage.evictor.ask(7, MOVE, POD)
    stage.evictor.withdraw()
    assert stage.told == [("web-0", "the plan stopped")]


def test_a_move_that_nobody_is_asked_about_is_refused_with_its_reason() -> None:
    """And is no refusal for later plans."""
    stage = Stage()
    assert is_event(stage.evictor.refuse(7, MOVE, "it is of no use"), Refused(7))
    assert stage.evictor.give_up() == "it is of no use"
    assert stage.told == []


@pytest.mark.parametrize(("kind", "is_overloaded"), [("TooManyRequests", True), ("BudgetExhausted", False)])
def test_a_server_that_has_too_much_to_do_would_put_off_all_others(kind: str, is_overloaded: bool) -> None:
    """A budget says nothing about other pods."""
    stage = Stage([EvictionAnswer(kind)])  # type: ignore[arg-type]
    assert not stage.evictor.is_overloaded
    stage.evictor.ask(7, MOVE, POD)
    assert stage.evictor.is_overloaded is is_overloaded
    stage.evictor.give_up()
    assert stage.told == [("web-0", "web-0", kind)]


def test_each_try_of_a_pod_waits_in_its_own_way() -> None:
    """Pods that were refused together do not come back together, and the second try is no copy of the first."""
    stage = Stage([EvictionAnswer("BudgetExhausted")] * 2)
    now = stage.clock.monotonic()
    for tries in (1, 2):
        spread = zlib.crc32(f"u/{tries}".encode()) / 2**32
        assert is_event(stage.evictor.ask(7, MOVE, POD), NotYet(7, now + 30.0 * (1.0 + 0.25 * spread)))


def test_a_pause_that_the_plan_has_no_time_for_is_not_begun() -> None:
    """The pod is refused at once, and others may go on."""
    stage = Stage([EvictionAnswer("BudgetExhausted")], timeout=20.0)
    assert is_event(stage.evictor.ask(7, MOVE, POD), Refused(7))
    assert "more than the plan's time allows" in stage.evictor.give_up()


def test_a_server_that_shows_the_pod_too_slowly_each_time_ends_it() -> None:
    """What was announced is taken back."""
    stage = Stage(read_takes=1.5, seen_before=0.5)
    stage.evictor.ask(7, MOVE, POD)
    stage.evictor.write(7)
    stage.clock.sleep(1.0)
    assert is_event(stage.evictor.send(7), Refused(7))
    why = "the API server took over 1 s for each last look at default/web-0; apply again to go on"
    assert stage.evictor.give_up() == why
    assert stage.told == ["read"] * 3 + [("web-0", why)]
    assert stage.asked == [True]


@pytest.mark.parametrize(
    ("answer", "is_in_flight"),
    [
        (YES, True),
        (EvictionAnswer("Failed", "reset"), True),
        (EvictionAnswer("Forbidden", "no"), False),
        (EvictionAnswer("Conflict", "changed"), False),
        (EvictionAnswer("BudgetExhausted", "later"), False),
    ],
)
def test_what_may_have_left_is_in_flight_and_what_was_refused_is_not(
    answer: EvictionAnswer, is_in_flight: bool
) -> None:
    """For whoever is interrupted at that moment."""
    stage = Stage([YES, answer])
    found = stage.sent()
    assert (stage.evictor.in_flight == MOVE) is is_in_flight
    assert isinstance(found, Accepted) is (answer is YES)
    assert ("web-0", answer.kind) in stage.told


def test_a_request_that_was_never_sent_leaves_nothing_in_flight() -> None:
    """Its intent is taken back."""
    stage = Stage([YES, NotSentError("no way there")])
    with pytest.raises(NotSentError):
        stage.sent()
    assert stage.evictor.in_flight is None
    assert stage.told == [("web-0", "no way there")]


def test_a_ledger_that_is_full_holds_the_move_back() -> None:
    """It is no refusal of this move: whoever makes room asks again."""
    stage = Stage(is_full=True)
    stage.evictor.ask(7, MOVE, POD)
    assert is_event(stage.evictor.write(7), HeldBack(7))
    assert stage.evictor.give_up() == "the ledger is full"


@pytest.mark.parametrize(("seconds", "reads"), [(1.0, 0), (1.1, 1)])
def test_a_pod_that_changed_while_it_was_announced_is_left(seconds: float, reads: int) -> None:
    """A look of a second ago is still good, and the API server compares versions besides."""
    stage = Stage(live=structs.replace(POD, resource_version="2"))
    stage.evictor.ask(7, MOVE, POD)
    stage.evictor.write(7)
    stage.clock.sleep(seconds)
    found = stage.evictor.send(7)
    assert stage.told.count("read") == reads
    assert isinstance(found, Refused) is bool(reads)
    assert ("changed while its eviction was announced" in stage.evictor.give_up()) is bool(reads)


def test_a_lost_answer_whose_pod_has_left_is_told_to_the_ledger() -> None:
    """It is in doubt no more."""
    stage = Stage([YES, EvictionAnswer("Failed", "reset")], live=None)
    assert is_event(stage.sent(), Accepted(7))
    assert stage.told[-1] == ("web-0", "left")


def test_a_conflict_in_a_dry_run_is_waited_out_for_a_second() -> None:
    """Unless the server asks for more only budgets and overload take longer."""
    stage = Stage([EvictionAnswer("Conflict")])
    assert is_event(stage.evictor.ask(7, MOVE, POD), NotYet(7, stage.clock.monotonic() + 1.0))
