"""Surges are carried out in the embedded cluster: never one Ready pod too few, and whoever changes his mind wins."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.execution.ledger.private_ledger import PrivateLedger
from rescheduler.execution.surge.giving_back import PATIENCE_SECONDS, give_back
from rescheduler.extension_points import ClusterError, EvictionAnswer, ExecutionInterruptedError, NotSentError
from rescheduler.model.daemon.ledger import DEBTS, EMPTY_LEDGER, EntryState, Ledger
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import PodReference, Refusal, reference_to
from tests.unit.execution.surge.scenes import ReadyWatch, left_behind, pods_of, shop, surger, surging, told, workloads
from tests.unit.execution.worlds import AllowAll, World


def world_of(replicas: int = 1, **settings: Any) -> tuple[World, ReadyWatch]:
    """A cluster, and a watch of its Ready pods."""
    world = World(shop(replicas), **settings)
    return world, ReadyWatch(world)


@pytest.mark.parametrize("guidance", ["Guide", "Hold"])
@pytest.mark.parametrize("replicas", [1, 5])
def test_the_replacement_is_ready_before_the_old_pod_goes(replicas: int, guidance: str) -> None:
    """Under a budget that allows nobody to be missing; on the planned node, and nothing of ours stays."""
    world, watch = world_of(replicas)
    names = [f"web-{number}" for number in range(replicas)]
    result = surger(world, guidance=guidance).carry_out(surging(world.read(), *names))
    assert result.message == ""
    assert told(result) == dict.fromkeys(names, ("Landed", "n1"))
    world.settle()
    assert watch.fewest == replicas
    assert world.evicted == names
    assert {item.node_name for item in world.read().pods} == {"n1"}
    assert len(world.read().pods) == replicas
    assert left_behind(world) == []


def test_what_several_surges_rest_on_is_read_once_a_look() -> None:
    """Who answers in their namespace, however many pods are out; while nothing moves looks are half a second apart."""
    world = World(shop(1, *pods_of("db", 1), *workloads(1, "db")), startup_seconds=5.0)
    looks: list[float] = []
    read = world.read_endpoints

    def seen(namespace: str) -> Any:
        looks.append(world.clock.now())
        return read(namespace)

    world.read_endpoints = seen  # type: ignore[method-assign]
    result = surger(world, settle=20.0).carry_out(surging(world.read(), "web-0", "db-0"))
    assert told(result) == {"web-0": ("Landed", "n1"), "db-0": ("Landed", "n1")}
    assert len(set(looks)) == len(looks)
    gaps = [later - earlier for earlier, later in pairwise(looks)]
    assert sum(gap >= 0.5 for gap in gaps) > len(gaps) / 2


def test_without_the_two_numbers_nothing_is_moved() -> None:
    """A plan file alone, written by whomever, does not switch surges on."""
    world, _ = world_of()
    result = surger(world)
    result._settings = result._settings._replace(surge=None)
    outcome = result.carry_out(surging(world.read(), "web-0"))
    assert "nobody has said how long a surge may take" in outcome.message
    assert told(outcome) == {"web-0": ("NotAttempted", None)}
    assert [write for write in world.writes if write.resource == "pods"] == []


def never_ready(item: Pod) -> float | None:
    """Replacements run and do not get ready."""
    return None if item.name not in ("web-0", "web-1") else 1.0


@pytest.mark.parametrize("guidance", ["Guide", "Hold"])
def test_a_replacement_that_never_gets_ready_costs_nothing(guidance: str) -> None:
    """The old pod is given back, its ReplicaSet deletes the unready one, and nothing of ours stays."""
    world, watch = world_of(2, startup_seconds=never_ready)
    result = surger(world, guidance=guidance, within=10.0).carry_out(surging(world.read(), "web-0"))
    assert told(result) == {"web-0": ("Undone", None)}
    assert "not Ready and answering within 10 s" in result.message
    world.settle()
    assert watch.fewest == 2
    assert [item.name for item in world.read().pods] == ["web-0", "web-1"]
    assert world.evicted == []
    assert left_behind(world) == []


def test_one_that_fails_gives_all_back_that_are_out() -> None:
    """Those that have moved stay moved; of those under way nobody is missing."""
    world, watch = world_of(2, startup_seconds=lambda item: None if item.name not in ("web-0", "web-1") else 1.0)
    result = surger(world, within=10.0).carry_out(surging(world.read(), "web-0", "web-1"))
    assert [kind for kind, _ in told(result).values()] == ["Undone", "Undone"]
    world.settle()
    assert watch.fewest == 2
    assert [item.name for item in world.read().pods] == ["web-0", "web-1"]
    assert left_behind(world) == []


@pytest.mark.parametrize("wanted", [0, 1, 3])
def test_whoever_scales_in_the_middle_wins(wanted: int) -> None:
    """The pod is given back at once, before its replacement is Ready."""
    world, watch = world_of(2, startup_seconds=20.0)
    world.clock.after(5.0, lambda: scale(world, wanted))
    result = surger(world).carry_out(surging(world.read(), "web-0"))
    assert told(result) == {"web-0": ("Undone", None)}
    assert f"scaled from 2 to {wanted}" in result.message
    assert watch.fewest == min(wanted, 2)
    assert left_behind(world) == []


def scale(world: World, replicas: int) -> None:
    """Somebody scales the Deployment, and its controller the ReplicaSet."""
    for owner in world.read().workloads:
        world.put(structs.replace(owner, desired_replicas=replicas, generation=2, observed_generation=2))


def test_an_owner_that_is_being_changed_is_left_alone() -> None:
    """Before anything is written."""
    world, _ = world_of()
    world.put(structs.replace(world.read().workloads[1], generation=2))
    result = surger(world).carry_out(surging(world.read(), "web-0"))
    assert told(result) == {"web-0": ("Refused", None)}
    assert '"rolling"' in result.message
    assert [write for write in world.writes if write.resource == "pods"] == []


def test_what_the_gate_refuses_is_not_taken_out() -> None:
    """It is asked before, and once more before the eviction."""
    world, _ = world_of()
    result = surger(world, gate=AllowAll(["web-0"])).carry_out(surging(world.read(), "web-0"))
    assert told(result) == {"web-0": ("Refused", None)}
    assert [write for write in world.writes if write.resource == "pods"] == []


class ChangesItsMind(AllowAll):
    """A gate that refuses everything once pods are out."""

    def permit(self, moves: Any, cluster: Cluster, sent: Any, ledger: Ledger = EMPTY_LEDGER) -> Any:
        """Permits as long as nobody is out."""
        self.seen = [entry.state for entry in ledger.entries]
        if any(SURGE in item.annotations for item in cluster.pods):
            self.refused = {move.pod.name for move in moves}
        return super().permit(moves, cluster, sent, ledger)


def test_a_gate_that_refuses_the_eviction_gives_the_pod_back() -> None:
    """By a rule that does not change in a moment; the entry of the surge itself does not count against it."""
    world, watch = world_of()
    gate = ChangesItsMind()
    with_windows = _ruled(gate, "DisruptionWindow")
    result = surger(world, gate=with_windows).carry_out(surging(world.read(), "web-0"))
    assert told(result) == {"web-0": ("Undone", None)}
    assert "DisruptionWindow" in result.message
    assert gate.seen == []
    world.settle()
    assert watch.fewest == 1
    assert [item.name for item in world.read().pods] == ["web-0"]
    assert left_behind(world) == []


class Hesitates(AllowAll):
    """A gate that refuses the last step for a while."""

    times = 0

    def permit(self, moves: Any, cluster: Cluster, sent: Any, ledger: Ledger = EMPTY_LEDGER) -> Any:
        """Refuses it three times."""
        is_out = any(SURGE in item.annotations for item in cluster.pods)
        self.times += is_out
        self.refused = {move.pod.name for move in moves} if is_out and self.times <= 3 else set()
        return super().permit(moves, cluster, sent, ledger)


def test_an_owner_whose_status_lags_is_asked_about_again() -> None:
    """A pod that was just taken out is missing in the status of its Deployment for a moment: no reason to undo."""
    world, watch = world_of()
    gate = Hesitates()
    result = surger(world, gate=_ruled(gate, "Rollout")).carry_out(surging(world.read(), "web-0"))
    assert told(result) == {"web-0": ("Landed", "n1")}
    assert gate.times > 3
    world.settle()
    assert watch.fewest == 1


@pytest.mark.parametrize(("rule", "is_own"), [("Health", False), ("Breaker", False), ("DisruptionWindow", True)])
def test_what_forbids_everything_is_no_failure_of_the_workload(rule: str, is_own: bool) -> None:
    """The ledger tells of a failure, by which the workload is left alone for a while, where it was about this pod."""
    world, _ = world_of()
    ledger = SimulatedLedger(world.clock)
    surger(world, gate=_ruled(ChangesItsMind(), rule), ledger=ledger).carry_out(surging(world.read(), "web-0"))
    (entry,) = ledger.ledger.entries
    assert entry.state is EntryState.NOT_EVICTED
    assert bool(entry.failure) is is_own


def _ruled(gate: AllowAll, rule: str) -> Any:
    """The same gate, with another rule's name on its refusals."""

    class Ruled:
        def permit(self, *arguments: Any) -> list[Any]:
            return [
                structs.replace(item, rule=rule) if isinstance(item, Refusal) else item
                for item in gate.permit(*arguments)
            ]

    return Ruled()


def test_a_budget_that_refuses_is_asked_again_each_second() -> None:
    """Its count follows; the answer to a first eviction is no end."""
    world, watch = world_of()
    world.script = [EvictionAnswer("BudgetExhausted", "not yet")] * 3
    result = surger(world).carry_out(surging(world.read(), "web-0"))
    assert told(result) == {"web-0": ("Landed", "n1")}
    assert world.asked == [("web-0", False)] * 4
    world.settle()
    assert watch.fewest == 1


@pytest.mark.parametrize("kind", ["TwoBudgets", "Forbidden"])
def test_a_refusal_that_lasts_gives_the_pod_back(kind: str) -> None:
    """In the API server's words."""
    world, watch = world_of()
    world.script = [EvictionAnswer(kind, "its own words")]
    result = surger(world).carry_out(surging(world.read(), "web-0"))
    assert told(result) == {"web-0": ("Undone", None)}
    assert "its own words" in result.message
    world.settle()
    assert watch.fewest == 1
    assert left_behind(world) == []


def test_an_eviction_whose_answer_was_lost_is_looked_for_in_the_pod() -> None:
    """It has left: nothing more is asked. It stands: it is asked for again."""
    for has_effect in (True, False):
        world, watch = world_of()

        def lose(pod: Any, _dry_run: bool, world: World = world, has_effect: bool = has_effect) -> EvictionAnswer:
            if has_effect:
                SimulatedCluster.evict(world, pod, "", dry_run=False)
            return EvictionAnswer("Failed", "lost")

        world.script = [lose]
        result = surger(world).carry_out(surging(world.read(), "web-0"))
        assert told(result) == {"web-0": ("Landed", "n1")}
        assert len(world.asked) == (1 if has_effect else 2)
        world.settle()
        assert watch.fewest == 1


@pytest.mark.parametrize("at_call", range(1, 30, 2))
def test_an_interrupt_at_any_moment_leaves_nothing(at_call: int) -> None:
    """Either the pod has moved, or it is given back."""
    world, watch = world_of(1, startup_seconds=3.0)
    calls = 0
    sleep = world.clock.sleep

    def interrupting(seconds: float) -> None:
        nonlocal calls
        calls += 1
        if calls == at_call:
            raise KeyboardInterrupt
        sleep(seconds)

    world.clock.sleep = interrupting  # type: ignore[method-assign]
    executor, plan = surger(world), surging(world.read(), "web-0")
    with pytest.raises(ExecutionInterruptedError):
        executor.carry_out(plan)
    world.clock.sleep = sleep  # type: ignore[method-assign]
    world.settle()
    assert watch.fewest == 1
    assert len(world.read().pods) == 1
    assert left_behind(world) == []


def test_the_ledger_tells_of_a_surge() -> None:
    """While it goes on nobody is missing; done it is repaid, undone it was no eviction. Both with their method."""
    for within, state in ((60.0, EntryState.REPAID), (1.0, EntryState.NOT_EVICTED)):
        world, _ = world_of(1, startup_seconds=3.0)
        ledger = PrivateLedger()
        states: list[EntryState] = []
        world._store.on_pod_change(lambda *_, ledger=ledger, states=states: states.extend(
            entry.state for entry in ledger.read().ledger.entries))  # fmt: skip
        surger(world, within=within, ledger=ledger).carry_out(surging(world.read(), "web-0"))
        [entry] = ledger.read().ledger.entries
        assert (entry.state, entry.method) == (state, MoveMethod.SURGE)
        assert set(states) == {EntryState.SURGING}
        assert EntryState.SURGING not in DEBTS


def test_only_so_many_are_out_at_once_as_may_be_on_their_way() -> None:
    """Their replacements start side by side."""
    world, watch = world_of(5, startup_seconds=10.0)
    most = 0

    def count(*_: object) -> None:
        nonlocal most
        most = max(most, sum(SURGE in item.annotations for item in world._store.pods.values()))

    world._store.on_pod_change(count)
    names = [f"web-{number}" for number in range(5)]
    began = world.clock.monotonic()
    result = surger(world, in_flight=3).carry_out(surging(world.read(), *names))
    assert told(result) == dict.fromkeys(names, ("Landed", "n1"))
    assert most == 3
    assert world.clock.monotonic() - began < 5 * 10.0
    world.settle()
    assert watch.fewest == 5


def test_where_pods_cannot_be_taken_out_nothing_is_moved() -> None:
    """And the reason is told."""
    world, _ = world_of(1, cannot_surge="we may not patch pods")
    result = surger(world).carry_out(surging(world.read(), "web-0"))
    assert "we may not patch pods" in result.message
    assert world.evicted == []


@pytest.mark.parametrize(("error", "seconds"), [(NotSentError, 1.0), (ClusterError, PATIENCE_SECONDS)])
def test_what_may_not_be_written_any_more_is_not_waited_for(error: type[ClusterError], seconds: float) -> None:
    """A guardian gives back, and whoever leads by now; an API server that fails is asked again."""
    world, _ = world_of()
    asked: list[float] = []

    def refuse(_: PodReference) -> bool:
        asked.append(world.clock.monotonic())
        raise error("no")

    world.give_back = refuse  # type: ignore[method-assign]
    began = world.clock.monotonic()
    told_of = give_back([reference_to(world.pod("web-0"))], world, world.clock, None)
    assert "default/web-0 could not be given back (no)" in (told_of or "")
    assert world.clock.monotonic() - began <= seconds
    assert len(asked) == 1 or error is ClusterError
