"""What a DeschedulerPolicy chose is carried out on a simulated cluster, through our own gate, executor and ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.composition.foretelling import improve
from rescheduler.composition.live.carrying_out import executor_for
from rescheduler.composition.live.descheduling import ChosenVictims, PlannedEnds, ways_of
from rescheduler.composition.live.ledgers import Ledgers
from rescheduler.descheduler.carrying_out.steps import plan_to_carry_out, tell_waiting, told
from rescheduler.descheduler.foretelling import foretold_plan
from rescheduler.descheduler.own_rules import OwnRules
from rescheduler.descheduler.reading.policy_file import read_descheduler_policy
from rescheduler.execution.ledger.private_ledger import PrivateLedger
from rescheduler.execution.run.executor import Executor
from rescheduler.extension_points import (
    NOTHING_EARLIER,
    EvictionAnswer,
    HearMoves,
    LedgerStore,
    no_progress,
    nobody_hears,
)
from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod_detail import ContainerDetail, PodDetail
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.foretold_plan import ForetoldResult
from rescheduler.model.plan.move_change import MoveChange
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Landing, OutcomeKind, Plan, PlanResult
from rescheduler.policy.fields.policy import Guidance, Policy
from rescheduler.scheduling.schedulers import DEFAULTS
from tests.builders import cluster, node, pod, taint, workload
from tests.unit.disruption.cases import policy
from tests.unit.disruption.surge_cases import deployment, tight_budget
from tests.unit.execution.worlds import World

POLICY = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
evictionFailureEventNotification: true
profiles:
- name: p
  pluginConfig: [{name: PLUGIN, args: ARGS}]
  plugins: {deschedule: {enabled: [PLUGIN]}}
"""
PREDICT = Policy().model_copy(update={"guidance": Guidance.PREDICT})


def executor_of(
    chosen: ChosenVictims, world: World | SimulatedCluster, store: LedgerStore, plan: Plan, hear_moves: HearMoves
) -> Executor:
    """As ``apply`` makes it."""
    return executor_for(
        world, world.clock, chosen.policy, chosen.selection, chosen.schedulers, 600.0, no_progress,
        Ledgers(store, None), plan, "run", hear_moves, ways_of(chosen),
    )  # fmt: skip


class Carried:
    """A cycle carried out; ``ledger``: what was written down."""

    def __init__(self, start: Cluster, plugin: str, arguments: str = "{}", **script: list[EvictionAnswer]) -> None:
        written = read_descheduler_policy(POLICY.replace("PLUGIN", plugin).replace("ARGS", arguments), "d.yaml")
        self.world = World(start)
        self.world.script = list(script.get("script", ()))
        self.store = PrivateLedger()
        seen = self.world.read()
        foretold = foretold_plan(seen, written, DEFAULTS, OwnRules(PREDICT))
        chosen = ChosenVictims(written, PREDICT, Selection(), DEFAULTS)
        self.changes: list[MoveChange] = []
        going = plan_to_carry_out(foretold)
        executor = executor_of(chosen, self.world, self.store, going, self.changes.append)
        tell_waiting(foretold, self.changes.append, self.world.clock)
        self.result: ForetoldResult = told(foretold, executor.carry_out(going))

    def states(self, name: str) -> list[str]:
        """How far the move of a pod came, step by step."""
        return [change.state.value for change in self.changes if change.pod.name == name]

    @property
    def outcomes(self) -> dict[str, tuple[OutcomeKind, str | None]]:
        """What became of each move."""
        return {move.pod.name: (move.outcome, move.landed_on) for move in self.result.moves}

    @property
    def told(self) -> list[tuple[str, str]]:
        """Events of ours: reason and pod."""
        return [(event.reason, event.pod) for event in self.world.events if event.reason.startswith(("Remove", "Pod"))]


def tainted(*others: object, count: int = 2, **fields: object) -> Cluster:
    """A node whose taint its pods do not tolerate."""
    pods = [pod(f"web-{number}", node="a", owner="web", **fields) for number in range(count)]
    return cluster(node("a", taints=[taint("x")]), *pods, workload("web", count), *others)


def test_victims_leave_wave_by_wave_and_land_as_foretold() -> None:
    """One of two replicas at a time; an Event under the plugin's name stands on each; the ledger knows both."""
    done = Carried(tainted(node("b", cpu="8")), "RemovePodsViolatingNodeTaints")
    assert done.outcomes == {"web-0": (OutcomeKind.LANDED, "b"), "web-1": (OutcomeKind.LANDED, "b")}
    assert done.result.message == ""
    assert done.told == [
        ("RemovePodsViolatingNodeTaints", "default/web-0"),
        ("RemovePodsViolatingNodeTaints", "default/web-1"),
    ]
    entries = done.store.read().ledger.entries
    assert [(entry.pod.name, entry.objective) for entry in entries] == [
        ("web-0", "RemovePodsViolatingNodeTaints"),
        ("web-1", "RemovePodsViolatingNodeTaints"),
    ]
    assert all(entry.state is not EntryState.FAILED for entry in entries)


def test_whose_replacement_would_wait_is_not_evicted() -> None:
    """The other node takes one of them only."""
    done = Carried(tainted(node("b", cpu="1")), "RemovePodsViolatingNodeTaints")
    assert done.outcomes == {"web-0": (OutcomeKind.LANDED, "b"), "web-1": (OutcomeKind.NOT_ATTEMPTED, None)}
    assert done.world.evicted == ["web-0"]
    assert "not evicted: " in done.result.moves[1].message
    assert "1 not evicted, since their replacements would wait" in done.result.message


def test_a_pod_that_comes_back_to_its_own_node_is_no_failure() -> None:
    """It was foretold so: the ledger holds nothing against the next one."""
    world = cluster(
        node("a", cpu="64", taints=[taint("x", effect="PreferNoSchedule")]),
        node("b", is_unschedulable=True),
        pod("web-0", node="a", owner="web"),
        pod("web-1", node="b", owner="web"),
        workload("web", 2),
    )
    done = Carried(world, "RemovePodsViolatingNodeTaints", "{includePreferNoSchedule: true}")
    assert done.outcomes == {"web-0": (OutcomeKind.LANDED, "a")}
    assert [move.landing for move in done.result.moves] == [Landing.SAME_NODE]
    assert all(entry.state is not EntryState.FAILED for entry in done.store.read().ledger.entries)


def test_finished_pods_go_without_ledger_and_waves() -> None:
    """They disturb nobody and nothing replaces them."""
    world = cluster(
        node("a"), node("b"), pod("web-0", node="a", owner="web", phase="Failed"),
        pod("job-0", node="a", owner="work", kind="Job", phase="Failed"), workload("web", 1),
    )  # fmt: skip
    done = Carried(world, "RemoveFailedPods")
    assert done.outcomes == {"web-0": (OutcomeKind.LANDED, None), "job-0": (OutcomeKind.LANDED, None)}
    assert sorted(done.world.evicted) == ["job-0", "web-0"]
    assert done.store.read().ledger.entries == ()


def test_people_may_keep_a_finished_pod() -> None:
    """The mark that keeps running pods keeps it too."""
    kept = pod("web-0", node="a", owner="web", phase="Failed", annotations={"rescheduler.dev/do-not-evict": "true"})
    done = Carried(cluster(node("a"), node("b"), kept, workload("web", 1)), "RemoveFailedPods")
    assert done.result.moves == ()
    assert [refusal.rule for refusal in done.result.refusals] == ["DoNotEvict"]
    assert done.world.evicted == []


def test_an_eviction_that_fails_stops_the_plan_and_is_told_of() -> None:
    """The API server's no ends it; nobody else goes. A Warning stands on the pod, once."""
    no = EvictionAnswer("Forbidden", "not today")
    done = Carried(tainted(node("b", cpu="8")), "RemovePodsViolatingNodeTaints", script=[no])
    assert done.outcomes == {"web-0": (OutcomeKind.REFUSED, None), "web-1": (OutcomeKind.NOT_ATTEMPTED, None)}
    assert done.world.evicted == []
    assert [event.pod for event in done.world.events if event.reason == "EvictionFailed"] == ["default/web-0"]


def test_each_step_of_a_victim_is_told() -> None:
    """As of every other plan; who would wait is dropped, and a finished pod has no replacement to tell of."""
    done = Carried(tainted(node("b", cpu="1")), "RemovePodsViolatingNodeTaints")
    steps = done.states("web-0")
    assert (steps[0], steps[-1]) == ("planned", "settled")
    assert "evicted" in steps
    assert done.states("web-1") == ["planned", "dropped"]
    failed = pod("web-0", node="a", owner="web", phase="Failed")
    done = Carried(cluster(node("a"), node("b"), failed, workload("web", 1)), "RemoveFailedPods")
    assert done.states("web-0") == ["planned", "permitted", "evicted", "settled"]
    assert {change.to_node for change in done.changes} == {None}


class CarriedForEnds:
    """A plan for the ends of a file, carried out; ``disturb``: what happens between planning and acting."""

    def __init__(
        self, start: Cluster, plugin: str, arguments: str = "{}", disturb: Callable[[World], None] = lambda _: None
    ) -> None:
        written = read_descheduler_policy(POLICY.replace("PLUGIN", plugin).replace("ARGS", arguments), "d.yaml")
        self.world = World(start)
        self.store = PrivateLedger()
        self.changes: list[MoveChange] = []
        self.plan: Plan = improve(
            self.world.read(), written, PREDICT, selection=Selection(), schedulers=DEFAULTS, earlier=NOTHING_EARLIER
        )
        disturb(self.world)
        ends = PlannedEnds(written, PREDICT, Selection(), DEFAULTS)
        executor = executor_of(ends, self.world, self.store, self.plan, self.changes.append)
        self.result: PlanResult = executor.carry_out(self.plan)


def test_an_improved_plan_is_carried_out_with_finished_pods_first() -> None:
    """In its waves, with the plugin's name in the ledger and on an Event; nobody comes back to its node."""
    old = [pod(f"web-{number}", node="a", owner="web") for number in range(2)]
    failed = pod("done-0", node="a", owner="done", phase="Failed")
    world = cluster(
        node("a"), node("b", cpu="8"), node("c", cpu="8"), *old, failed, workload("web", 2), workload("done", 1)
    )
    done = CarriedForEnds(world, "PodLifeTime", "{maxPodLifeTimeSeconds: 1}")
    assert [(move.pod.name, move.wave) for move in done.plan.moves] == [("done-0", 1), ("web-0", 2), ("web-1", 3)]
    first, *others = done.result.moves
    assert (first.pod.name, first.wave, first.outcome, first.landed_on) == ("done-0", 1, OutcomeKind.LANDED, None)
    assert [(move.pod.name, move.wave) for move in others] == [("web-0", 2), ("web-1", 3)]
    assert sorted(move.landed_on or "" for move in others) == ["b", "c"]
    assert done.world.evicted == ["done-0", "web-0", "web-1"]
    assert {entry.objective for entry in done.store.read().ledger.entries} == {"PodLifeTime"}
    assert [event.pod for event in done.world.events if event.reason == "PodLifeTime"] == [
        "default/done-0", "default/web-0", "default/web-1",
    ]  # fmt: skip
    assert [change.state.value for change in done.changes if change.pod.name == "web-1"][-1] == "settled"


def test_an_improved_plan_is_proven_anew_before_it_acts() -> None:
    """Where the only destination went meanwhile nobody is evicted."""

    def lose(world: World) -> None:
        world.remove_node("b")

    done = CarriedForEnds(tainted(node("b", cpu="8")), "RemovePodsViolatingNodeTaints", disturb=lose)
    assert len(done.plan.moves) == 2
    assert done.world.evicted == []
    assert {move.outcome for move in done.result.moves} <= {OutcomeKind.NOT_ATTEMPTED, OutcomeKind.REFUSED}
    assert done.result.message


def test_pods_that_are_not_ready_go_where_their_state_was_the_reason() -> None:
    """Planner, proof and gate agree about that."""
    bad = pod("bad-0", node="a", owner="bad", is_ready=False)
    other = pod("bad-1", node="b", owner="bad")
    world = cluster(node("a"), node("b", cpu="8"), node("c", cpu="8"), bad, other, workload("bad", 2))
    world = replace(world, pod_details={"default/bad-0": PodDetail(containers=(ContainerDetail(restart_count=9),))})
    done = CarriedForEnds(world, "RemovePodsHavingTooManyRestarts", "{podRestartThreshold: 5}")
    assert done.world.evicted == ["bad-0"]
    assert [(move.outcome, move.landed_on) for move in done.result.moves] == [(OutcomeKind.LANDED, "c")]


def test_an_improved_plan_moves_by_surge_where_the_policy_beside_says_so() -> None:
    """Single replicas under budgets that allow no eviction: the replacement is Ready before the old one goes."""
    objects = [item for name in "ab" for item in deployment(name, ["n1"])]
    budgets = [tight_budget(name, 1) for name in "ab"]
    start = cluster(node("n1", taints=[taint("x")]), node("n2", cpu="8"), *objects, *budgets, network_policies=())
    beside = policy(disruption={"moveBy": [{"method": "Surge"}]})
    plugin = POLICY.replace("PLUGIN", "RemovePodsViolatingNodeTaints").replace("ARGS", "{}")
    written = read_descheduler_policy(plugin, "d.yaml")
    world = SimulatedCluster(start, seed=0, schedulers=DEFAULTS)
    plan = improve(world.read(), written, beside, selection=Selection(), schedulers=DEFAULTS, earlier=NOTHING_EARLIER)
    ends = PlannedEnds(written, beside, Selection(), DEFAULTS)
    ledger = SimulatedLedger(world.clock, NOTHING_EARLIER.ledger)
    result = executor_of(ends, world, ledger, plan, nobody_hears).carry_out(plan)
    assert [(move.method, move.outcome, move.landed_on) for move in result.moves] == [
        (MoveMethod.SURGE, OutcomeKind.LANDED, "n2")
    ] * 2
