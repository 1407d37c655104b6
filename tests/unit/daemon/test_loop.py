"""The daemon's loop: when a round runs, who hears of it, and what it survives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.loop import BEAT_SECONDS, FIRST_PATIENCE_SECONDS, SHORTEST_SECONDS, WATCH_SECONDS, Loop, Parts
from rescheduler.daemon.policies.policy_runtime import PolicyRuntime
from rescheduler.daemon.rounds.trying_first import TryingRunner
from rescheduler.daemon.rounds.world import RoundContext as Surroundings
from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.notices import Fault, Notice, ObjectsSetAside, PolicyLoaded, RoundEnded, TriggerFired
from rescheduler.model.daemon.rounds import FIRST_TRY, AutoscalerNotice, Occasion, RoundReport, RoundRequest, Sight
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.set_aside import SetAside
from rescheduler.model.plan.plan import Plan, reference_to
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.policy.fields.policy import Disruption, Mode, Policy, Workloads
from rescheduler.scheduling.schedulers import DEFAULTS
from tests.builders import node
from tests.unit.execution.worlds import World, fragmented


@dataclass
class Asker:
    """Asks for a round once for each reason it is given; ``due``: when it wants to be woken."""

    reasons: list[str] = field(default_factory=list)
    due: float | None = None
    place: int = 0
    sights: list[Sight] = field(default_factory=list)
    reports: list[RoundReport] = field(default_factory=list)

    def look(self, sight: Sight, now: float | None = None) -> Sequence[Occasion]:
        """The next reason."""
        self.sights.append(sight)
        if not self.reasons:
            return []
        reason = self.reasons.pop(0)
        trigger = FIRST_TRY if reason == FIRST_TRY else "Schedule"
        pods = tuple(map(reference_to, sight.cluster.pending_pods)) if trigger == FIRST_TRY else ()
        return [Occasion(trigger, reason, sight.cluster.taken_at, pods=pods, place=self.place)]

    def wake_at(self, now: float) -> float | None:
        """As given."""
        return self.due

    def answered(self, report: RoundReport) -> None:
        """Keep the report."""
        self.reports.append(report)


class Handed:
    """Counts rounds that were handed over."""

    def __init__(self) -> None:
        self.after_rounds: list[int] = []
        self.looks, self.kept, self.ends = 0, 0, 0

    def look(self, cluster: Cluster, notices: Sequence[AutoscalerNotice] = ()) -> None:
        """Count."""
        self.looks += 1

    def keep(self) -> None:
        """Count."""
        self.kept += 1

    def end(self) -> None:
        """Count."""
        self.ends += 1

    def after(self, report: RoundReport, cluster: Cluster) -> None:
        """Count."""
        self.after_rounds.append(report.number)


class NoLoad:
    """Measures nothing."""

    def windows(self, cluster: Cluster) -> UsageWindows | None:
        """Nothing."""
        return None

    def stop(self) -> None:
        """Nothing to stop."""


class Stage:
    """A loop over the simulated cluster, with everything around it in the test's hand."""

    def __init__(self, **policy: Any) -> None:
        self.world = World(fragmented())
        self.asker = Asker()
        self.handed = Handed()
        self.heard: list[Notice] = []
        self.proposed: list[tuple[str, Plan]] = []
        self.approved: tuple[str, Plan, str] | None = None
        self.published: list[Cluster] = []
        self.requests: list[RoundRequest] = []
        self.generation = 1
        self.is_leader = True
        self.stopping: str | None = None
        self.stirred_at: float | None = None
        self.snapshot: Callable[[], Cluster] = self.world.read
        self.next_runtime: PolicyRuntime | None = None
        self.waits: list[float] = []
        self.rests: list[float] = []
        self.loop = Loop(self._parts(), self.runtime(**policy))

    def runtime(self, **policy: Any) -> PolicyRuntime:
        """What a policy makes of it."""
        found = Policy.model_validate({"mode": Mode.EXECUTE, **policy})
        around = Surroundings(self.world, SimulatedLedger(self.world.clock), self.world.clock)

        def plan(cluster: Cluster, *_: Any) -> Plan:
            return make_plan(cluster, found, CycleOptions(self.world.clock))

        rounds = TryingRunner(around, found, plan, plan_first=plan)
        return PolicyRuntime(found, "abc", DEFAULTS, rounds, self.asker, self.handed, NoLoad(), self._values)

    def _values(self, cluster: Cluster) -> Mapping[str, float]:
        return {"MakeRoom": float(len(cluster.pending_pods))}

    def _parts(self) -> Parts:
        return Parts(
            kept=self,
            steering=self,
            listener=self,
            clock=self.world.clock,
            stopping=lambda: self.stopping,
            wait=self._wait,
            beat=lambda: None,
            leads=lambda: self.is_leader,
            requests=self._taken,
            notices=lambda: (),
            changed=lambda _: self._changed(),
            stirred_at=lambda: self.stirred_at,
        )

    def _wait(self, longest: float, rest: float) -> None:
        self.waits.append(longest)
        self.rests.append(rest)
        self.world.clock.sleep(longest)

    def _taken(self) -> tuple[RoundRequest, ...]:
        taken, self.requests = tuple(self.requests), []
        return taken

    def _changed(self) -> PolicyRuntime | None:
        found, self.next_runtime = self.next_runtime, None
        return found

    def hear(self, notice: Notice) -> None:
        """Remember."""
        self.heard.append(notice)

    def publish(self, cluster: Cluster) -> None:
        """Remember."""
        self.published.append(cluster)

    def propose(self, plan_id: str, plan: Plan, now: float) -> None:
        """Remember."""
        self.proposed.append((plan_id, plan))

    def approved_plan(self) -> tuple[str, Plan, str] | None:
        """Once."""
        found, self.approved = self.approved, None
        return found

    def rounds(self) -> list[RoundReport]:
        """Reports of all rounds so far."""
        return [notice.report for notice in self.heard if isinstance(notice, RoundEnded)]


def test_nodes_that_vanish_between_two_rounds_keep_the_next_one_from_acting() -> None:
    """One snapshot shows nodes that came, but none that went: the loop remembers them, leader or not."""
    stage = Stage(health={"settle": "5m", "headRoom": "0%"})
    stage.is_leader = False
    before = stage.world.read()
    stage.snapshot = lambda: replace(before, nodes=(*before.nodes, *(node(f"gone-{number}") for number in range(3))))
    stage.loop.step()
    stage.snapshot = stage.world.read
    stage.world.clock.sleep(60.0)
    stage.is_leader, stage.generation, stage.asker.reasons = True, 2, ["every 5m"]
    stage.loop.step()
    (report,) = stage.rounds()
    assert "came or went within the last 5m" in report.reason
    assert report.is_held


def test_whoever_leads_clears_up_without_any_trigger() -> None:
    """At the first step as leader, and again a while later; what goes wrong is told once for as long as it lasts."""
    stage = Stage()
    stage.is_leader = False
    cleared: list[Cluster] = []
    stage.loop.runtime.rounds.clear_up = cleared.append  # type: ignore[method-assign]
    stage.loop.step()
    assert cleared == []
    stage.is_leader = True
    for _ in range(3):
        stage.loop.step()
    assert len(cleared) == 1
    stage.world.clock.sleep(WATCH_SECONDS)
    stage.loop.step()
    assert len(cleared) == 2

    def fails(_: Cluster) -> None:
        raise ClusterError("no right to patch pods")

    stage.loop.runtime.rounds.clear_up = fails  # type: ignore[method-assign]
    for _ in range(2):
        stage.world.clock.sleep(WATCH_SECONDS)
        stage.loop.step()
    assert [notice.message for notice in stage.heard if isinstance(notice, Fault)] == ["no right to patch pods"]


def test_no_trigger_no_round() -> None:
    """Looking alone changes nothing."""
    stage = Stage()
    stage.loop.step()
    assert stage.published
    assert stage.rounds() == []
    assert stage.world.evicted == []


def test_a_trigger_makes_a_round_that_says_which_one_fired() -> None:
    """The pending pod gets its room; trigger, listeners and the autoscaler's side hear of the same report."""
    stage = Stage()
    stage.asker.reasons = ["every 5m"]
    stage.loop.step()
    (report,) = stage.rounds()
    assert [occasion.reason for occasion in report.occasions] == ["every 5m"]
    assert report.result is not None
    assert report.reason == ""
    assert set(report.seconds) == {"look", "plan", "carryOut"}
    assert stage.world.pod("big-0").node_name is not None
    assert stage.asker.reports == [report]
    assert stage.handed.after_rounds == [1]
    assert any(isinstance(notice, TriggerFired) for notice in stage.heard)


def test_a_first_try_comes_before_the_round_that_is_due_and_hands_nothing_over() -> None:
    """It is of use in this moment alone; what it leaves is asked for by whoever sees the pods themselves."""
    stage = Stage(disruption=Disruption(workloads=Workloads(max_unavailable=4)))
    stage.is_leader = False
    stage.asker.reasons = ["hourly"]
    stage.loop.step()
    stage.is_leader, stage.generation, stage.asker.reasons = True, 2, [FIRST_TRY]
    stage.loop.step()
    (report,) = stage.rounds()
    assert [occasion.trigger for occasion in report.occasions] == [FIRST_TRY]
    assert stage.world.pod("big-0").node_name is not None
    assert stage.handed.after_rounds == []
    stage.loop.step()
    assert [report.occasions[0].reason for report in stage.rounds()] == [FIRST_TRY, "hourly"]


def test_a_look_says_how_long_ago_the_one_before_was() -> None:
    """Changed or not the cluster: what is new now was not there then. Where it is known when it stirred, since then."""
    stage = Stage()
    stage.loop.step()
    assert stage.asker.sights[-1].unseen_for == float("inf")
    for _ in range(3):
        stage.world.clock.sleep(2)
        stage.loop.step()
    stage.world.clock.sleep(0.5)
    stage.generation += 1
    stage.loop.step()
    assert len(stage.asker.sights) == 2
    assert stage.asker.sights[-1].unseen_for == pytest.approx(0.5, abs=0.01)
    stage.world.clock.sleep(0.9)
    stage.stirred_at = stage.world.clock.monotonic() - 0.2
    stage.generation += 1
    stage.loop.step()
    assert stage.asker.sights[-1].unseen_for == pytest.approx(0.2, abs=0.01)


def test_two_triggers_of_one_name_are_both_told_of() -> None:
    """A nightly and an hourly schedule, say; one that asks twice before its round counts once."""
    stage = Stage()
    stage.is_leader = False
    for place, reason in ((0, "hourly"), (1, "nightly"), (0, "hourly, again")):
        stage.asker.reasons, stage.asker.place = [reason], place
        stage.generation += 1
        stage.loop.step()
    stage.is_leader = True
    stage.loop.step()
    (report,) = stage.rounds()
    assert [occasion.reason for occasion in report.occasions] == ["hourly, again", "nightly"]


def test_an_unchanged_cluster_is_not_looked_at_again() -> None:
    """Until a trigger wants to be woken, somebody asks, or something changes."""
    stage = Stage()
    for _ in range(3):
        stage.loop.step()
    assert len(stage.asker.sights) == 1
    stage.generation += 1
    stage.loop.step()
    assert len(stage.asker.sights) == 2
    stage.asker.due = stage.world.clock.now() - 1
    stage.loop.step()
    assert len(stage.asker.sights) == 3
    stage.asker.due = None
    stage.requests = [RoundRequest(0.0, "REST", "alice")]
    stage.loop.step()
    assert [request.who for request in stage.asker.sights[-1].requests] == ["alice"]


def test_a_follower_runs_no_round_and_does_not_forget_why() -> None:
    """What was asked for while somebody else led is done, once, by whoever leads then."""
    stage = Stage()
    stage.is_leader = False
    stage.asker.reasons = ["first", "second"]
    stage.loop.step()
    stage.generation += 1
    stage.loop.step()
    assert stage.rounds() == []
    assert not any(isinstance(notice, TriggerFired) for notice in stage.heard)
    stage.is_leader = True
    stage.loop.step()
    (report,) = stage.rounds()
    assert [occasion.reason for occasion in report.occasions] == ["second"]
    told = [notice.occasion.reason for notice in stage.heard if isinstance(notice, TriggerFired)]
    assert told == ["second"], "told once, by whoever runs it"


def test_a_freeze_holds_the_round_and_it_is_tried_again() -> None:
    """What was asked for is done once the cause is gone, without being asked again."""
    stage = Stage()
    for number in range(3):
        stage.world.put(node(f"down-{number}", "4", is_ready=False))
    stage.asker.reasons = ["once"]
    stage.loop.step()
    assert stage.rounds()[-1].is_held
    stage.loop.step()
    assert len(stage.rounds()) == 1  # not at once
    for number in range(3):
        stage.world.put(node(f"down-{number}", "1m"))
    for _ in range(20):
        stage.world.clock.sleep(120)
        stage.loop.step()
    assert stage.rounds()[-1].reason == ""
    assert stage.world.pod("big-0").node_name is not None
    count = len(stage.rounds())
    stage.world.clock.sleep(1200)
    stage.loop.step()
    assert len(stage.rounds()) == count


def test_the_wait_for_a_freeze_grows() -> None:
    """A frozen cluster is not planned for every second."""
    stage = Stage()
    for number in range(3):
        stage.world.put(node(f"down-{number}", "4", is_ready=False))
    stage.asker.reasons = ["once"]
    for _ in range(int(20 * FIRST_PATIENCE_SECONDS)):
        stage.loop.step()
        stage.world.clock.sleep(1)
    assert 4 <= len(stage.rounds()) <= 8


def test_dry_run_reports_and_writes_nothing() -> None:
    """The report carries the plan, and says that it was a dry run."""
    stage = Stage(mode=Mode.DRY_RUN)
    stage.asker.reasons = ["once"]
    stage.loop.step()
    (report,) = stage.rounds()
    assert report.is_dry_run
    assert report.plan is not None
    assert report.plan.moves
    assert not report.is_held
    assert list(stage.world.writes) == []
    assert stage.proposed == []


def test_under_approve_the_plan_waits_and_is_carried_out_once_approved() -> None:
    """Nothing is evicted before a person says yes; then exactly that plan is carried out, and the report names him."""
    stage = Stage(mode=Mode.APPROVE)
    stage.asker.reasons = ["once"]
    stage.loop.step()
    assert stage.world.evicted == []
    ((plan_id, plan),) = stage.proposed
    stage.approved = (plan_id, plan, "alice")
    stage.loop.step()
    report = stage.rounds()[-1]
    assert (report.plan_id, report.approved_by) == (plan_id, "alice")
    assert report.reason == ""
    assert stage.world.evicted == [move.pod.name for move in plan.moves]
    assert len(stage.proposed) == 1


def test_a_cluster_that_cannot_be_read_is_told_once() -> None:
    """And looked at again, until it can be."""
    stage = Stage()

    def broken() -> Cluster:
        raise ClusterError("watches have stopped")

    stage.snapshot = broken
    for _ in range(3):
        stage.loop.step()
    assert [notice.message for notice in stage.heard if isinstance(notice, Fault)] == ["watches have stopped"]
    stage.snapshot = stage.world.read
    stage.asker.reasons = ["once"]
    stage.loop.step()
    assert stage.rounds()


def test_a_fault_does_not_end_the_loop() -> None:
    """It is told, and the loop goes on a little later, until it is asked to stop."""
    stage = Stage()
    calls = []

    def failing(sight: Sight, now: float | None = None) -> Sequence[Occasion]:
        calls.append(sight)
        stage.generation += 1
        if len(calls) == 3:
            stage.stopping = "SIGTERM"
        raise RuntimeError("by accident")

    stage.asker.look = failing  # type: ignore[method-assign]
    assert stage.loop.run() == "SIGTERM"
    assert len(calls) == 3
    faults = [notice.message for notice in stage.heard if isinstance(notice, Fault)]
    assert len(faults) == 3
    assert all(fault.startswith("RuntimeError in ") and fault.endswith(": by accident") for fault in faults)


def test_another_policy_takes_over_between_rounds() -> None:
    """It is told of, and the next round runs under it."""
    stage = Stage()
    stage.next_runtime = stage.runtime(mode=Mode.DRY_RUN)
    stage.asker.reasons = ["once"]
    stage.loop.step()
    assert stage.rounds()[-1].is_dry_run
    assert stage.world.evicted == []
    assert [notice.mode for notice in stage.heard if isinstance(notice, PolicyLoaded)] == ["DryRun"]


def test_what_is_kept_for_an_autoscaler_is_renewed_though_nothing_changes_and_ends_with_the_loop() -> None:
    """A quiet cluster is not looked at again; what stands there has its time all the same."""
    stage = Stage()
    for _ in range(3):
        stage.loop.step()
    assert (stage.handed.looks, stage.handed.kept, stage.handed.ends) == (1, 3, 0)
    stage.stopping = "SIGTERM"
    assert stage.loop.run() == "SIGTERM"
    assert stage.handed.ends == 1


def test_a_single_round_runs_at_once_and_ends() -> None:
    """For a job: whatever the triggers say."""
    stage = Stage()
    loop = Loop(stage._parts(), stage.runtime(), only=Occasion("OnDemand", "asked for", 0.0))
    assert loop.run() == "done"
    (report,) = stage.rounds()
    assert [occasion.reason for occasion in report.occasions] == ["asked for"]
    assert stage.world.pod("big-0").node_name is not None


def test_a_long_round_does_not_make_it_look_less_often() -> None:
    """Only looking counts; a plan that took minutes to carry out is followed by the next look at once."""
    stage = Stage()
    stage.asker.reasons = ["once"]
    run_once = stage.loop.runtime.rounds.run_once

    def slow() -> Any:
        stage.world.clock.sleep(300)
        return run_once()

    stage.loop.runtime.rounds.run_once = slow  # type: ignore[method-assign]
    waits: list[tuple[float, float]] = []
    wait = stage.loop._parts.wait

    def stopping(longest: float, rest: float) -> None:
        waits.append((longest, rest))
        stage.stopping = "SIGTERM"
        wait(longest, rest)

    object.__setattr__(stage.loop._parts, "wait", stopping)
    stage.loop.run()
    assert stage.rounds()
    assert waits == [(BEAT_SECONDS, SHORTEST_SECONDS)]


def test_looking_takes_a_small_share_of_the_time() -> None:
    """A large cluster whose snapshot takes two seconds is looked at every twenty."""
    stage = Stage()

    def slow() -> Cluster:
        stage.world.clock.sleep(2)
        stage.generation += 1
        if len(stage.waits) == 3:
            stage.stopping = "SIGTERM"
        return stage.world.read()

    stage.snapshot = slow
    stage.loop.run()
    assert all(wait >= 19 for wait in stage.waits)
    assert all(rest >= 7 for rest in stage.rests), "sooner where the cluster stirs, and not all the time either"


def test_a_trigger_is_asked_when_its_time_comes() -> None:
    """Not at the next beat; one that wants to be asked at once, time and again, is asked at each beat."""
    stage = Stage()
    stage.loop.step()
    now = stage.world.clock.now()
    for due, wanted in ((None, 1.0), (now + 0.25, 0.25), (now + 60, 1.0), (now - 5, 1.0)):
        stage.asker.due = due
        longest, rest = stage.loop._pace()
        assert longest == pytest.approx(wanted, abs=0.002)
        assert rest == SHORTEST_SECONDS


def test_what_cannot_be_counted_is_told_once() -> None:
    """Again only when it is another object, or something else is wrong with it; and the rounds go on."""
    stage = Stage()
    first, other = (SetAside("Pod", "team", name, "", "is out of range", "it is left out") for name in ("huge", "vast"))
    for aside in ((first,), (first,), (first, other), (), (first,)):
        stage.generation += 1
        stage.snapshot = lambda aside=aside: replace(stage.world.read(), set_aside=aside)
        stage.loop.step()
    told = [notice.objects for notice in stage.heard if isinstance(notice, ObjectsSetAside)]
    assert told == [(first,), (other,), (first,)]
