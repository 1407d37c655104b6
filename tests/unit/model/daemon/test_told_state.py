"""How a daemon stands, from what its notices tell."""

from __future__ import annotations

from msgspec import structs

from rescheduler.model.daemon.ledger import LedgerEntry
from rescheduler.model.daemon.notices import (
    EvictionNoted,
    Fault,
    MoveChanged,
    Notice,
    PolicyHeld,
    PolicyKept,
    PolicyLoaded,
    RoundEnded,
    Started,
    SyncChanged,
    TriggerFired,
)
from rescheduler.model.daemon.rounds import Occasion
from rescheduler.model.daemon.told_state import MOST_FAULTS, ToldState
from rescheduler.model.plan.move_change import MoveChange, MoveState
from rescheduler.model.plan.plan import PodReference, Refusal
from tests.builders import NOW
from tests.unit.daemon.plans import plan, report, result


def after(*notices: Notice) -> ToldState:
    """The state after these."""
    found = ToldState()
    for notice in notices:
        found = found.after(notice)
    return found


def test_a_policy_that_is_held_or_broken_is_told_until_one_is_loaded() -> None:
    """The one in force stays in force."""
    found = after(
        PolicyLoaded(0.0, "p1", "quiet", "Approve"),
        PolicyKept(1.0, "p1", "line 3: not YAML"),
        PolicyHeld(2.0, "p1", "h", ("+1 pod",)),
    )
    assert (found.policy_id, found.policy_name, found.mode) == ("p1", "quiet", "Approve")
    assert found.held is not None
    assert found.kept is None
    found = found.after(PolicyKept(2.5, "p1", "gone"))
    assert found.kept is not None
    assert found.held is None
    found = found.after(PolicyLoaded(3.0, "h", "loud", "Execute"))
    assert (found.policy_id, found.mode, found.held, found.kept) == ("h", "Execute", None, None)


def test_kinds_that_are_not_watched_are_told_until_they_are() -> None:
    """Each with its own reason."""
    found = after(SyncChanged(0.0, "Pod", False, "403"), SyncChanged(1.0, "Node", False, "gone"))
    assert found.out_of_sync == {"Pod": "403", "Node": "gone"}
    assert found.after(SyncChanged(2.0, "Pod", True)).out_of_sync == {"Node": "gone"}


def test_faults_are_kept_but_not_without_end() -> None:
    """The newest."""
    found = after(*(Fault(float(number), "x", str(number)) for number in range(200)))
    assert len(found.faults) == MOST_FAULTS
    assert found.faults[-1].message == "199"


def test_a_plan_is_found_in_the_newest_round_that_had_it() -> None:
    """A round without a plan has none, whatever is asked for."""
    first, second = report(1, plan_id="a", plan=plan("x")), report(2, plan_id="a", plan=plan("x"))
    found = after(RoundEnded(0.0, first), RoundEnded(1.0, second), RoundEnded(2.0, report(3)))
    assert found.round_of("a") == second
    assert found.round_of("") is None
    assert found.round_of("b") is None


def test_the_start_is_told_and_triggers_are_passed_over() -> None:
    """They stand in rounds."""
    found = after(Started(5.0, "1.0", "DryRun", "p1"))
    assert (found.started_at, found.version) == (5.0, "1.0")
    assert found.after(TriggerFired(6.0, Occasion("Schedule", "", 6.0))) is found


def test_only_the_newest_rounds_keep_all_their_refusals() -> None:
    """Memory does not grow with what large plans leave alone; moves stay."""
    many = tuple(Refusal("Scope", str(number)) for number in range(2000))
    made = plan("x", refusals=many)
    done = structs.replace(result(made), refusals=many)
    found = after(*(RoundEnded(0.0, report(number, plan=made, result=done)) for number in range(1, 7)))
    kept = [len(one.plan.refusals) for one in found.rounds if one.plan is not None]
    assert kept == [500, 500, 500, 2000, 2000, 2000]
    assert [len(one.result.refusals) for one in found.rounds if one.result is not None] == kept
    assert all(one.plan is not None and one.plan.moves == made.moves for one in found.rounds)


def test_moves_are_those_of_one_run() -> None:
    """Each counts where it has come last; a new run of any plan begins anew."""
    pods = [PodReference("default", name, name) for name in "ab"]

    def change(run_id: str, pod: PodReference, state: MoveState) -> MoveChanged:
        return MoveChanged(NOW, run_id, MoveChange("", pod, state, "n1", "n2"))

    state = ToldState()
    assert set(state.moves_by_state.values()) == {0}
    for notice in (
        change("r-1", pods[0], MoveState.PLANNED), change("r-1", pods[1], MoveState.PLANNED),
        change("r-1", pods[0], MoveState.EVICTED),
    ):  # fmt: skip
        state = state.after(notice)
    found = {word: number for word, number in state.moves_by_state.items() if number}
    assert found == {MoveState.PLANNED: 1, MoveState.EVICTED: 1}
    state = state.after(change("r-2", pods[1], MoveState.PLANNED))
    assert (state.run_id, dict(state.moves)) == ("r-2", {pods[1]: MoveState.PLANNED})


def test_the_newest_word_on_each_eviction_is_kept_for_the_last_five_hundred() -> None:
    """By pod and time, as audit log and ledger number them differently; whatever order they are told in."""
    state = ToldState()
    for number in (*range(600, 0, -1), 600):
        pod = PodReference("a", f"p{number}", f"uid-{number}")
        state = state.after(EvictionNoted(NOW, LedgerEntry(7, 1, pod, "n1", "n2", NOW + number)))
    assert len(state.evictions) == 500
    assert min(entry.at for entry in state.evictions.values()) == NOW + 101
