"""How old a verdict, what it was given on and what it is used for may be, and what is asked anew when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import structs

from rescheduler.execution.eviction.own_verdict import OwnVerdict, has_room
from rescheduler.execution.landing.departures import EvictedPod
from rescheduler.execution.stopping import PlanStoppedError, Waiter
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, PodReference, Refusal
from tests.clocks import FakeClock
from tests.unit.execution.worlds import fragmented, two_moves

FIRST, SECOND = two_moves(fragmented()).moves


class Round:
    """Everything round the verdicts. ``looks``: ages of what the next looks show, 0 from then on; ``age``: of the
    snapshot; ``says``: the rule by which the gate refuses; ``shows``: what a look shows, a new thing each time."""

    def __init__(self, *, looks: Sequence[float] = (), timeout: float = 600.0) -> None:
        self.clock = FakeClock()
        self.now = fragmented()
        self.looks = list(looks)
        self.age = 0.0
        self.says: str | None = None
        self.is_slow = False
        self.thinks = 0.0
        self.done: list[str] = []
        self.sent: list[PodReference] = []
        self.ledger = EMPTY_LEDGER
        self._looked_at = 0.0
        self.verdict = OwnVerdict(self, self, Waiter(self.clock, timeout), self, self.sent)  # type: ignore[arg-type]

    @property
    def age_seconds(self) -> float:
        """Of the snapshot."""
        return self.age

    @property
    def look_age_seconds(self) -> float:
        """Of the last look around."""
        return self.clock.monotonic() - self._looked_at

    def read(self) -> Cluster:
        """A new snapshot."""
        self.done.append("read")
        self.age = 0.0
        return self.now

    def require_fast(self) -> None:
        """Whether the reading was quick enough."""
        if self.is_slow:
            raise PlanStoppedError("reading the cluster took long")

    def look_around(self, move: Move) -> str:
        """The very same each time."""
        self.done.append(f"look {move.pod.name}")
        self._looked_at = self.clock.monotonic() - (self.looks.pop(0) if self.looks else 0.0)
        return "the same"

    def know(self) -> Ledger:
        """As it was read last."""
        self.done.append("ledger")
        return self.ledger

    def permit(self, moves: Sequence[Move], *_: Any) -> list[Permit | Refusal]:
        """As told."""
        self.done.append(f"gate {moves[0].pod.name}")
        self.clock.sleep(self.thinks)
        return [Permit(move, "1") if self.says is None else Refusal(self.says, "no") for move in moves]

    def asked(self, move: Move = FIRST) -> list[str]:
        """What one question leads to, where nothing speaks against it."""
        self.done.clear()
        assert self.verdict.objection(move, ()) is None
        return list(self.done)


ANEW = ["ledger", "look web-00", "gate web-00"]


@pytest.mark.parametrize(("seconds", "again"), [(0.5, []), (0.51, ANEW)])
def test_a_verdict_holds_for_half_a_second(seconds: float, again: list[str]) -> None:
    """What is older is asked for anew, with the ledger and all that the pod depends on."""
    scene = Round()
    assert scene.asked() == ANEW
    scene.clock.sleep(seconds)
    assert scene.asked() == again


def test_a_verdict_is_of_one_pod() -> None:
    """However young it is."""
    scene = Round()
    scene.asked()
    assert scene.asked(SECOND) == ["ledger", "look web-01", "gate web-01"]
    assert scene.asked() == ANEW


@pytest.mark.parametrize(("age", "looks"), [(1.0, 1), (1.1, 2)])
def test_a_look_that_took_over_a_second_is_taken_again(age: float, looks: int) -> None:
    """The gate is not asked by what may have changed since."""
    scene = Round(looks=[age])
    assert scene.asked() == ["ledger", *["look web-00"] * looks, "gate web-00"]


def test_three_looks_that_took_too_long_are_enough() -> None:
    """The server is slow: that is said, and no gate was asked in vain."""
    scene = Round(looks=[2.0] * 9)
    assert "took over 1 s for each look" in (scene.verdict.objection(FIRST, ()) or "")
    assert scene.done == ["ledger", *["look web-00"] * 3]
    assert scene.verdict.rule == "SlowAnswers"


@pytest.mark.parametrize(("seconds", "more"), [(1.0, []), (1.5, ["look web-00"])])
def test_a_gate_that_thinks_for_over_a_second_is_believed_on_a_second_look(seconds: float, more: list[str]) -> None:
    """One that shows the same is of now; for a gate that is quicker none is needed."""
    scene = Round()
    scene.thinks = seconds
    assert scene.asked() == [*ANEW, *more]


def test_a_snapshot_of_nine_seconds_is_good_and_an_older_one_is_read_anew() -> None:
    """Also where the verdict itself is young."""
    scene = Round()
    scene.asked()
    scene.age = 9.0
    assert scene.asked() == []
    scene.age = 9.1
    assert scene.asked() == ["read", *ANEW]


def test_a_cluster_that_takes_too_long_to_read_stops_the_plan() -> None:
    """Nothing is evicted by what was so long ago."""
    scene = Round()
    scene.age, scene.is_slow = 9.1, True
    with pytest.raises(PlanStoppedError, match="reading the cluster took long"):
        scene.verdict.objection(FIRST, ())
    assert scene.done == ["read"]


def test_a_plan_whose_time_is_over_asks_nobody() -> None:
    """However young its last verdict is."""
    scene = Round(timeout=10.0)
    scene.clock.sleep(9.8)
    scene.asked()
    scene.clock.sleep(0.3)
    with pytest.raises(PlanStoppedError, match="not through after 10 s"):
        scene.verdict.objection(FIRST, ())


def test_a_refusal_tells_its_rule_until_the_next_question() -> None:
    """And is no verdict to rest on."""
    scene = Round()
    assert not scene.verdict.is_crowded
    scene.says = "Health"
    assert scene.verdict.objection(FIRST, ()) == "Health: no"
    assert scene.verdict.rule == "Health"
    scene.says = None
    assert scene.asked() == ANEW
    assert scene.verdict.rule is None


def test_a_pod_that_is_gone_is_not_asked_about() -> None:
    """It is told so."""
    scene = Round()
    scene.now = Cluster()
    assert scene.verdict.objection(FIRST, ()) == "default/web-00 is gone"
    assert scene.done == ["ledger", "look web-00"]


@pytest.mark.parametrize(("rule", "is_full"), [("Budget", True), ("Health", False), (None, False)])
def test_only_a_budget_of_the_policy_puts_a_move_off_unasked(rule: str | None, is_full: bool) -> None:
    """By what is known already: nothing is looked at for that."""
    scene = Round()
    scene.says = rule
    assert scene.verdict.is_full(FIRST) is is_full
    assert scene.done == ["gate web-00"]


@pytest.mark.parametrize(
    ("to_node", "landed_on", "has_place"), [("n1", None, False), ("n1", "n1", True), ("n2", None, True)]
)
def test_only_replacements_on_their_way_to_its_node_take_a_pods_room(
    to_node: str, landed_on: str | None, has_place: bool
) -> None:
    """n1 has room for one pod: who has landed is in the snapshot, and who goes elsewhere takes nothing there."""
    seen = fragmented()
    pod = seen.pod_by_key["default/web-01"]
    known = frozenset(item.uid for item in seen.pods)
    landed = None if landed_on is None else structs.replace(pod, uid="new", node_name=landed_on)
    departure = EvictedPod(structs.replace(SECOND, to_node=to_node), pod, None, known, replacement=landed)
    assert has_room(FIRST, [departure], seen) is has_place
