"""Tests of what is handed over to an autoscaler, and of what is taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.autoscaler.handing_over import HandOver
from rescheduler.extension_points import CapacityTarget, ClusterError, HoldRequest
from rescheduler.model.daemon.capacity import CAPACITY, EMPTIED, OFFERING, CapacityRequest, StandingRequest
from rescheduler.model.daemon.notices import CapacityRequested, Fault, NodesOffered, Notice
from rescheduler.model.daemon.rounds import AutoscalerNotice, RoundReport
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import is_leaving
from rescheduler.model.plan.plan import MoveOutcome, OutcomeKind, PlanResult, PodReference, SnapshotSummary
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster, node, pod, taint, workload
from tests.clocks import FakeClock


class FakeCapacity(CapacityTarget):
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        self.requests: dict[str, StandingRequest] = {}
        self.asked: list[CapacityRequest] = []
        self.offered: dict[str, tuple[str, float]] = {}
        self.holds: dict[str, HoldRequest] = {}
        self.problem: str | None = None
        self.failure = ""
        self.calls: list[str] = []

    def cannot(self, how: str) -> str | None:
        """Whatever the test says."""
        self.calls.append(f"cannot {how}")
        return self.problem

    def ask(self, request: CapacityRequest) -> None:
        """Keep it, or fail."""
        if self.failure:
            raise ClusterError(self.failure)
        self.asked.append(request)
        uids = tuple(item.uid for item in request.pods)
        self.requests[request.name] = StandingRequest(request.name, request.how, uids, NOW, request.expires_at)

    def standing(self, how: str) -> Sequence[StandingRequest]:
        """What was kept."""
        self.calls.append(f"standing {how}")
        return tuple(item for item in self.requests.values() if item.how == how)

    def withdraw(self, how: str, names: Sequence[str]) -> None:
        """Forget them."""
        for name in names:
            self.requests.pop(name, None)

    def offer(self, nodes: Sequence[str], how: str, until: float) -> None:
        """Keep the marks."""
        self.offered.update((name, (how, until)) for name in nodes)

    def hold(self, requests: Sequence[HoldRequest]) -> None:
        """Keep them, or fail."""
        if self.failure:
            raise ClusterError(self.failure)
        self.holds.update((item.name, item) for item in requests)

    def renew(self, requests: Sequence[HoldRequest]) -> Sequence[str]:
        """Count; names of those that do not stand."""
        self.calls.append("renew")
        return [item.name for item in requests if item.name not in self.holds]

    def release(self, names: Sequence[str]) -> None:
        """Forget them."""
        for name in names:
            self.holds.pop(name, None)

    def take_back(self, nodes: Sequence[str]) -> None:
        """Forget the marks."""
        self.calls.append(f"take back {' '.join(nodes)}")
        for name in nodes:
            self.offered.pop(name, None)


class Desk:
    """A hand-over with a fake target, and what it has told."""

    def __init__(self, **policy: Any) -> None:
        given = {"mode": "Execute", "disruption": {"workloads": {"max_unavailable": 5}}, **policy}
        self.policy = Policy.model_validate(given, strict=False)
        self.target = FakeCapacity()
        self.told: list[Notice] = []
        self.stopped: str | None = None
        self.clock = FakeClock()
        self.hand_over = HandOver(self.target, self.policy, self.clock, self.told.append, stopped=lambda: self.stopped)

    def round(self, world: Cluster, *notices: AutoscalerNotice, result: PlanResult | None = None) -> RoundReport:
        """A look and a round."""
        self.hand_over.look(world, notices)
        options = CycleOptions(
            FakeClock(), left=self.hand_over.left_to_autoscaler(world), waiting=self.hand_over.waiting(world)
        )
        plan = make_plan(world, self.policy, options)
        at = world.taken_at
        report = RoundReport(1, (), at, at, self.policy.mode.value, "id", plan=plan, result=result)
        self.hand_over.after(report, world)
        return report

    def asked(self) -> list[tuple[str, tuple[str, ...]]]:
        """What was told of room, by way and pods."""
        return [
            (item.how, tuple(sorted(one.name for one in item.pods)))
            for item in self.told
            if isinstance(item, CapacityRequested)
        ]

    def faults(self) -> list[str]:
        """What has failed."""
        return [item.message for item in self.told if isinstance(item, Fault)]


def full(*more: Any, at: float = NOW) -> Cluster:
    """A full node, and a pod that no rearrangement helps."""
    big = pod("big-0", "3", created_at=NOW - 60)
    return cluster(node("n1"), *(pod(f"web-{n}", "2", node="n1") for n in range(2)), big, *more, taken_at=at)


def triggered(name: str = "big-0", at: float = NOW) -> AutoscalerNotice:
    """A node is on its way for a pod."""
    message = "pod triggered scale-up: [{pool 1->2 (max: 3)}]"
    return AutoscalerNotice(at, "cluster-autoscaler", "TriggeredScaleUp", "Pod", "default", name, message)


def test_by_default_a_pod_is_left_to_the_autoscaler_and_told_of_once() -> None:
    """Nothing is asked of the cluster at all."""
    desk = Desk()
    desk.round(full())
    desk.round(full())
    assert desk.asked() == [("Leave", ("big-0",))]
    assert desk.target.calls == []
    assert desk.target.asked == []


def test_room_is_asked_for_once_and_taken_back_when_the_pod_has_its_place() -> None:
    """While it is awaited the pod is left alone."""
    desk = Desk(autoscaler={"scale_up": "Placeholders"})
    desk.round(full())
    desk.round(full(at=NOW + 20))
    assert desk.asked() == [("Placeholders", ("big-0",))]
    [request] = desk.target.asked
    assert (request.pods, request.expires_at) == ((PodReference("default", "big-0", "uid-default-big-0"),), NOW + 600)
    assert [(item.spec.requests, item.number) for item in request.shapes] == [(pod("big-0", "3").spec.requests, 1)]
    waiting = full(at=NOW + 30)
    [reason] = desk.hand_over.left_to_autoscaler(waiting).values()
    assert (
        reason == f"has room asked for by Placeholders {request.name}; waits for another 570s (policy: autoscaler.wait)"
    )
    placed = cluster(node("n1"), node("n2"), pod("big-0", "3", node="n2"), taken_at=NOW + 60)
    desk.hand_over.look(placed)
    assert desk.target.requests == {}
    assert desk.faults() == []


def test_pods_of_one_owner_are_asked_for_together_and_shapes_are_counted() -> None:
    """Others get a request of their own."""
    desk = Desk(autoscaler={"scale_up": "ProvisioningRequest"})
    desk.round(full(pod("big-1", "3"), pod("big-2", "3.5"), pod("other-0", "3", owner="other")))
    by_pods = {tuple(item.name for item in request.pods): request for request in desk.target.asked}
    assert set(by_pods) == {("big-0", "big-1", "big-2"), ("other-0",)}
    assert sorted(item.number for item in by_pods["big-0", "big-1", "big-2"].shapes) == [1, 2]
    assert len({request.name for request in desk.target.asked}) == 2


@pytest.mark.parametrize("mode", ["DryRun", "Approve"])
def test_nothing_is_written_in_any_other_mode(mode: str) -> None:
    """What would be left to the autoscaler is told."""
    desk = Desk(mode=mode, autoscaler={"scale_up": "Placeholders", "scale_down": "Taint"})
    desk.round(full(node("n2", taints=[taint(EMPTIED, "1")])))
    assert desk.asked() == [("Leave", ("big-0",))]
    assert (desk.target.calls, desk.target.asked) == ([], [])


def test_nothing_is_written_while_somebody_has_stopped_us() -> None:
    """Neither asked for nor taken back."""
    desk = Desk(autoscaler={"scale_up": "Placeholders"})
    desk.stopped = "maintenance"
    desk.round(full(node("n2", taints=[taint(EMPTIED, "1")])))
    assert (desk.target.calls, desk.target.asked, desk.asked()) == ([], [], [("Leave", ("big-0",))])


def test_what_is_not_to_be_had_is_told_once_and_the_pod_is_left() -> None:
    """As is a failure of the request itself; it is tried again in the next round."""
    desk = Desk(autoscaler={"scale_up": "CapacityBuffer"})
    desk.target.problem = "the API server does not serve capacitybuffers"
    desk.round(full())
    desk.round(full())
    assert desk.faults() == [
        "autoscaler.scaleUp: CapacityBuffer is not possible here: the API server does not serve capacitybuffers"
    ]
    assert desk.asked() == [("Leave", ("big-0",))]
    desk.target.problem, desk.target.failure = None, "the server said no"
    desk.round(full())
    desk.target.failure = ""
    desk.round(full())
    assert len(desk.target.asked) == 1
    assert desk.asked()[-1] == ("CapacityBuffer", ("big-0",))


def test_a_pod_that_gets_a_node_is_left_and_not_asked_for() -> None:
    """For ``wait`` at the most, then it is helped again."""
    desk = Desk(autoscaler={"scale_up": "Placeholders"})
    report = desk.round(full(), triggered())
    assert report.plan is not None
    assert [item.rule for item in report.plan.refusals if item.pod] == ["Autoscaler"]
    assert desk.target.asked == []
    assert desk.asked() == []
    later = full(at=NOW + 601)
    assert desk.hand_over.left_to_autoscaler(later) == {}
    desk.round(later)
    assert desk.target.asked == [], "the autoscaler sees it all the same"


def test_pods_that_may_yet_be_helped_are_not_handed_over_at_once() -> None:
    """Where a limit binds the next round may help; one that is left over twice is handed over."""
    small = [pod(f"web-{n}", "1", node=name) for n, name in enumerate(("n1", "n1", "n1", "n2", "n2", "n2"))]
    world = cluster(node("n1"), node("n2"), node("n3", "2"), *small, workload("web", 6), pod("big-0", "3"))
    desk = Desk(limits={"max_evictions": 1})
    first = desk.round(world)
    assert first.plan is not None
    assert first.plan.objectives[0].helped == 0
    is_proven = first.plan.objectives[0].status.value == "INFEASIBLE"
    assert bool(desk.asked()) is is_proven
    desk.round(world)
    assert desk.asked() == [("Leave", ("big-0",))]


def test_a_request_ends_by_time_by_failure_and_when_its_room_has_come() -> None:
    """A placeholder that is bound would fill the new node."""
    for change in ("time", "failure", "bound"):
        desk = Desk(autoscaler={"scale_up": "Placeholders", "wait": "100s"})
        desk.round(full())
        [name] = desk.target.requests
        at, more = NOW + 30, []
        if change == "time":
            at = NOW + 101
        elif change == "failure":
            desk.target.requests[name] = desk.target.requests[name]._replace(failure="no quota")
        else:
            more = [node("n2"), pod("room-0", "3", node="n2", labels={CAPACITY: name})]
        desk.hand_over.look(full(*more, at=at))
        assert desk.target.requests == {}, change


def test_requests_of_an_earlier_process_are_found_again() -> None:
    """Nothing is asked for twice, and what is over goes."""
    desk = Desk(autoscaler={"scale_up": "Placeholders"})
    desk.target.requests["old"] = StandingRequest("old", "Placeholders", ("gone",), NOW - 50, NOW + 500)
    desk.hand_over.look(full())
    assert desk.target.requests == {}


def test_machines_of_a_plan_are_left_to_whoever_asked_for_them() -> None:
    """``apply --buy`` looks after them, though no pod waits; once they have run out they go like all others."""
    desk = Desk(autoscaler={"scale_up": "Placeholders"})
    desk.target.requests["rescheduler-buy-r1"] = StandingRequest(
        "rescheduler-buy-r1", "Placeholders", (), NOW - 50, NOW + 60
    )
    bound = (node("n2"), pod("room-0", "3", node="n2", labels={CAPACITY: "rescheduler-buy-r1"}))
    desk.hand_over.look(full(*bound))
    assert set(desk.target.requests) == {"rescheduler-buy-r1"}
    desk.hand_over.look(full(at=NOW + 100))
    assert desk.target.requests == {}


def test_after_a_scale_up_no_node_is_emptied_for_a_while() -> None:
    """The objective is left out with its reason; without word from an autoscaler nothing waits."""
    desk = Desk(objectives=[{"name": "EmptyNodes"}])
    half = cluster(node("n1"), node("n2"), pod("web-0", node="n1"), pod("web-1", node="n2"), workload("web", 2))
    assert desk.hand_over.waiting(half) == {}
    report = desk.round(half, triggered(at=NOW - 100))
    assert report.plan is not None
    assert (report.plan.objectives, report.plan.moves) == ((), ())
    assert report.plan.warnings[0] == (
        "EmptyNodes waits: an autoscaler adds a node, or has just done so; nothing is emptied for another 500s "
        "(policy: autoscaler.afterScaleUp)"
    )
    assert desk.hand_over.waiting(replace(half, taken_at=NOW + 501)) == {}


def test_pods_made_by_a_scale_down_are_left_for_a_while() -> None:
    """Unless the autoscaler says that it adds no node for one."""
    desk = Desk()
    gone = AutoscalerNotice(NOW - 70, "cluster-autoscaler", "ScaleDown", "Node", "", "n9")
    world = full()
    desk.hand_over.look(world, [gone])
    [reason] = desk.hand_over.left_to_autoscaler(world).values()
    assert reason.startswith("was made since an autoscaler took a node away; left to it for another 9m")
    refused = AutoscalerNotice(NOW, "cluster-autoscaler", "NotTriggerScaleUp", "Pod", "default", "big-0")
    desk.hand_over.look(world, [refused])
    assert desk.hand_over.left_to_autoscaler(world) == {}


def emptying(node_name: str = "n2", outcome: OutcomeKind = OutcomeKind.LANDED) -> PlanResult:
    """What became of a plan that empties a node."""
    reference = PodReference("default", "web-1", "uid-default-web-1")
    move = MoveOutcome(reference, node_name, "n1", 1, "EmptyNodes", "empties it", outcome=outcome)
    return PlanResult(SnapshotSummary(None, 2, 2, 0, "test"), moves=(move,))


def offered(desk: Desk) -> list[tuple[str, tuple[str, ...]]]:
    """What was told of nodes."""
    return [(item.how, item.nodes) for item in desk.told if isinstance(item, NodesOffered)]


EMPTY = cluster(node("n1"), node("n2"), pod("web-0", node="n1"), pod("web-1", node="n1"), workload("web", 2))


@pytest.mark.parametrize("how", ["Leave", "Annotate", "Taint"])
def test_emptied_nodes_are_offered_once_they_are_seen_empty(how: str) -> None:
    """By the policy's choice; a node whose move was refused is not."""
    desk = Desk(autoscaler={"scale_down": how})
    before = cluster(node("n1"), node("n2"), pod("web-0", node="n1"), pod("web-1", node="n2"), taken_at=NOW)
    desk.round(before, result=emptying())
    desk.hand_over.look(before)
    assert offered(desk) == []
    desk.hand_over.look(replace(EMPTY, taken_at=NOW + 5))
    desk.hand_over.look(replace(EMPTY, taken_at=NOW + 6))
    assert offered(desk) == [(how, ("n2",))]
    assert desk.target.offered == ({} if how == "Leave" else {"n2": (how, NOW + 5 + 3600)})
    refused = Desk(autoscaler={"scale_down": how})
    refused.round(before, result=emptying(outcome=OutcomeKind.REFUSED))
    refused.hand_over.look(replace(EMPTY, taken_at=NOW + 5))
    assert offered(refused) == []


def marked(until: float, *more: Any, at: float = NOW) -> Cluster:
    """The emptied node with our taint."""
    kept = taint(EMPTIED, str(int(until)))
    return cluster(node("n1"), node("n2", taints=[kept]), pod("web-0", node="n1"), *more, taken_at=at)


@pytest.mark.parametrize(
    ("world", "is_taken_back"),
    [
        (marked(NOW + 100), False),
        (marked(NOW - 1), True),
        (marked(NOW + 100, pod("new-0", node="n2")), True),
        (marked(NOW + 100, pod("agent-0", node="n2", kind="DaemonSet")), False),
        (marked(NOW + 100, pod("big-0", "3")), True),
        (marked(NOW + 100, pod("huge-0", "64")), False),
        (marked(NOW + 100, pod("gated-0", scheduling_gates=("g",))), False),
    ],
    ids=["stands", "run out", "in use", "own pods", "somebody waits", "would not fit", "gated"],
)
def test_an_offer_is_taken_back_when_it_has_run_out_or_is_needed(world: Cluster, is_taken_back: bool) -> None:
    """Our own taint must not keep a pod waiting."""
    desk = Desk()
    desk.hand_over.look(world)
    assert ("take back n2" in desk.target.calls) is is_taken_back


def test_an_annotation_keeps_nobody_off_and_stays_though_pods_wait() -> None:
    """Unreadable ones have run out."""
    for text, is_taken_back in (("2100-01-01T00:00:00Z", False), ("soon", True), ("2100-01-01T00:00:00", True)):
        empty = structs.replace(node("n2"), annotations={EMPTIED: text})
        desk = Desk()
        desk.hand_over.look(cluster(node("n1"), empty, pod("big-0", "3")))
        assert ("take back n2" in desk.target.calls) is is_taken_back, text


BEFORE = cluster(
    node("n1"), node("n2"),
    *(pod(f"web-{number}", node=f"n{number + 1}", priority=7, priority_class_name="high") for number in range(2)),
    taken_at=NOW,
)  # fmt: skip
HELD = {"scale_down": "Hold"}


def holding(**autoscaler: Any) -> Desk:
    """A desk whose round has emptied n2, which is held."""
    desk = Desk(autoscaler={**HELD, **autoscaler}, objectives=[{"name": "EmptyNodes"}])
    desk.round(BEFORE, result=emptying())
    assert desk.target.holds == {}
    desk.hand_over.look(replace(EMPTY, taken_at=NOW + 5))
    return desk


def test_an_emptied_node_is_held_until_somebody_takes_it() -> None:
    """By a placeholder as large as any node, of the priority of those that left, which no plan waits for."""
    desk = holding()
    assert offered(desk) == [("Hold", ("n2",))]
    [request] = desk.target.holds.values()
    assert (request.node, request.priority_class_name, request.deadline_seconds) == ("n2", "high", 60)
    assert request.plan_id == OFFERING
    assert request.requests == node("n2").allocatable[:2]
    assert desk.target.offered == {}
    desk.hand_over.look(replace(EMPTY, taken_at=NOW + 6))
    assert len(desk.target.holds) == 1
    assert offered(desk) == [("Hold", ("n2",))]


@pytest.mark.parametrize(
    "later",
    [
        cluster(node("n1"), node("n2", taints=[taint("karpenter.sh/disrupted")]), taken_at=NOW + 9),
        cluster(node("n1"), taken_at=NOW + 9),
        cluster(node("n1"), node("n2"), pod("new-0", node="n2"), taken_at=NOW + 9),
        cluster(node("n1"), node("n2"), pod("new-0", "3"), taken_at=NOW + 9),
        cluster(node("n1"), node("n2"), taken_at=NOW + 5 + 3600),
    ],
    ids=["disrupted", "gone", "in use", "somebody waits", "run out"],
)
def test_a_held_node_is_let_go_when_it_is_taken_needed_or_too_late(later: Cluster) -> None:
    """And not before: a pod that could not fit there keeps nobody from it."""
    desk = holding()
    desk.hand_over.look(cluster(node("n1"), node("n2"), pod("huge-0", "64"), taken_at=NOW + 8))
    assert len(desk.target.holds) == 1
    desk.hand_over.look(later)
    assert desk.target.holds == {}


def test_held_nodes_are_neither_source_nor_target_of_plans() -> None:
    """The next plan puts nobody on what is about to go."""
    desk = holding()
    (seen,) = (item for item in desk.hand_over.marked(EMPTY).nodes if item.name == "n2")
    assert is_leaving(seen)
    desk.hand_over.end()
    assert desk.hand_over.marked(EMPTY) is EMPTY


def test_holds_are_renewed_in_time_and_not_made_again_once_gone() -> None:
    """At half of their deadline; who removes them by hand means it. A stopped daemon renews nothing."""
    desk = holding()
    desk.clock.sleep(29)
    desk.hand_over.keep()
    assert "renew" not in desk.target.calls
    desk.clock.sleep(2)
    desk.stopped = "stop"
    desk.hand_over.keep()
    assert "renew" not in desk.target.calls
    desk.stopped = None
    desk.hand_over.keep()
    assert desk.target.calls.count("renew") == 1
    desk.target.holds.clear()
    desk.clock.sleep(31)
    desk.hand_over.keep()
    desk.hand_over.look(replace(EMPTY, taken_at=NOW + 70))
    assert desk.target.holds == {}
    assert desk.hand_over.marked(EMPTY) is EMPTY


def test_holds_end_with_the_daemon_and_with_its_policy() -> None:
    """Whoever comes next begins without them; what cannot be made is told once."""
    desk = holding()
    HandOver(None, desk.policy, desk.clock, desk.told.append, before=desk.hand_over)
    assert desk.target.holds == {}
    failing = Desk(autoscaler=HELD, objectives=[{"name": "EmptyNodes"}])
    failing.round(BEFORE, result=emptying())
    failing.target.problem = "we may not"
    for second in (5, 6):
        failing.hand_over.look(replace(EMPTY, taken_at=NOW + second))
    assert failing.faults() == ["autoscaler.scaleDown: Hold is not possible here: we may not"]
    assert failing.target.holds == {}


def test_what_was_heard_and_told_outlives_a_policy() -> None:
    """A new policy begins with the old one's memory."""
    desk = Desk()
    desk.round(full(pod("lone-0", "3")), triggered())
    again = HandOver(None, desk.policy, FakeClock(), desk.told.append, before=desk.hand_over)
    assert set(again.left_to_autoscaler(full())) == {"uid-default-big-0"}
