"""Migrations in the embedded cluster: one request a pod, new pods on their planned nodes, outcomes as they are."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.execution.ledger.open_evictions import ASKED_SECONDS, settled
from rescheduler.extension_points import EvictionAnswer, ExecutionInterruptedError, NotSentError
from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.objects.annotations import EVICTION_IN_PROGRESS
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import PodReference
from rescheduler.report.history import history_of
from tests.unit.execution.migration.scenes import machines, migrating, migrator
from tests.unit.execution.surge.scenes import left_behind, told
from tests.unit.execution.worlds import AllowAll, World

GUIDANCES = ["Guide", "Hold", "Predict"]


def world_of(*names: str, **settings: Any) -> World:
    """Machines on n0."""
    return World(machines(names=names or ("vm-a",)), **settings)


@pytest.mark.parametrize("guidance", GUIDANCES)
def test_an_owner_is_asked_once_and_his_new_pod_is_led_to_its_place(guidance: str) -> None:
    """Never by a dry run; where nothing leads, it lands where the scheduler likes it."""
    world = world_of()
    ledger = SimulatedLedger(world.clock)
    plan = migrating(world.read(), ("vm-a", "n2", 1))
    result = migrator(world, guidance=guidance, ledger=ledger).carry_out(plan)
    assert result.message == ""
    outcome, node = told(result)["vm-a"]
    assert (outcome, node) == ("Landed", "n2") if guidance != "Predict" else outcome.startswith("Landed")
    assert world.asked == [("vm-a", False)]
    assert world.evicted == []
    world.settle()
    assert [item.node_name for item in world.read().pods if not item.is_finished] == [node]
    assert left_behind(world) == []
    (entry,) = ledger.ledger.entries
    assert (entry.state, entry.method, entry.landed_on) == (EntryState.REPAID, MoveMethod.MIGRATE, node)
    assert [item.outcome.value for item in history_of([entry]).entries] == [outcome]


def test_waves_follow_one_another() -> None:
    """The second of a node is asked for when the first has moved."""
    world = world_of("vm-a", "vm-b")
    seen: list[int] = []

    def ask(_pod: Any, _dry_run: bool) -> None:
        seen.append(sum(EVICTION_IN_PROGRESS in item.annotations for item in world.read().pods))

    world.script = [ask, ask]
    result = migrator(world).carry_out(migrating(world.read(), ("vm-a", "n1", 1), ("vm-b", "n2", 2)))
    assert told(result) == {"vm-a": ("Landed", "n1"), "vm-b": ("Landed", "n2")}
    assert seen == [0, 0]


def test_so_many_are_on_their_way_at_once() -> None:
    """As limits.inFlight says."""
    world = world_of("vm-a", "vm-b", "vm-c")
    moves = [(name, "n1", 1) for name in ("vm-a", "vm-b", "vm-c")]
    most: list[int] = []
    world._store.on_pod_change(
        lambda _old, _new: most.append(sum(EVICTION_IN_PROGRESS in one.annotations for one in world.read().pods))
    )
    result = migrator(world, in_flight=2).carry_out(migrating(world.read(), *moves))
    assert {outcome for outcome, _ in told(result).values()} == {"Landed"}
    assert max(most) == 2


@pytest.mark.parametrize("guidance", GUIDANCES)
def test_an_owner_who_gives_up_leaves_the_pod_where_it_was(guidance: str) -> None:
    """Undone, and the workload is left alone for a while; the move after it is not begun."""
    world = world_of("vm-a", "vm-b", migration_seconds=None, migration_patience_seconds=20.0)
    ledger = SimulatedLedger(world.clock)
    plan = migrating(world.read(), ("vm-a", "n1", 1), ("vm-b", "n1", 2))
    result = migrator(world, guidance=guidance, ledger=ledger).carry_out(plan)
    assert told(result) == {"vm-a": ("Undone", None), "vm-b": ("NotAttempted", None)}
    assert "has given up" in result.message
    assert world.asked == [("vm-a", False)]
    world.settle()
    assert [(item.name, item.node_name) for item in world.read().pods] == [("vm-a", "n0"), ("vm-b", "n0")]
    assert left_behind(world) == []
    (entry,) = ledger.ledger.entries
    assert entry.state is EntryState.NOT_EVICTED
    assert "has given up" in entry.failure
    assert [item.outcome.value for item in history_of([entry]).entries] == ["Undone"]


class InterruptedWorld(World):
    """Somebody presses Ctrl-C as the first pod is let go."""

    is_quiet = False

    def ungate(self, pod: PodReference) -> bool:
        """Interrupted, once."""
        if not self.is_quiet:
            self.is_quiet = True
            raise KeyboardInterrupt
        return super().ungate(pod)


def test_after_an_interrupt_no_room_is_kept_for_a_new_pod_that_gets_nowhere() -> None:
    """Something else holds it back: it was nominated before it was let go, and nobody leads it any more."""
    world = InterruptedWorld(machines(scheduling_gates=("example.com/other",)))
    with pytest.raises(ExecutionInterruptedError):
        migrator(world).carry_out(migrating(world.read(), ("vm-a", "n1", 1)))
    (new,) = world.read().pending_pods
    assert next(write.detail for write in world.writes if write.name == new.name) == "n1"
    assert (new.scheduling_gates, new.nominated_node) == (("example.com/other",), None)
    assert list(world.leftovers()) == []


def test_those_under_way_are_waited_for_when_another_comes_to_nothing() -> None:
    """Nothing of what was asked can be taken back; nobody else is asked."""
    world = world_of("vm-a", "vm-b", "vm-c", migration_seconds=30.0)
    world.script = [None, EvictionAnswer("WebhookDenied", "not now")]
    plan = migrating(world.read(), *((name, "n1", 1) for name in ("vm-a", "vm-b", "vm-c")))
    result = migrator(world).carry_out(plan)
    assert told(result) == {"vm-a": ("Landed", "n1"), "vm-b": ("Refused", None), "vm-c": ("NotAttempted", None)}
    assert "not now" in result.message
    assert world.asked == [("vm-a", False), ("vm-b", False)]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("BudgetExhausted", "a PodDisruptionBudget allows no disruption"), ("Forbidden", "the API server forbids it"),
        ("WebhookDenied", "an admission webhook does not let it go now"), ("Conflict", "the pod changed"),
        ("TooManyRequests", "the API server is overloaded"),
    ],
)  # fmt: skip
def test_any_other_no_is_told_in_its_own_words_and_not_asked_again(kind: str, words: str) -> None:
    """Refused, and the pod stands."""
    world = world_of()
    ledger = SimulatedLedger(world.clock)
    world.script = [EvictionAnswer(kind, "its own words")]
    result = migrator(world, ledger=ledger).carry_out(migrating(world.read(), ("vm-a", "n1", 1)))
    assert told(result) == {"vm-a": ("Refused", None)}
    assert words in result.message
    assert "its own words" in result.message
    assert world.asked == [("vm-a", False)]
    assert [entry.state for entry in ledger.ledger.entries] == [EntryState.REFUSED]
    assert left_behind(world) == []


def test_a_pod_that_nobody_moves_after_all_is_evicted_and_owed() -> None:
    """The webhook let the request pass: that is a debt as after any eviction, and ends the plan."""
    world = world_of("vm-a", "vm-b")
    ledger = SimulatedLedger(world.clock)
    world.script = [lambda pod, _dry_run: (world.delete_pod(pod.namespace, pod.name), EvictionAnswer("Accepted"))[1]]
    plan = migrating(world.read(), ("vm-a", "n1", 1), ("vm-b", "n1", 2))
    result = migrator(world, ledger=ledger).carry_out(plan)
    assert "nobody has answered who would move it" in result.message
    assert world.asked == [("vm-a", False)]
    assert [entry.state for entry in ledger.ledger.entries] == [EntryState.OPEN]
    assert told(result)["vm-b"] == ("NotAttempted", None)


@pytest.mark.parametrize("is_heard", [True, False])
def test_after_a_lost_answer_the_pod_tells_whether_he_has_heard(is_heard: bool) -> None:
    """He is not asked again; where nothing shows, that is not known, and a debt until it is."""
    world = world_of()
    ledger = SimulatedLedger(world.clock)

    def lose(pod: Any, _dry_run: bool) -> EvictionAnswer:
        if is_heard:
            SimulatedCluster.evict(world, pod, "", dry_run=False)
        return EvictionAnswer("Failed", "lost")

    world.script = [lose]
    result = migrator(world, ledger=ledger).carry_out(migrating(world.read(), ("vm-a", "n1", 1)))
    assert told(result) == {"vm-a": ("Landed", "n1") if is_heard else ("Unknown", None)}
    assert world.asked == [("vm-a", False)]
    (entry,) = ledger.ledger.entries
    assert entry.state is (EntryState.REPAID if is_heard else EntryState.OPEN)
    assert entry.is_in_doubt is not is_heard


def test_what_takes_too_long_is_unknown_and_not_asked_again() -> None:
    """The ledger keeps it as open as it is, and finds out later where the pod went."""
    world = world_of(migration_seconds=100.0, migration_patience_seconds=200.0)
    ledger = SimulatedLedger(world.clock)
    result = migrator(world, within=20.0, ledger=ledger).carry_out(migrating(world.read(), ("vm-a", "n1", 1)))
    assert told(result) == {"vm-a": ("Unknown", None)}
    assert "was not done within 20 s" in result.message
    assert [entry.state for entry in ledger.ledger.entries] == [EntryState.SURGING]
    assert left_behind(world) == []
    world.clock.sleep(150.0)
    (entry,) = settled(ledger.ledger, world.read(), lambda one: world.read_pod(one.namespace, one.name)).entries
    assert (entry.state, entry.landed_on) == (EntryState.REPAID, "n1")


def test_an_entry_of_an_owner_who_never_began_ends_after_an_hour() -> None:
    """Until then he is not asked again; one that is marked stays open for longer."""
    world = world_of()
    world.script = [EvictionAnswer("OwnerMoves", "Eviction triggered evacuation")]
    ledger = SimulatedLedger(world.clock)
    migrator(world, within=20.0, ledger=ledger).carry_out(migrating(world.read(), ("vm-a", "n1", 1)))

    def state() -> EntryState:
        found = settled(ledger.ledger, world.read(), lambda one: world.read_pod(one.namespace, one.name))
        return found.entries[0].state

    world.clock.sleep(ASKED_SECONDS - 60.0)
    assert state() is EntryState.SURGING
    world.clock.sleep(60.0)
    assert state() is EntryState.NOT_EVICTED
    world.put(structs.replace(world.pod("vm-a"), annotations={EVICTION_IN_PROGRESS: ""}))
    assert state() is EntryState.SURGING


def test_one_that_moves_already_is_not_asked_for() -> None:
    """Whoever has asked."""
    world = world_of()
    plan = migrating(world.read(), ("vm-a", "n1", 1))
    moving = world.pod("vm-a")
    world.put(structs.replace(moving, annotations={**moving.annotations, EVICTION_IN_PROGRESS: ""}))
    result = migrator(world).carry_out(plan)
    assert told(result) == {"vm-a": ("Refused", None)}
    assert "is being moved by whoever owns it already" in result.message
    assert world.asked == []


def test_what_the_gate_refuses_is_not_asked_for() -> None:
    """It is asked right before."""
    world = world_of()
    result = migrator(world, gate=AllowAll(["vm-a"])).carry_out(migrating(world.read(), ("vm-a", "n1", 1)))
    assert told(result) == {"vm-a": ("Refused", None)}
    assert world.asked == []


def test_without_the_number_nobody_is_asked() -> None:
    """A plan file alone does not switch migrations on."""
    world = world_of()
    result = migrator(world, within=None).carry_out(migrating(world.read(), ("vm-a", "n1", 1)))
    assert told(result) == {"vm-a": ("NotAttempted", None)}
    assert "nobody has said how long a migration may take" in result.message
    assert world.asked == []


def test_who_is_told_to_stop_tells_that_the_owner_goes_on() -> None:
    """At once; the gate is opened, so that the new pod finds a node, and the ledger is as open as the move is."""
    world = world_of(migration_seconds=50.0)
    ledger = SimulatedLedger(world.clock)
    began = world.clock.monotonic()

    def ending() -> str | None:
        return "SIGTERM" if world.clock.monotonic() - began > 5.0 else None

    result = migrator(world, ledger=ledger, ending=ending).carry_out(migrating(world.read(), ("vm-a", "n1", 1)))
    assert told(result) == {"vm-a": ("Unknown", "n1")}
    assert "SIGTERM" in result.message
    assert world.clock.monotonic() - began < 10.0
    assert [entry.state for entry in ledger.ledger.entries] == [EntryState.SURGING]
    assert left_behind(world) == []


def test_ctrl_c_while_the_owner_is_asked_is_told() -> None:
    """Nobody knows whether he has heard."""
    world = world_of()

    def interrupt(_pod: Any, _dry_run: bool) -> EvictionAnswer:
        raise KeyboardInterrupt

    world.script = [interrupt]
    with pytest.raises(ExecutionInterruptedError) as stopped:
        migrator(world).carry_out(migrating(world.read(), ("vm-a", "n1", 1)))
    assert told(stopped.value.result) == {"vm-a": ("Unknown", None)}


def test_a_process_that_may_write_no_more_has_asked_nobody() -> None:
    """The entry of the ledger says so."""
    world = world_of()
    ledger = SimulatedLedger(world.clock)

    def refuse(_pod: Any, _dry_run: bool) -> EvictionAnswer:
        raise NotSentError("the lease was lost")

    world.script = [refuse]
    result = migrator(world, ledger=ledger).carry_out(migrating(world.read(), ("vm-a", "n1", 1)))
    assert "the lease was lost" in result.message
    assert [entry.state for entry in ledger.ledger.entries] == [EntryState.NOT_EVICTED]


def test_a_machine_that_its_user_deletes_meanwhile_is_gone_and_not_moved() -> None:
    """Nobody says that it has landed."""
    world = world_of(startup_seconds=40.0)

    def delete() -> None:
        for item in world.read().pods:
            world.delete_pod(item.namespace, item.name)

    world.clock.after(10.0, delete)
    result = migrator(world).carry_out(migrating(world.read(), ("vm-a", "n1", 1)))
    assert told(result) == {"vm-a": ("Unknown", None)}
    assert "no other pod has taken its place" in result.message
