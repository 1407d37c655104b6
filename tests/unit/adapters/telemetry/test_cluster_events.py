"""Events in the cluster: what people there should know, once, and nothing where nothing may be written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.telemetry.cluster_events import BURST, MOST_SET_ASIDE, ClusterEvents
from rescheduler.adapters.telemetry.redaction import Redaction
from rescheduler.model.daemon.notices import (
    ApprovalWanted,
    CapacityRequested,
    DefaultsBind,
    LeadershipChanged,
    NodesOffered,
    ObjectsSetAside,
    PolicyHeld,
    RoundEnded,
)
from rescheduler.model.objects.annotations import MANAGED_BY, OURS
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.set_aside import SetAside
from rescheduler.model.plan.plan import Move, PlannedPlacement, PodReference, Refusal, Status
from tests.builders import NOW, cluster, node, pod
from tests.clocks import FakeClock
from tests.unit.adapters.fake_api_server import Answer, FakeApiServer, Request, answer, serving, status
from tests.unit.adapters.telemetry.daemon_notices import all_notices, objective, plan, report
from tests.unit.policy.policies import policy

CLUSTER = cluster(
    node("n1"), node("n2"), pod("web-0", node="n1"), pod("big-0", uid="uid-default-big-0"), pod("big-1"), pod("big-2"),
    pod("elsewhere-0", namespace="kube-system"), pod("gated-0", scheduling_gates=("wait",)),
    pod("hold-0", labels={MANAGED_BY: OURS}), pod("late-0", created_at=NOW + 1), pod("agent-0", kind="DaemonSet"),
)  # fmt: skip
EXCLUDED = Refusal("Namespace", "", pod=PodReference("kube-system", "elsewhere-0", "uid-kube-system-elsewhere-0"))


class Scene(NamedTuple):
    """Events, the server that they are sent to, and the clock."""

    events: ClusterEvents
    server: FakeApiServer
    clock: FakeClock

    @property
    def sent(self) -> list[dict[str, Any]]:
        """The Events that were written."""
        return [json.loads(request.body) for request in self.server.requests]

    @property
    def told(self) -> list[str]:
        """Reason, kind and name of each."""
        return [f"{one['reason']} {one['regarding']['kind']} {one['regarding']['name']}" for one in self.sent]


Open = Callable[..., Scene]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Open]:
    """Opens a scene under a policy; the server takes every Event."""

    def accept(request: Request) -> Answer:
        return answer({"kind": "Event"}) if request.method == "POST" else status(404, "what?")

    with serving(accept) as server:

        def opened(body: str = "mode: Execute", snapshot: Cluster | None = CLUSTER, **options: Any) -> Scene:
            clock, found = FakeClock(), policy(body)
            connection = connect(server.kubeconfig(tmp_path), read_only=False)
            return Scene(ClusterEvents(connection, clock, lambda: found, lambda: snapshot, **options), server, clock)

        yield opened


def not_helped(status: Status = Status.INFEASIBLE, **fields: Any) -> RoundEnded:
    """A round that helps ``big-0`` of three."""
    made = objective(status=status, helped=1, wanted=3)
    return RoundEnded(NOW, report(plan=plan(objectives=(made,), refusals=(EXCLUDED,)), **fields))


def test_pods_that_get_no_place_are_told_why(scene: Open) -> None:
    """Pod and owner; not those that get one, that a rule left alone, that came later, or that wait for other things."""
    found = scene()
    found.events.hear(not_helped())
    assert found.told == [
        "NoRoomPossible Pod big-1", "NoRoomPossible ReplicaSet big", "NoRoomPossible Pod big-2",
    ]  # fmt: skip
    first, owner = found.sent[:2]
    assert first["note"] == "proven: no allowed rearrangement makes room for all pods that wait (plan p-7)"
    assert owner["note"] == f"pod big-1: {first['note']}"
    assert (first["type"], first["metadata"]["namespace"], first["action"]) == ("Normal", "default", "Reschedule")
    assert first["regarding"]["uid"] == "uid-default-big-1"
    assert {request.path for request in found.server.requests} == {"/apis/events.k8s.io/v1/namespaces/default/events"}


def test_they_are_told_once_for_each_reason(scene: Open) -> None:
    """A round every minute must not fill the store of the API server."""
    found = scene()
    for _ in range(3):
        found.events.hear(not_helped())
    assert len(found.sent) == 3
    found.events.hear(not_helped(Status.FEASIBLE))
    assert found.told[3:] == ["NoRoomFound Pod big-1", "NoRoomFound ReplicaSet big", "NoRoomFound Pod big-2"]
    assert "not proven" in found.sent[3]["note"]


def test_many_pods_are_told_little_by_little(scene: Open) -> None:
    """At most a burst at a time; what there was no room for is told by a later round."""
    many = cluster(*(pod(f"many-{number:03}", owner=None) for number in range(100)))
    found = scene(snapshot=many)
    found.events.hear(not_helped())
    assert len(found.sent) == BURST
    found.events.hear(not_helped())
    assert len(found.sent) == BURST
    found.clock.time += 10.0
    found.events.hear(not_helped())
    assert len(found.sent) == BURST + 5
    assert len(set(found.told)) == len(found.told)


def test_where_all_are_helped_nothing_is_said(scene: Open) -> None:
    """Nor where no objective is about pending pods, or no plan was made, or nothing is known of the cluster."""
    found = scene()
    found.events.hear(RoundEnded(NOW, report()))
    found.events.hear(RoundEnded(NOW, report(plan=plan(objectives=(objective("EmptyNodes"),)))))
    found.events.hear(RoundEnded(NOW, report(plan=None, result=None)))
    scene(snapshot=None).events.hear(not_helped())
    assert found.sent == []


def test_a_plan_that_waits_is_told_on_its_pods(scene: Open) -> None:
    """For each plan anew, with its id, so that who approves finds it."""
    found = scene("mode: Approve")
    for plan_id in ("p-7", "p-7", "p-8"):
        found.events.hear(ApprovalWanted(NOW, plan_id, plan(), NOW + 3600))
    assert found.told == ["EvictionPlanned Pod web-0", "EvictionPlanned ReplicaSet web"] * 2
    assert "plan p-7 would move this pod from n1 to n2 (MakeRoom); it waits for approval" in found.sent[0]["note"]


def test_hand_overs_and_held_policies_are_told(scene: Open) -> None:
    """On the pods, on the nodes (in namespace default), and on our own Lease."""
    found = scene("mode: Execute\nleaderElection: {namespace: ops, name: resched}")
    found.events.hear(CapacityRequested(NOW, "CapacityBuffer", (PodReference("default", "big-1", "u"),), "m"))
    found.events.hear(NodesOffered(NOW, "Annotate", ("n1", "gone")))
    found.events.hear(PolicyHeld(NOW, "abc", "abd", ("+4 pods", "b", "c", "d", "e")))
    assert found.told == [
        "CapacityRequested Pod big-1", "CapacityRequested ReplicaSet big", "NodeOffered Node n1",
        "PolicyHeld Lease resched",
    ]  # fmt: skip
    assert [request.path.split("/")[5] for request in found.server.requests] == ["default", "default", "default", "ops"]
    assert "namespace" not in found.sent[2]["regarding"]
    assert found.sent[3]["regarding"]["namespace"] == found.sent[3]["metadata"]["namespace"] == "ops"
    assert found.sent[3]["note"].endswith("stays in force: +4 pods; b; c; and 2 more")


def test_what_binds_by_default_is_told_once_on_our_lease(scene: Open) -> None:
    """For whoever has upgraded and does not read logs."""
    found = scene("mode: Execute\nleaderElection: {namespace: ops, name: resched}")
    for _ in range(2):
        found.events.hear(DefaultsBind(NOW, "abc", ("disruption.rates.perHour: 20", "disruption.rates.perDay: 100")))
    assert found.told == ["DefaultsBind Lease resched"]
    note = "policy abc says nothing of these, so that they bind: disruption.rates.perHour: 20; "
    assert found.sent[0]["note"] == note + "disruption.rates.perDay: 100"


@pytest.mark.parametrize(
    "body", ["mode: DryRun", "mode: Execute\nguidance: Predict", "mode: Approve\nguidance: Predict"]
)
def test_where_nothing_may_be_written_nothing_is(scene: Open, body: str) -> None:
    """Not even an attempt."""
    found = scene(body)
    for notice in (*all_notices(), not_helped()):
        found.events.hear(notice)
    assert found.server.requests == []


def test_only_the_leader_speaks(scene: Open) -> None:
    """Else every replica would tell the same."""
    found = scene()
    found.events.hear(LeadershipChanged(NOW, False, "other"))
    found.events.hear(not_helped())
    assert found.sent == []
    found.events.hear(LeadershipChanged(NOW, True, "us"))
    found.events.hear(not_helped())
    assert len(found.sent) == 3


def test_whoever_wrote_what_cannot_be_counted_is_told_there(scene: Open) -> None:
    """On the object, once; a namespace full of such objects does not use up what others are told."""
    found = scene()
    huge = SetAside("Pod", "team", "huge", "u1", "spec.containers[0]: '8Ei' is out of range", "it is left out")
    claim = SetAside(
        "PersistentVolumeClaim", "team", "data", "u2", "is too large", "pods that wait for it get no place"
    )
    for _ in range(2):
        found.events.hear(ObjectsSetAside(NOW, (huge, claim, SetAside("Node", "", "n1", "u3", "cannot be read"))))
    assert found.told == ["SetAside Pod huge", "SetAside PersistentVolumeClaim data", "SetAside Node n1"]
    assert found.sent[0]["note"] == "set aside: spec.containers[0]: '8Ei' is out of range; it is left out"
    assert found.sent[0]["regarding"] == {
        "apiVersion": "v1", "kind": "Pod", "namespace": "team", "name": "huge", "uid": "u1",
    }  # fmt: skip
    assert [one["metadata"]["namespace"] for one in found.sent] == ["team", "team", "default"]
    many = tuple(SetAside("Pod", "team", f"huge-{number}", "", "x", "it is left out") for number in range(100))
    found.events.hear(ObjectsSetAside(NOW, many))
    assert len(found.sent) == 3 + MOST_SET_ASIDE


def test_a_server_that_refuses_is_left_alone(tmp_path: Path) -> None:
    """Telling never stops anything; nothing is raised."""
    with serving(lambda _: status(403, "no")) as server:
        connection = connect(server.kubeconfig(tmp_path), read_only=False)
        events = ClusterEvents(connection, FakeClock(), lambda: policy("mode: Execute"), lambda: CLUSTER)
        events.hear(not_helped())
        events.hear(NodesOffered(NOW, "Annotate", ("n1",)))
    read_only = ClusterEvents(
        connect(server.kubeconfig(tmp_path), read_only=True),
        FakeClock(),
        lambda: policy("mode: Execute"),
        lambda: CLUSTER,
    )
    read_only.hear(NodesOffered(NOW, "Annotate", ("n1",)))


def test_an_api_server_that_does_not_answer_is_not_asked_again_and_again(tmp_path: Path) -> None:
    """A minute's rest; and what happened long ago is not told any more."""
    with serving(lambda _: Answer(announced=1000)) as server:  # breaks off in the middle of each answer
        clock, connection = FakeClock(), connect(server.kubeconfig(tmp_path), read_only=False)
        events = ClusterEvents(connection, clock, lambda: policy("mode: Execute"), lambda: CLUSTER)
        events.hear(not_helped())
        assert len(server.requests) == 1
        server.handle = lambda _: answer({"kind": "Event"})
        events.hear(not_helped())
        assert len(server.requests) == 1
        clock.time += 61
        events.hear(not_helped())
        told = [json.loads(request.body)["regarding"]["name"] for request in server.requests]
        assert told == ["big-1", "big-1", "big-2"]  # what failed is told again
        clock.time += 600
        events.hear(NodesOffered(NOW, "Annotate", ("n1",)))
        assert len(server.requests) == 3
        events.hear(NodesOffered(clock.time - 600, "Annotate", ("n1",)))
        assert len(server.requests) == 4


def test_an_event_holds_nothing_of_other_namespaces_and_no_secret(scene: Open) -> None:
    """Whoever may read Events of one namespace must not learn of another's pods; words from outside are made safe."""
    found = scene(hide=Redaction(lambda text: text.replace("marked", "***")))
    making = objective(status=Status.INFEASIBLE, helped=0, wanted=2, message="not helped: secret-team/pod")
    found.events.hear(RoundEnded(NOW, report(plan=plan(objectives=(making,), placements=()))))
    move = Move(PodReference("default", "web-0", "u"), "n1", "marked\x1b[2J" + "n" * 2000, 1, "MakeRoom", "")
    found.events.hear(ApprovalWanted(NOW, "p", plan(moves=(move,)), NOW))
    text = json.dumps(found.sent)
    assert "secret-team" not in text
    assert "marked" not in text
    assert all(len(one["note"]) <= 1000 and one["note"].isprintable() for one in found.sent)


def test_a_helped_pod_is_not_told_though_it_still_waits(scene: Open) -> None:
    """Its room comes with a later wave."""
    found = scene()
    places = (PlannedPlacement(PodReference("default", "big-1", "uid-default-big-1"), "n1", 1),)
    made = objective(status=Status.INFEASIBLE, helped=1, wanted=2)
    known = plan(objectives=(made,), placements=places, refusals=(EXCLUDED,))
    found.events.hear(RoundEnded(NOW, report(plan=known)))
    assert "NoRoomPossible Pod big-1" not in found.told
    assert "NoRoomPossible Pod big-2" in found.told
