"""A wave goes on after a pod landed elsewhere only where that takes nobody's place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from rescheduler.execution.guidance import guiding, room
from rescheduler.extension_points import EvictionAnswer
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, PodReference, Refusal
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.consolidation import emptying, sparse
from tests.unit.execution.run.test_proving import by_room
from tests.unit.execution.worlds import AllowAll, World, executor, fragmented, plan_of, two_moves


def test_waves_keep_their_size_where_the_scheduler_chooses_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a large cluster with room to spare hardly any pod lands where it was expected, and none is in the way."""
    monkeypatch.setattr(guiding, "MOST_SHUT", 0)
    monkeypatch.setattr(room, "FEW_MOVES", 1)
    start = sparse(nodes=12, replicas=1)
    world = World(start)
    plan = emptying(start, ("n9", "n10", "n11"), in_a_wave=3)
    reads: list[int] = []
    read = world.read
    world.read = lambda: (reads.append(1), read())[1]  # type: ignore[method-assign, func-returns-value]
    result = executor(world, proof=by_room).carry_out(plan)
    assert {move.outcome.value for move in result.moves} <= {"Landed", "LandedElsewhere"}
    assert len(reads) <= 4, "one wave: the beginning, what strayed, and the end"


class SlowAnswers(World):
    """The API server answers an eviction when the replacement works already."""

    def evict(self, pod: PodReference, resource_version: str, *, dry_run: bool) -> EvictionAnswer:
        """As any other, and late."""
        answer = super().evict(pod, resource_version, dry_run=dry_run)
        if not dry_run:
            self.clock.sleep(3.0)
        return answer


def test_what_has_come_to_rest_before_it_is_waited_for_is_not_waited_for() -> None:
    """A plan whose replacements are Ready at the first look goes on at once."""
    start = sparse()
    world = SlowAnswers(start)
    result = executor(world).carry_out(emptying(start, ("n4", "n5"), in_a_wave=1))
    assert result.message == ""
    assert len(world.evicted) == 4
    assert world.clock.monotonic() < 60


def test_moves_that_need_nothing_of_each_other_do_not_wait_for_a_wave() -> None:
    """The second wave has begun while the first one's replacement is not Ready yet."""
    start = cluster(
        *(node(f"n{number}", "4") for number in range(4)), pod("a-0", "1", node="n0", owner="a"),
        pod("b-0", "1", node="n1", owner="b"), workload("a", 1), workload("b", 1),
    )  # fmt: skip
    world = World(start, startup_seconds=30.0)
    plan = plan_of(start, [("a-0", "n2", 1), ("b-0", "n3", 2)], objective="SpreadLoad")
    result = executor(world).carry_out(plan)
    assert result.message == ""
    assert world.evicted == ["a-0", "b-0"]
    assert world.clock.monotonic() < 45, "both start up at once"


def test_no_more_moves_are_on_their_way_than_the_policy_lets() -> None:
    """A move counts until its replacement is Ready."""
    start = cluster(
        *(node(f"n{number}", "4") for number in range(4)), pod("a-0", "1", node="n0", owner="a"),
        pod("b-0", "1", node="n1", owner="b"), workload("a", 1), workload("b", 1),
    )  # fmt: skip
    world = World(start, startup_seconds=30.0)
    plan = plan_of(start, [("a-0", "n2", 1), ("b-0", "n3", 2)], objective="SpreadLoad")
    executor(world, in_flight=1).carry_out(plan)
    assert world.evicted == ["a-0", "b-0"]
    assert world.clock.monotonic() > 60, "one starts up after the other"


class OneAtATime(AllowAll):
    """A gate whose budget lets one pod move at a time, by a rule; ``seconds``: so long one counts."""

    def __init__(self, world: World, rule: str, seconds: float) -> None:
        super().__init__()
        self._world = world
        self._rule = rule
        self._seconds = seconds

    def permit(
        self, moves: Sequence[Move], cluster: Cluster, sent: Sequence[PodReference], ledger: Ledger = EMPTY_LEDGER
    ) -> list[Permit | Refusal]:
        """No to all while one is on its way."""
        since = next((write.at for write in self._world.writes if write.resource == "pods/eviction"), None)
        if since is None or self._world.clock.now() > since + self._seconds:
            return super().permit(moves, cluster, sent, ledger)
        return [Refusal(self._rule, "lets one go at a time", pod=move.pod) for move in moves]


@pytest.mark.parametrize(("rule", "most"), [("Budget", 6), ("PodDisruptionBudget", 16)])
def test_what_a_budget_holds_back_is_not_asked_for_again_and_again(rule: str, most: int) -> None:
    """Half a minute until the replacement is Ready; its room stays kept meanwhile, and the move follows at once."""
    start = cluster(
        *(node(f"n{number}", "4") for number in range(4)), pod("a-0", "1", node="n0", owner="a"),
        pod("b-0", "1", node="n1", owner="b"), workload("a", 1), workload("b", 1),
    )  # fmt: skip
    world = World(start, startup_seconds=30.0)
    looks: list[str] = []
    look = world.read_vicinity
    world.read_vicinity = lambda move, known: (looks.append(move.pod.name), look(move, known))[1]  # type: ignore[method-assign, func-returns-value]
    plan = plan_of(start, [("a-0", "n2", 1), ("b-0", "n3", 2)], objective="SpreadLoad")
    result = executor(world, gate=OneAtATime(world, rule, 30.0)).carry_out(plan)
    assert result.message == ""
    assert world.evicted == ["a-0", "b-0"]
    assert len(looks) <= most
    made = Counter(write.name for write in world.writes if (write.verb, write.resource) == ("create", "jobs"))
    assert max(made.values()) <= 2
    assert world.clock.monotonic() < 70


def test_a_pod_that_is_waited_for_is_not_looked_for_twice_at_once() -> None:
    """The wait after its eviction begins with a look."""
    start = fragmented()
    world = World(start)
    looks: list[float] = []
    read = world.read_lists
    world.read_lists = lambda asked: looks.append(world.clock.now()) or read(asked)  # type: ignore[func-returns-value,method-assign]
    sent: list[float] = []
    world.script = [None, lambda *_: sent.append(world.clock.now())] * 2  # type: ignore[list-item,return-value]
    executor(world, guidance="Predict").carry_out(two_moves(start))
    assert len(sent) == 2
    for at in sent:
        first, second = sorted(look for look in looks if look > at)[:2]
        assert first < second


def test_while_one_eviction_is_on_its_way_the_next_move_is_looked_for() -> None:
    """Each but the first is foreseen right before the one that it follows is sent, and nothing is after the last."""
    start = fragmented()
    world = World(start)
    foreseen: list[tuple[str, int]] = []
    world.foresee = lambda move, _: foreseen.append((move.pod.name, len(world.evicted)))  # type: ignore[method-assign]
    executor(world, guidance="Predict").carry_out(two_moves(start))
    assert world.evicted == ["web-00", "web-01"]
    assert foreseen == [("web-01", 0)]
