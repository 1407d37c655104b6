"""Tests of what goes whole under the ramp-up, and when."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from rescheduler.disruption.earlier.ramp_up import let_go_at, marked, steps_of, without_held_back
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Breaker, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster, node, pod
from tests.unit.disruption.cases import policy
from tests.unit.disruption.ledgers import HOUR, entry, ledger
from tests.unit.execution.worlds import plan_of

DAY = 24 * HOUR
NODES = tuple(node(f"n{n}") for n in range(6))
SEEN = cluster(
    *NODES, *(pod(f"{name}-{n}", node=f"n{n}", owner=name) for n in range(3) for name in ("a", "b", "c")),
    pod("low"), pod("high", priority=10),
)  # fmt: skip


def names(steps: Any) -> list[list[str]]:
    """Pods of each step."""
    return [[move.pod.name for move in step] for step in steps]


def hours(plan: Plan, *, past: Ledger = EMPTY_LEDGER, by: Policy | None = None, seen: Cluster = SEEN) -> list[float]:
    """In how many hours each move is let go, in the plan's order."""
    times = let_go_at(plan, seen, (by or Policy()).disruption, past)
    return [(times[move.pod.uid] - NOW) / HOUR for move in plan.moves]


class TestSteps:
    """What only makes sense whole."""

    def test_what_one_pending_pod_waits_for_is_one(self) -> None:
        """The pod of the highest priority first; what leaves other nodes is not part of it."""
        plan = plan_of(SEEN, [("a-0", "n3", 1), ("a-1", "n3", 1), ("b-0", "n4", 1), ("b-1", "n4", 2)],
                       [("low", "n0", 1), ("high", "n1", 2)])  # fmt: skip
        assert names(steps_of(plan, SEEN)) == [["a-1", "b-1"], ["a-0", "b-0"]]

    def test_what_leaves_after_the_room_is_there_is_another(self) -> None:
        """Two pods that wait for the same node, one after the other."""
        plan = plan_of(SEEN, [("a-0", "n3", 1), ("b-0", "n4", 2)], [("low", "n0", 2), ("high", "n0", 1)])
        assert names(steps_of(plan, SEEN)) == [["a-0"], ["b-0"]]

    def test_a_pending_pod_that_is_gone_comes_before_none_that_is_there(self) -> None:
        """Nothing is known of its priority: it is that of pods that name none."""
        seen = cluster(*SEEN.nodes, *SEEN.pods, pod("mid", priority=1))
        plan = plan_of(seen, [("a-0", "n3", 1), ("a-1", "n3", 2)], [("low", "n0", 1), ("mid", "n1", 2)])
        assert names(steps_of(plan, replace(seen, pods=[it for it in seen.pods if it.name != "low"]))) == [
            ["a-1"],
            ["a-0"],
        ]

    def test_whoever_makes_room_for_a_moved_pod_belongs_to_it(self) -> None:
        """Else its step could not be carried out by itself."""
        plan = plan_of(SEEN, [("a-1", "n2", 1), ("b-2", "n4", 1), ("a-0", "n1", 2)], [("low", "n0", 2)])
        assert names(steps_of(plan, SEEN)) == [["a-1", "a-0"], ["b-2"]]

    @pytest.mark.parametrize(("objective", "steps"), [("EmptyNodes", 2), ("Defragment", 2), ("SpreadLoad", 3)])
    def test_a_node_is_emptied_whole_and_load_is_spread_pod_by_pod(self, objective: str, steps: int) -> None:
        """Half an empty node is worth nothing."""
        plan = plan_of(SEEN, [("a-0", "n3", 1), ("a-1", "n3", 1), ("b-0", "n4", 2)], objective=objective)
        assert len(steps_of(plan, SEEN)) == steps

    def test_pods_that_move_together_and_those_that_change_places_are_one(self) -> None:
        """A part of them may not move, or has no place."""
        plan = plan_of(SEEN, [("a-0", "n3", 1), ("a-1", "n3", 1), ("b-0", "n4", 1)], objective="SpreadLoad")
        indices = [index for index, item in enumerate(SEEN.pods) if item.name in ("a-0", "b-0")]
        assert names(steps_of(plan, SEEN, [indices])) == [["a-0", "b-0"], ["a-1"]]
        swaps = structs.replace(plan, moves=tuple(structs.replace(move, evict_first=True) for move in plan.moves))
        assert names(steps_of(swaps, SEEN)) == [["a-0", "a-1", "b-0"]]

    @given(st.data())
    def test_every_move_is_in_one_step_and_none_needs_a_later_one(self, data: st.DataObject) -> None:
        """Whatever is planned: after each step all that its moves need has left."""
        movable = [item.name for item in SEEN.pods if item.node_name]
        chosen = data.draw(st.lists(st.sampled_from(movable), unique=True, min_size=1))
        moves = sorted(
            ((name, data.draw(st.sampled_from([item.name for item in NODES])), data.draw(st.integers(1, 3)))
             for name in chosen), key=lambda move: move[2],
        )  # fmt: skip
        places = [("low", data.draw(st.sampled_from(["n0", "n1", "n5"])), data.draw(st.integers(0, 3)))]
        plan = plan_of(SEEN, moves, places, objective=data.draw(st.sampled_from(["MakeRoom", "EmptyNodes"])))
        steps = steps_of(plan, SEEN)
        assert sorted(name for step in names(steps) for name in step) == sorted(chosen)
        gone: set[str] = set()
        for step in steps:
            gone |= {move.pod.uid for move in step}
            for move in step:
                earlier = [it for it in plan.moves if it.from_node == move.to_node and it.wave < move.wave]
                assert {it.pod.uid for it in earlier} <= gone


class TestTimes:
    """When the steps go."""

    PAIRS = plan_of(
        SEEN, [("a-0", "n3", 1), ("b-0", "n4", 1), ("a-1", "n3", 1), ("b-1", "n4", 1)],
        [("high", "n0", 1), ("low", "n1", 1)],
    )  # fmt: skip

    def test_a_pod_that_needs_two_is_helped_on_the_first_day(self) -> None:
        """One goes whole while nothing was sent; the next once the window is empty again."""
        assert hours(self.PAIRS) == [0, 0, 1, 1]

    def test_what_was_sent_already_counts(self) -> None:
        """Whoever sent it."""
        assert hours(self.PAIRS, past=ledger(entry(9, ago=HOUR / 2))) == [0.5, 0.5, 1.5, 1.5]

    def test_several_steps_go_together_where_the_window_has_room(self) -> None:
        """On the third clean day four an hour."""
        assert hours(self.PAIRS, past=ledger(clean_since=NOW - 2 * DAY)) == [0, 0, 0, 0]
        later = ledger(entry(9, ago=HOUR / 4), clean_since=NOW - 2 * DAY)
        assert hours(self.PAIRS, past=later) == [0, 0, 0.75, 0.75]

    def test_a_new_day_lets_go_what_the_window_does_not(self) -> None:
        """A window of a week ends long after the number has doubled."""
        by = policy(disruption={"rampUp": {"window": "168h"}})
        assert hours(self.PAIRS, by=by) == [0, 0, 48, 48]

    def test_nothing_waits_once_what_an_hour_may_see_is_reached(self) -> None:
        """Then the rates bind by themselves, however full the window is."""
        by = policy(disruption={"rampUp": {"window": "168h"}, "rates": {"perHour": 2}})
        assert hours(self.PAIRS, by=by) == [0, 0, 24, 24]

    def test_order_is_kept(self) -> None:
        """A small step does not overtake a large one for ever."""
        plan = plan_of(SEEN, [("a-0", "n3", 1), ("b-0", "n4", 1), ("a-1", "n3", 1)], [("low", "n0", 1)])
        assert hours(plan, past=ledger(entry(9, ago=60), clean_since=NOW - DAY)) == [59 / 60, 59 / 60, 119 / 60]

    def test_there_is_none_once_the_rate_is_reached(self) -> None:
        """Or where the policy says unlimited; without a rate an hour it goes on doubling."""
        reached = ledger(clean_since=NOW - 5 * DAY)
        busy = ledger(*(entry(number, ago=60) for number in range(32)), clean_since=NOW - 5 * DAY)
        assert hours(self.PAIRS, past=reached) == hours(self.PAIRS, past=busy) == [0, 0, 0, 0]
        assert hours(self.PAIRS, by=policy(disruption={"rampUp": "unlimited"})) == [0, 0, 0, 0]
        for_ever = policy(disruption={"rates": {"perHour": "unlimited"}})
        assert hours(self.PAIRS, past=busy, by=for_ever)[0] > 0

    def test_it_begins_again_after_a_failure(self) -> None:
        """The breaker's opening, here."""
        past = ledger(clean_since=NOW - 9 * DAY, breaker=Breaker(since=NOW - HOUR))
        assert hours(self.PAIRS, past=past) == [0, 0, 1, 1]

    @given(
        sizes=st.lists(st.integers(1, 4), min_size=1, max_size=8),
        sent=st.lists(st.integers(0, 7200), max_size=5),
        start=st.integers(1, 5),
        days=st.sampled_from([0, 0.5, 1, 2.75]),
    )
    def test_no_window_holds_more_than_is_allowed_but_for_one_step(
        self, sizes: list[int], sent: list[int], start: int, days: float
    ) -> None:
        """Times never go back, and each step either fits in its window or finds it empty."""
        names = [(f"p{i}-{k}", f"s{i}") for i, size in enumerate(sizes) for k in range(size)]
        seen = cluster(*(node(f"s{i}") for i in range(9)), *(pod(name, node=where) for name, where in names))
        moves = [(name, "s8", 1) for name, _ in names]
        plan = plan_of(seen, moves, objective="EmptyNodes")
        past = ledger(*(entry(90 + i, ago=ago) for i, ago in enumerate(sent)), clean_since=NOW - days * DAY)
        by = policy(disruption={"rampUp": {"start": start}, "rates": {"perHour": "unlimited"}})
        times = let_go_at(plan, seen, by.disruption, past)
        all_sent, last = [NOW - ago for ago in sent], NOW
        for step in steps_of(plan, seen):
            (at,) = {times[move.pod.uid] for move in step}
            assert at >= last
            used = sum(at - HOUR < moment <= at for moment in all_sent)
            allowed = start << int((at - NOW + days * DAY) // DAY)
            assert not used or used + len(step) <= allowed
            all_sent, last = [*all_sent, *[at] * len(step)], at


def test_moves_that_are_held_back_are_marked_with_their_time() -> None:
    """RFC 3339; those that go now are left as they are."""
    plan = TestTimes.PAIRS
    found = marked(plan, let_go_at(plan, SEEN, Policy().disruption, EMPTY_LEDGER), NOW)
    assert found.moves[:2] == plan.moves[:2]
    assert {move.not_before for move in found.moves[2:]} == {"2027-01-15T09:00:00Z"}
    assert marked(plan, {move.pod.uid: 9e11 for move in plan.moves}, NOW).moves[0].not_before == "9999-12-31T23:59:59Z"


def test_only_what_goes_now_may_be_planned_with() -> None:
    """The others are told until when they stay."""
    eligible = decide_eligibility(SEEN, policy(disruption={"singleReplicas": "Allow"}))
    plan = TestTimes.PAIRS
    times = let_go_at(plan, SEEN, Policy().disruption, EMPTY_LEDGER)
    less = without_held_back(structs.replace(eligible, movable=tuple(range(9))), times, SEEN)
    assert [SEEN.pods[index].name for index in less.movable] == ["a-0", "b-0"]
    told = [refusal.message for refusal in less.refusals.values() if refusal.rule == "RampUp"]
    assert told == [
        f"default/{name} is held back by the ramp-up until 2027-01-15T09:00:00Z (policy: disruption.rampUp)"
        for name in ("a-1", "b-1")
    ]
