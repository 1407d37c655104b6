"""``apply --buy`` on a live cluster: what is looked at before anything is asked for, and what is told after."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import pytest
from msgspec import structs

from rescheduler.composition.live import buying, carrying_out
from rescheduler.composition.live.buying import not_bought, patience, refuse_to_buy, refuse_without_market
from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.composition.replacing import NOT_YET, NodesToReplace
from rescheduler.execution.buying.buyer import Bought
from rescheduler.execution.buying.orders import with_nodes_that_came
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.run.planning_again import AttemptEnd
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import NOTHING_EARLIER, ExecutionInterruptedError, ReschedulerError
from rescheduler.model.plan.attempts import is_as_planned
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import OutcomeKind, Plan, PlanResult
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster
from tests.unit.execution.buying.market import FakeMarket, buying_plan, came, world

POLICY = Policy()


class Desk:
    """A call of ``apply`` whose market, executor and person are the test's. ``raises``: what buying ends with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.start = world()
        self.plan: Plan = buying_plan(self.start)
        self.raises: BaseException | None = None
        self.carried_out: list[Plan] = []
        self.purchases = 0
        self.asked: list[Plan] = []
        self.answer = True
        monkeypatch.setattr(carrying_out, "read_cluster", lambda *_: self.start)
        monkeypatch.setattr(carrying_out, "earlier_evictions", lambda *_: NOTHING_EARLIER)
        monkeypatch.setattr(carrying_out.Applying, "carry_out", lambda _, plan, __: self._carry_out(plan))
        monkeypatch.setattr(carrying_out, "plan_replacement", lambda *_: (self.plan, self.start))
        monkeypatch.setattr(carrying_out.buying, "bought", self._bought)

    def apply(self, *, buys: bool = True, **given: Any) -> PlanResult | None:
        """One call."""
        return carrying_out.apply(
            ClusterOptions(), POLICY, confirm=self._confirm, buys=buys, selection=Selection(), timeout_seconds=60.0,
            **given,
        )  # fmt: skip

    def _confirm(self, plan: Plan, _: Any) -> bool:
        self.asked.append(plan)
        return self.answer

    def _bought(self, plan: Plan, *_: Any, **__: Any) -> Bought:
        self.purchases += 1
        if self.raises is not None:
            raise self.raises
        nodes = {"added-1": "k1"}
        return Bought(with_nodes_that_came(plan, nodes), nodes, world(came("k1")))

    def _carry_out(self, plan: Plan) -> AttemptEnd:
        self.carried_out.append(plan)
        outcomes = Outcomes(plan)
        for move in plan.moves:
            outcomes.of_move(move, OutcomeKind.LANDED, move.to_node)
        return AttemptEnd(outcomes.result(), was_stopped=False)


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    """One."""
    return Desk(monkeypatch)


WAYS: Sequence[str] = ("reviewed", "wanted")


def given(desk: Desk, way: str) -> dict[str, Any]:
    """A plan from a file, or one that is made afresh."""
    return {"reviewed": desk.plan} if way == "reviewed" else {"wanted": NodesToReplace(("a",))}


@pytest.mark.parametrize("way", WAYS)
def test_the_moves_go_on_with_the_nodes_that_came(desk: Desk, way: str) -> None:
    """Whatever machines are called in the plan, pods go to real nodes; the result says which is which."""
    desk.plan = structs.replace(desk.plan, warnings=(f"added-1 exists in this plan only, {NOT_YET}", "kept"))
    result = desk.apply(**given(desk, way))
    assert result is not None
    assert [move.to_node for plan in desk.carried_out for move in plan.moves] == ["k1", "k1"]
    assert is_as_planned(result)
    assert result.warnings == ("added-1: small (spot, web) is node k1", "kept")


@pytest.mark.parametrize("way", WAYS)
def test_machines_that_do_not_come_leave_everything_as_it_was(desk: Desk, way: str) -> None:
    """The result says why, no move was attempted, and nothing is tried again."""
    desk.raises = PlanStoppedError("the machines did not come")
    result = desk.apply(**given(desk, way))
    assert result is not None
    assert {move.outcome for move in result.moves} == {OutcomeKind.NOT_ATTEMPTED}
    assert result.message == "the machines did not come"
    assert not is_as_planned(result)
    assert (desk.purchases, desk.carried_out) == (1, [])


def test_an_interrupted_purchase_is_an_interrupted_plan(desk: Desk) -> None:
    """With the plan as its result, of which nothing was done."""
    desk.raises = KeyboardInterrupt()
    with pytest.raises(ExecutionInterruptedError) as stop:
        desk.apply(reviewed=desk.plan)
    assert {move.outcome for move in stop.value.result.moves} == {OutcomeKind.NOT_ATTEMPTED}
    assert "before anything was moved" in stop.value.result.message
    assert desk.carried_out == []


@pytest.mark.parametrize("way", WAYS)
def test_without_a_yes_and_without_the_option_nothing_is_bought(desk: Desk, way: str) -> None:
    """A plan that needs machines is refused before anybody is asked, unless they may be made."""
    with pytest.raises(ReschedulerError, match=r"the plan needs 1 small \(spot, web\), which is not there; --buy"):
        desk.apply(buys=False, **given(desk, way))
    assert desk.asked == []
    desk.answer = False
    assert desk.apply(**given(desk, way)) is None
    assert (len(desk.asked), desk.purchases, desk.carried_out) == (1, 0, [])


def test_a_plan_that_was_carried_out_buys_nothing(desk: Desk) -> None:
    """It goes to the executor as it is, which finds that all is done."""
    desk.start = cluster(*desk.start.nodes, *desk.start.workloads)
    desk.apply(reviewed=desk.plan)
    assert (desk.purchases, desk.carried_out) == (0, [desk.plan])


def test_a_cluster_that_has_changed_is_refused_before_anything_is_asked_for() -> None:
    """A node of the type that is empty already is no reason to refuse: it is filled meanwhile."""
    start = world()
    plan = buying_plan(start)
    refuse_to_buy(plan, start)
    with pytest.raises(PlanStoppedError, match="no machine was asked for, and nothing was moved: default/web-0"):
        refuse_to_buy(plan, cluster(*start.nodes, *start.workloads))
    old = structs.replace(came("old"), created_at=NOW - 60)
    refuse_to_buy(plan, world(old))


def test_where_no_machine_can_be_asked_for_that_is_said() -> None:
    """A right or the PriorityClass is missing."""
    market = FakeMarket()
    refuse_without_market(market)
    market.problem = "there is no PriorityClass"
    with pytest.raises(PlanStoppedError, match="no machine can be asked for here, and nothing was moved: there is no"):
        refuse_without_market(market)


def test_half_of_the_time_is_kept_for_the_moves() -> None:
    """And ``autoscaler.wait`` is the most."""
    assert patience(POLICY, 100.0) == 50.0
    assert patience(POLICY, 10_000.0) == 600.0


@pytest.mark.parametrize("stop", ["the ledger says so", None])
def test_the_kill_switch_comes_first(monkeypatch: pytest.MonkeyPatch, stop: str | None) -> None:
    """Before a connection that may write is opened; a guardian that cannot be started bars it too."""
    start = world()
    monkeypatch.setattr(buying, "earlier_evictions", lambda *_: NOTHING_EARLIER._replace(stop=stop))
    monkeypatch.setattr(buying, "connected", lambda *_, **__: nullcontext())
    monkeypatch.setattr("rescheduler.composition.live.standing_rights.checked_rights", lambda *_: ())
    monkeypatch.setattr("rescheduler.composition.live.standing_rights.reader_for", lambda *_: None)
    monkeypatch.setattr(buying, "refuse_without_market", lambda _: None)
    monkeypatch.setattr("rescheduler.composition.live.guarding.Guard.start", lambda _: "no process could be started")
    why = "stopped: the ledger says so" if stop else "no process could be started"
    with pytest.raises(PlanStoppedError, match=why):
        buying.bought(
            buying_plan(start), start, ClusterOptions(), POLICY, "r1", seconds=60.0, clock=None,  # type: ignore[arg-type]
            progress=lambda *_: None, tell=lambda _: None,
        )  # fmt: skip


def test_a_plan_that_was_not_carried_out_is_told_as_it_was() -> None:
    """Its moves and warnings stand in the result."""
    plan = structs.replace(buying_plan(world()), warnings=("said before",))
    result = not_bought(plan, "why")
    assert [move.to_node for move in result.moves] == ["added-1", "added-1"]
    assert (result.message, result.warnings) == ("why", ("said before",))
