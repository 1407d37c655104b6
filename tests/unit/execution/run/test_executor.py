"""A plan is carried out in the proven order: holds, evictions, replacements, nominations, releases, verification."""

from __future__ import annotations

import pytest
from msgspec import structs

from rescheduler.checker.violation import Violation
from rescheduler.execution.run.executor import plan_id_of
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import OutcomeKind, Plan, PodReference
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.worlds import (
    AllowAll,
    World,
    against,
    chain,
    chained,
    executor,
    fragmented,
    outcomes,
    plan_of,
    two_moves,
)


def test_the_pending_pod_gets_the_room_that_two_moves_make() -> None:
    """Two evictions, no more; the pod lands where planned, the evicted ones run elsewhere, nothing of ours is left."""
    start = fragmented()
    world = World(start)
    result = executor(world).carry_out(two_moves(start))
    after = world.read()
    assert outcomes(result)["big-0"] == ("Landed", "n0")
    assert sorted(world.evicted) == ["web-00", "web-01"]
    assert not after.pending_pods
    assert all(item.is_ready for item in after.pods)
    assert world.leftovers() == []
    assert (result.message, result.warnings) == ("", ())


def test_what_is_written_comes_in_the_proven_order() -> None:
    """All room is kept before the first eviction; the pending pod's is let go last, right after its nomination."""
    start = fragmented()
    world = World(start)
    executor(world).carry_out(two_moves(start))
    acts = [(write.verb, write.resource) for write in world.writes if write.resource != "events"]
    before = acts[: acts.index(("create", "pods/eviction"))]
    assert before.count(("create", "jobs")) == acts.count(("create", "jobs")) == 3
    assert acts[-3:] == [("create", "pods/eviction"), ("patch", "pods/status"), ("delete", "jobs")]


def test_every_eviction_is_tried_as_a_dry_run_first() -> None:
    """Each pod is asked about twice: dry, then in earnest."""
    start = fragmented()
    world = World(start)
    executor(world).carry_out(two_moves(start))
    assert world.asked == [("web-00", True), ("web-00", False), ("web-01", True), ("web-01", False)]


def test_a_chain_waits_for_each_wave_and_keeps_the_room_between_them() -> None:
    """The second wave's pod leaves only when the first has landed and is ready; all end where planned."""
    start = chained()
    world = World(start)
    result = executor(world).carry_out(chain(start))
    assert outcomes(result) == {"little-0": ("Landed", "n2"), "mid-0": ("Landed", "n1"), "big-0": ("Landed", "n0")}
    assert world.evicted == ["little-0", "mid-0"]
    assert world.leftovers() == []


def test_a_plan_carried_out_before_does_nothing() -> None:
    """The second time nothing is written, and every outcome counts as ended."""
    start = fragmented()
    world = World(start)
    plan = two_moves(start)
    executor(world).carry_out(plan)
    before = list(world.writes)
    again = executor(world).carry_out(plan)
    assert list(world.writes) == before
    assert {kind for kind, _ in outcomes(again).values()} <= {"Landed", "LandedElsewhere"}


def test_a_plan_whose_proof_fails_on_the_fresh_snapshot_sends_nothing() -> None:
    """The objection is told, and nothing is attempted."""
    start = fragmented()
    world = World(start)
    result = executor(world, proof=lambda _cluster, _plan: against("n1 is full by now")).carry_out(two_moves(start))
    assert "n1 is full by now" in result.message
    assert {kind for kind, _ in outcomes(result).values()} == {"NotAttempted"}
    assert not world.writes


def test_a_move_that_the_gate_refuses_stops_the_plan_before_the_first_eviction() -> None:
    """Half of a plan helps nobody: one refusal, nothing evicted, and the rule is named."""
    start = fragmented()
    world = World(start)
    result = executor(world, gate=AllowAll(refused=["web-01"])).carry_out(two_moves(start))
    assert not world.writes
    assert outcomes(result)["web-01"] == ("Refused", None)
    assert outcomes(result)["web-00"] == ("NotAttempted", None)
    assert "PodDisruptionBudget" in result.message


def test_a_verdict_that_has_grown_old_is_asked_for_again() -> None:
    """A dry run that takes two seconds makes the gate's leave void: it is asked once more, for this one pod."""
    start = fragmented()

    def carried_out(seconds: float) -> list[list[str]]:
        world, gate = World(start), AllowAll()

        def slow(_: PodReference, is_dry_run: bool) -> None:
            world.clock.sleep(seconds if is_dry_run else 0.0)

        world.script = [slow]
        executor(world, gate=gate).carry_out(two_moves(start))
        return [names for names, _ in gate.asked]

    assert carried_out(2.0).count(["web-00"]) == carried_out(0.0).count(["web-00"]) + 1


def test_the_proof_never_sees_our_own_placeholders() -> None:
    """The rest of a plan is proved as if the room that we keep were free: it is the plan's own."""
    start = chained()
    seen: list[int] = []

    def proof(fresh: Cluster, _rest: Plan) -> list[Violation]:
        seen.append(sum(item.namespace == "rescheduler-holds" for item in fresh.pods))
        return []

    executor(World(start), proof=proof).carry_out(chain(start))
    assert seen == [0, 0]


def test_the_rest_of_a_plan_is_proved_before_each_wave_with_waves_counted_afresh() -> None:
    """Before the second wave the plan that is proved holds only what is left, beginning with wave 1."""
    start = chained()
    proved: list[list[tuple[str, int]]] = []

    def proof(_fresh: Cluster, rest: Plan) -> list[Violation]:
        proved.append([(item.pod.name, item.wave) for item in (*rest.moves, *rest.placements)])
        return []

    executor(World(start), proof=proof).carry_out(chain(start))
    assert proved == [[("little-0", 1), ("mid-0", 2), ("big-0", 2)], [("mid-0", 1), ("big-0", 1)]]


def test_counts_that_lag_behind_a_wave_are_waited_for() -> None:
    """A budget whose recount comes a moment after the replacements are Ready does not stop the plan."""
    start = chained()
    world = World(start)
    looks: list[int] = []

    def proof(_fresh: Cluster, rest: Plan) -> list[Violation]:
        looks.append(len(rest.moves))
        return against("the budget allows no disruption") if len(rest.moves) == 1 and looks.count(1) < 3 else []

    result = executor(world, proof=proof).carry_out(chain(start))
    assert world.evicted == ["little-0", "mid-0"]
    assert outcomes(result)["big-0"][0] == "Landed"


def test_a_surprise_between_waves_stops_before_the_next_eviction() -> None:
    """When the rest does not prove any more, what was done is told and the rest is not attempted."""
    start = chained()
    world = World(start)

    def proof(_fresh: Cluster, rest: Plan) -> list[Violation]:
        return [] if len(rest.moves) == 2 else against("a node has gone")

    result = executor(world, proof=proof).carry_out(chain(start))
    assert world.evicted == ["little-0"]
    assert outcomes(result)["little-0"] == ("Landed", "n2")
    assert outcomes(result)["mid-0"] == ("NotAttempted", None)
    assert world.leftovers() == []


def test_predict_writes_nothing_but_evictions() -> None:
    """No placeholder, no nomination, no Event."""
    start = fragmented()
    world = World(start)
    executor(world, guidance="Predict").carry_out(two_moves(start))
    assert {(write.verb, write.resource) for write in world.writes} == {("create", "pods/eviction")}


def test_a_cluster_without_placeholders_falls_back_and_says_so() -> None:
    """The reason is told as a warning, and nothing but evictions is written."""
    start = fragmented()
    world = World(start, cannot_hold="no scheduling gates here")
    result = executor(world).carry_out(two_moves(start))
    assert any("no scheduling gates here" in warning and "Predict" in warning for warning in result.warnings)
    assert {write.resource for write in world.writes} == {"pods/eviction"}


def test_a_pod_that_was_helped_meanwhile_needs_no_eviction() -> None:
    """The pending pod found a place by itself: nothing is moved for it."""
    start = fragmented()
    world = World(start)
    plan = two_moves(start)
    world.put(node("n9", "4"))
    world.settle()
    result = executor(world).carry_out(plan)
    assert not world.writes
    assert outcomes(result)["big-0"] == ("LandedElsewhere", "n9")
    assert outcomes(result)["web-00"][0] == "NotAttempted"


def test_a_pending_pod_that_is_gone_ends_the_plan() -> None:
    """Nobody is evicted for a pod that is not there any more, not even for another of its name."""
    start = fragmented()
    world = World(start)
    plan = two_moves(start)
    world.put(pod("big-0", "2500m", uid="another"))
    result = executor(world).carry_out(plan)
    assert not world.writes
    assert "big-0" in result.message


def test_a_moved_pod_recreated_under_its_name_is_not_evicted() -> None:
    """A StatefulSet's pod of the same name is another pod; the proof then decides on what is left."""
    start = cluster(
        node("n0", "4"), node("n1", "2"), pod("db-0", "2", node="n0", kind="StatefulSet", owner="db"),
        pod("big-0", "3"), workload("db", 1, kind="StatefulSet"), workload("big", 1),
    )  # fmt: skip
    world = World(start)
    plan = plan_of(start, [("db-0", "n1", 1)], [("big-0", "n0", 1)])
    world.put(pod("db-0", "2", node="n0", kind="StatefulSet", owner="db", uid="another"))
    result = executor(world, proof=lambda _cluster, rest: against("no room") if not rest.moves else []).carry_out(plan)
    assert not world.writes
    assert "no room" in result.message


def test_a_plan_without_uids_is_refused() -> None:
    """Names alone do not say which pod is meant."""
    start = fragmented()
    bare = plan_of(start, [("web-00", "n1", 1)], [])
    move = structs.replace(bare.moves[0], pod=PodReference("default", "web-00"))
    world = World(start)
    result = executor(world).carry_out(structs.replace(bare, moves=(move,)))
    assert "without a uid" in result.message
    assert not world.writes


def test_an_empty_plan_with_a_pod_that_fits_already_only_waits() -> None:
    """No moves: nothing is written, and the placement is told once the scheduler has done its work."""
    start = cluster(node("n0", "4"), pod("new-0", "1"), workload("new", 1))
    world = World(start)
    result = executor(world).carry_out(plan_of(start, [], [("new-0", "n0", 0)]))
    assert outcomes(result) == {"new-0": ("Landed", "n0")}
    assert not world.writes


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet"])
def test_slow_terminations_are_waited_for(kind: str) -> None:
    """The pending pod is led in only when the old pods have given their room up."""
    start = cluster(
        node("n0", "4"), node("n1", "2"), pod("db-0", "2", node="n0", kind=kind, owner="db"), pod("big-0", "3"),
        workload("db", 1, kind=kind), workload("big", 1),
    )  # fmt: skip
    world = World(start, termination_seconds=20.0)
    began = world.clock.now()
    result = executor(world).carry_out(plan_of(start, [("db-0", "n1", 1)], [("big-0", "n0", 1)]))
    assert outcomes(result) == {"db-0": ("Landed", "n1"), "big-0": ("Landed", "n0")}
    assert world.clock.now() - began > 20


def test_replacements_that_never_get_ready_stop_the_plan_at_its_timeout() -> None:
    """The next wave counts on them, so it does not start; the outcome is unknown and says why."""
    start = chained()
    world = World(start, startup_seconds=lambda item: None if item.name.startswith("little") else 0.1)
    result = executor(world, timeout=120).carry_out(chain(start))
    assert world.evicted == ["little-0"]
    assert outcomes(result)["little-0"] == ("Unknown", "n2")
    assert "did not get ready" in result.message
    assert world.leftovers() == []


def test_a_long_plan_renews_its_placeholders() -> None:
    """A termination much longer than the hold's deadline does not lose the hole."""
    start = fragmented()
    world = World(start, termination_seconds=29.0)
    result = executor(world, deadline=5).carry_out(two_moves(start))
    assert outcomes(result)["big-0"] == ("Landed", "n0")


def test_the_name_of_a_plan_depends_on_what_it_does() -> None:
    """Equal moves and placements have one id, others another."""
    start = fragmented()
    assert plan_id_of(two_moves(start)) == plan_id_of(two_moves(start))
    assert plan_id_of(two_moves(start)) != plan_id_of(plan_of(start, [("web-00", "n1", 1)], []))


def test_ownerless_pods_that_the_policy_lets_go_need_no_replacement() -> None:
    """Nothing recreates them, and the plan does not wait for it."""
    start = cluster(node("n0", "4"), pod("lone", "2", node="n0", owner=None), pod("big-0", "3"), workload("big", 1))
    world = World(start)
    result = executor(world).carry_out(plan_of(start, [("lone", "n0", 1)], [("big-0", "n0", 1)]))
    assert outcomes(result) == {"lone": ("LandedElsewhere", None), "big-0": ("Landed", "n0")}
    assert OutcomeKind.LANDED in {item.outcome for item in result.placements}


def test_placeholders_stand_back_for_a_replacement_that_comes_before_their_own_pod() -> None:
    """A hole kept for the second wave is larger than the room now; the first wave's arrival gets in all the same."""
    pool = {"pool": "a"}
    start = cluster(
        node("n0", "4"),
        node("n1", "4", labels=pool),
        node("n2", "2"),
        node("n3", "4", labels=pool),
        pod("first-0", "3", node="n0"),
        pod("leaver-0", "2", node="n1"),
        pod("guest-0", "1", node="n3", node_selector=(("pool", "a"),)),
        pod("fill-0", "2500m", node="n3"),
        pod("big-0", "4"),
        pod("odd-0", "1500m", node_selector=(("kubernetes.io/hostname", "n3"),)),
        *(workload(name, 1) for name in ("first", "leaver", "guest", "fill", "big", "odd")),
    )
    world = World(start)
    plan = plan_of(
        start,
        [("leaver-0", "n2", 1), ("guest-0", "n1", 1), ("first-0", "n1", 2)],
        [("odd-0", "n3", 1), ("big-0", "n0", 2)],
    )
    result = executor(world).carry_out(plan)
    assert outcomes(result) == {
        "leaver-0": ("Landed", "n2"),
        "guest-0": ("Landed", "n1"),
        "first-0": ("Landed", "n1"),
        "odd-0": ("Landed", "n3"),
        "big-0": ("Landed", "n0"),
    }
    assert world.leftovers() == []


def test_a_pod_that_could_throw_others_out_finds_its_own_placeholder_gone() -> None:
    """Kept out by its own placeholder, a replacement of high priority would preempt; so its room is opened first."""
    start = chained()
    important = structs.replace(
        start.pod_by_key["default/mid-0"],
        spec=structs.replace(start.pod_by_key["default/mid-0"].spec, priority=100, priority_class_name="high"),
    )
    others = [item for item in start.pods if item.name != "mid-0"]
    start = cluster(*start.nodes, *others, important, *start.workloads)
    world = World(start)
    result = executor(world).carry_out(chain(start))
    acts = [(write.verb, write.name) for write in world.writes]
    own = next(act for act in acts if act[0] == "delete" and act[1].endswith("-2"))
    assert acts.index(own) < acts.index(("create", "mid-0"))
    assert outcomes(result)["mid-0"] == ("Landed", "n1")


def test_a_replacement_that_comes_back_to_its_origin_stops_the_plan_when_the_rest_does_not_prove() -> None:
    """Without holds the room is taken again: the plan ends there, and no further pod is moved in vain."""
    start = fragmented()
    world = World(start)
    plan = plan_of(start, [("web-00", "n1", 1), ("web-01", "n2", 2)], [("big-0", "n0", 2)])

    def proof(fresh: Cluster, rest: Plan) -> list[Violation]:
        room = 4 - sum(item.node_name == "n0" for item in fresh.pods)
        return [] if room + len(rest.moves) >= 2.5 else against("n0 has no room for big-0")

    result = executor(world, guidance="Predict", proof=proof).carry_out(plan)
    assert "web-01" not in world.evicted or outcomes(result)["web-00"][1] != "n0"
    assert outcomes(result)["big-0"][0] in ("NotAttempted", "Unknown")
    assert result.message


def test_two_pods_that_share_a_node_come_in_one_after_the_other() -> None:
    """The room of the second is not there yet when the first comes, so its placeholder stands back; both get in."""
    start = cluster(
        *(node(f"n{number}", "4", "8Gi") for number in range(3)),
        *(pod(f"web-{n}{i}", "1", "2Gi", node=f"n{n}", owner="web") for n in range(3) for i in range(3)),
        pod("tall-0", "500m", "4Gi"), pod("wide-0", "2", "1Gi"),
        workload("web", 9), workload("tall", 1), workload("wide", 1),
    )  # fmt: skip
    world = World(start)
    plan = plan_of(start, [("web-00", "n1", 1), ("web-01", "n2", 2)], [("tall-0", "n0", 1), ("wide-0", "n0", 2)])
    result = executor(world).carry_out(plan)
    assert outcomes(result)["tall-0"] == ("Landed", "n0")
    assert outcomes(result)["wide-0"] == ("Landed", "n0")
    assert not world.read().pending_pods
    assert world.leftovers() == []
