"""Plans that wait for a person: proposed, approved once, carried out once; or expired, or superseded."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from rescheduler.daemon.steering.approvals import UNKNOWN_MARK, Approvals, Notices
from rescheduler.daemon.steering.steering_errors import ApprovalRefusedError, KeyReusedError, UnknownPlanError
from rescheduler.extension_points import ReschedulerError
from rescheduler.model.daemon.notices import ApprovalEnded, ApprovalGiven, ApprovalWanted
from rescheduler.model.plan.plan import Plan
from tests.unit.daemon.plans import plan

HOUR = 3600.0
A, B = plan("a"), plan("b")


def waiting(mark: str = "") -> Approvals:
    """Plan "one" waits since time 0."""
    return Approvals().propose("one", A, 0.0, HOUR, mark)[0]


def test_a_plan_waits_until_somebody_says_yes_and_is_handed_out_once() -> None:
    """Wanted, given, taken; after that there is nothing to take."""
    state, wanted = Approvals().propose("one", A, 0.0, HOUR)
    assert wanted == (ApprovalWanted(0.0, "one", A, HOUR),)
    assert state.take(1.0)[1] is None
    state, approval, given = state.approve("one", "jane", "REST", "k", 2.0)
    assert (approval.who, approval.at, given) == ("jane", 2.0, (ApprovalGiven(2.0, "one", "jane", "REST"),))
    state, taken, told = state.take(3.0)
    assert taken is not None
    assert (taken.plan, told) == (A, ())
    assert state.take(4.0)[1] is None


def test_the_same_moves_go_on_waiting_whatever_is_said_about_them() -> None:
    """A new round's words and number differ; the proposal and its end stay."""
    state, told = waiting().propose("two", plan("a", reason="other words"), 100.0, HOUR)
    assert told == ()
    assert state.proposal is not None
    assert (state.proposal.plan_id, state.proposal.expires_at) == ("one", HOUR)


@pytest.mark.parametrize("other", [B, plan("a", to="n3"), plan("a", "b"), plan()])
def test_another_plan_takes_the_place_of_the_one_that_waits(other: Plan) -> None:
    """The earlier one ends before the newer one is wanted, and can never be approved again."""
    state, told = waiting().propose("two", other, 5.0, HOUR)
    assert [type(notice) for notice in told] == [ApprovalEnded, ApprovalWanted]
    with pytest.raises(ApprovalRefusedError, match="plan two has taken its place; plan two waits now") as caught:
        state.approve("one", "jane", "REST", "", 6.0)
    assert caught.value.newer == "two"


def test_an_approved_plan_is_not_replaced_by_a_newer_one() -> None:
    """Somebody said yes to it: the round that comes between changes nothing."""
    state = waiting().approve("one", "jane", "REST", "", 1.0)[0]
    state, told = state.propose("two", B, 2.0, HOUR)
    assert told == ()
    taken = state.take(3.0)[1]
    assert taken is not None
    assert taken.plan_id == "one"


@pytest.mark.parametrize("is_approved", [False, True])
def test_a_plan_expires_approved_or_not(is_approved: bool) -> None:
    """At the very moment; what was approved, but not begun, is not carried out later."""
    state = waiting()
    if is_approved:
        state = state.approve("one", "jane", "REST", "", 1.0)[0]
    assert state.at(HOUR - 1)[1] == ()
    state, told = state.at(HOUR)
    assert [type(notice) for notice in told] == [ApprovalEnded]
    assert state.take(HOUR)[1] is None
    with pytest.raises(ApprovalRefusedError, match="does not wait any more: it has expired"):
        state.approve("one", "jane", "REST", "other", HOUR + 1)


def test_time_is_looked_at_before_a_yes_is_taken() -> None:
    """A yes that comes too late is too late, though nobody has looked at the clock meanwhile."""
    with pytest.raises(ApprovalRefusedError, match="it has expired"):
        waiting().approve("one", "jane", "REST", "", HOUR + 1)


def test_the_same_request_again_has_the_same_answer_even_when_all_is_over() -> None:
    """By its key: before the plan is taken, after it, and while the same plan waits anew."""
    state, first, _ = waiting().approve("one", "jane", "REST", "k", 1.0)
    state, again, told = state.approve("one", "jane", "REST", "k", 2.0)
    assert (again, told) == (first, ())
    state = state.take(3.0)[0].propose("one", A, 4.0, HOUR)[0]
    state, again, told = state.approve("one", "jane", "REST", "k", 5.0)
    assert (again, told) == (first, ())
    assert state.take(6.0)[1] is None


def test_without_a_key_a_plan_that_waits_anew_wants_a_new_yes() -> None:
    """While it waits to be carried out the same person's second yes is the first one; afterwards it is a new one."""
    state, first, _ = waiting().approve("one", "jane", "REST", "", 1.0)
    assert state.approve("one", "jane", "REST", "", 2.0)[1] == first
    state = state.take(3.0)[0]
    with pytest.raises(ApprovalRefusedError, match="was approved before and was begun"):
        state.approve("one", "jane", "REST", "", 4.0)
    state = state.propose("one", A, 5.0, HOUR)[0]
    assert state.approve("one", "jane", "REST", "", 6.0)[1].at == 6.0


def test_a_second_person_is_told_who_was_first() -> None:
    """One yes is enough, and the record says whose it was."""
    state = waiting().approve("one", "jane", "REST", "k", 1.0)[0]
    with pytest.raises(ApprovalRefusedError, match="approved already, by jane"):
        state.approve("one", "joe", "REST", "k", 2.0)


def test_a_key_belongs_to_one_plan() -> None:
    """The same key with another plan is a fault of the client, not a yes."""
    state = waiting().approve("one", "jane", "REST", "k", 1.0)[0].take(2.0)[0].propose("two", B, 3.0, HOUR)[0]
    with pytest.raises(KeyReusedError, match="came with plan one before"):
        state.approve("two", "jane", "REST", "k", 4.0)


def test_a_number_that_never_was_is_unknown() -> None:
    """Also when nothing waits at all."""
    for state in (Approvals(), waiting()):
        with pytest.raises(UnknownPlanError):
            state.approve("three", "jane", "REST", "", 1.0)


def test_the_annotation_approves_exactly_the_plan_that_it_names() -> None:
    """Another number says nothing; the right one is a yes, once."""
    state, told = waiting().marked("two", 1.0)
    assert told == ()
    state, told = state.marked("one", 2.0)
    assert told == (ApprovalGiven(2.0, "one", "annotation", "annotation"),)
    assert state.marked("one", 3.0)[1] == ()


def test_an_annotation_from_before_the_plan_does_not_count() -> None:
    """Not even for the same number, until it was taken away and written again."""
    state = waiting("one")
    assert state.marked("one", 1.0)[1] == ()
    state = state.marked("", 2.0)[0]
    assert [type(notice) for notice in state.marked("one", 3.0)[1]] == [ApprovalGiven]


def test_an_annotation_that_could_not_be_read_before_counts_from_its_next_change() -> None:
    """What is read first is taken as old."""
    state, told = waiting(UNKNOWN_MARK).marked("one", 1.0)
    assert told == ()
    assert [type(notice) for notice in state.marked("", 2.0)[0].marked("one", 3.0)[1]] == [ApprovalGiven]


def test_ending_what_does_not_wait_says_nothing() -> None:
    """Leadership may come and go without a word about plans."""
    assert Approvals().end(1.0, "lost") == (Approvals(), ())


class Machine(RuleBasedStateMachine):
    """Whatever happens in whatever order: no plan is carried out without its own, timely, unspent yes."""

    def __init__(self) -> None:
        super().__init__()
        self.state = Approvals()
        self.now = 0.0
        self.yes: set[str] = set()
        self.wanted = 0
        self.closed = 0
        self.taken = 0
        self.given = 0

    def _follow(self, state: Approvals, told: Notices) -> None:
        self.state = state
        self.wanted += sum(isinstance(notice, ApprovalWanted) for notice in told)
        self.closed += sum(isinstance(notice, ApprovalEnded) for notice in told)
        for notice in told:
            if isinstance(notice, ApprovalWanted | ApprovalEnded):
                self.yes.discard(notice.plan_id)
            if isinstance(notice, ApprovalGiven):
                self.given += 1
                self.yes.add(notice.plan_id)

    @rule(number=st.sampled_from(["a", "b", "c"]), mark=st.sampled_from(["", "a", "b"]))
    def propose(self, number: str, mark: str) -> None:
        """A round ends with a plan."""
        self._follow(*self.state.propose(number, plan(number), self.now, 10.0, mark))

    @rule(number=st.sampled_from(["a", "b", "c"]), who=st.sampled_from("jk"), key=st.sampled_from(["", "1", "2"]))
    def approve(self, number: str, who: str, key: str) -> None:
        """Somebody says yes, or tries to."""
        try:
            state, _, told = self.state.approve(number, who, "REST", key, self.now)
        except ReschedulerError:
            return
        self._follow(state, told)

    @rule(mark=st.sampled_from(["", "a", "b"]))
    def look_at_the_mark(self, mark: str) -> None:
        """The annotation is read."""
        self._follow(*self.state.marked(mark, self.now))

    @rule(seconds=st.sampled_from([1.0, 4.0, 11.0]))
    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.now += seconds

    @rule()
    def take(self) -> None:
        """The loop carries out what was approved: each yes at most once, and in time."""
        state, taken, told = self.state.take(self.now)
        self._follow(state, told)
        if taken is not None:
            self.taken += 1
            assert taken.plan_id in self.yes
            assert self.now < taken.expires_at
            self.yes.discard(taken.plan_id)

    @invariant()
    def every_plan_is_accounted_for(self) -> None:
        """Each plan that was wanted has ended, was taken, or waits; nothing is taken without a yes of its own."""
        assert self.wanted == self.closed + self.taken + (self.state.proposal is not None)
        assert self.taken <= self.given


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
