"""Who stays, who succeeds whom, and what load follows whom."""

from __future__ import annotations

from typing import Any

from rescheduler.batch.backtest.replay.carried_load import carried
from rescheduler.batch.backtest.replay.history import History, Stay
from rescheduler.model.objects.pod import OwnerReference
from rescheduler.model.usage.load_report import LoadReport
from rescheduler.model.usage.usage_readings import Reading
from tests.builders import NOW, cluster, node, pod, workload

NODES = (node("a"), node("b"))


def begun(*pods: object, **stays: Stay) -> History:
    """A history with these pods, standing so."""
    found = History()
    found.settle(cluster(*NODES, *pods), {f"uid-{name}": stay for name, stay in stays.items()}, [])  # type: ignore[arg-type]
    return found


def owner(kind: str) -> tuple[OwnerReference, ...]:
    """One of this kind."""
    return (OwnerReference(kind, "x", "uid-owner"),)


def test_the_first_snapshot_stands_as_recorded() -> None:
    """Nothing is placed anew."""
    recorded = cluster(*NODES, pod("p", node="a"))
    assert History().at(recorded) is recorded


def test_a_pod_keeps_its_node_of_the_history() -> None:
    """Whatever the archive says, and what it is is the archive's."""
    found = begun(pod("p", uid="uid-p", node="a"), p=Stay("b", False, 5.0, 6.0, 6.0, 7.0))
    now = found.at(cluster(*NODES, pod("p", uid="uid-p", node="a", labels={"new": "label"})))
    assert [(one.node_name, one.created_at, one.ready_at, dict(one.labels)) for one in now.pods] == [
        ("b", 5.0, 7.0, {"new": "label"})
    ]


def test_new_pods_and_those_whose_node_went_wait() -> None:
    """Pods of DaemonSets stand where their node is."""
    found = begun(pod("p", uid="uid-p", node="gone"), p=Stay("gone"))
    daemon = pod("d", uid="uid-d", node="b", owners=owner("DaemonSet"))
    now = found.at(cluster(*NODES, pod("p", uid="uid-p", node="a"), pod("n", uid="uid-n", node="a"), daemon))
    assert {one.name: one.node_name for one in now.pods} == {"p": None, "n": None, "d": "b"}
    assert {one.name for one in now.pods if one.is_pending} == {"p", "n"}


def test_successors_of_a_replica_set_are_paired_by_age() -> None:
    """And count as the same pod."""
    old = [
        pod(name, uid=f"uid-{name}", owners=owner("ReplicaSet"), created_at=at)
        for name, at in (("o1", 1.0), ("o2", 2.0))
    ]
    new = [
        pod(name, uid=f"uid-{name}", owners=owner("ReplicaSet"), created_at=at)
        for name, at in (("n2", 9.0), ("n1", 8.0))
    ]
    found = begun(*old)
    found.moved.add("uid-o1")
    recorded = cluster(*NODES, *new)
    found.at(recorded)
    assert found.same_as == {"uid-n1": "uid-o1", "uid-n2": "uid-o2"}
    assert found.settle(recorded, {}, ["uid-n1", "uid-n2"]) == 1


def test_who_stays_in_the_archive_goes_on_as_the_pod_that_its_controller_keeps_here() -> None:
    """With its node, its times and its past; the one that was moved last is gone, and is nobody's past any more."""
    fields: dict[str, Any] = {"owner": "web", "created_at": 10.0, "ready_at": 11.0}
    old = [pod(name, uid=f"uid-{name}", node=on, **fields) for name, on in (("p", "a"), ("q", "b"))]
    found = begun(*old, p=Stay("b", False, NOW, NOW, NOW, NOW), q=Stay("b", True, 10.0, None, None, 11.0))
    found.moved.add("uid-p")
    recorded = cluster(*NODES, old[0], workload("web", 1), taken_at=NOW + 60.0)
    now = found.at(recorded)
    assert [(one.name, one.node_name, one.created_at, one.ready_at) for one in now.pods] == [("p", "b", 10.0, 11.0)]
    assert found.settle(recorded, {}, ["uid-p"]) == 0
    assert found.moved == {"uid-p", "uid-q"}


def test_successors_of_a_stateful_set_have_the_same_name() -> None:
    """Whatever their age."""
    old = [
        pod(name, uid=f"uid-{name}", owners=owner("StatefulSet"), created_at=at)
        for name, at in (("x-0", 1.0), ("x-1", 2.0))
    ]
    new = [pod("x-1", uid="uid-new", owners=owner("StatefulSet"), created_at=9.0)]
    found = begun(*old)
    found.at(cluster(*NODES, *new))
    assert found.same_as == {"uid-new": "uid-x-1"}


def test_load_follows_pods_and_the_rest_stays() -> None:
    """A pod of 10 % moves to a node twice as large, where it is 5 %; what its node uses besides stays there."""
    nodes = (node("a", cpu="4"), node("b", cpu="8"))
    recorded = cluster(*nodes, pod("p", node="a"), pod("q", node="b"))
    history = cluster(*nodes, pod("p", node="b"), pod("q", node="b"))

    def cpu(value: float) -> tuple[Reading, ...]:
        return (Reading("CPU", "Latest", value),)

    report = LoadReport(60.0, 0.0, 60.0, "x", {"a": cpu(30), "b": cpu(20)}, {"default/p": cpu(10), "default/q": cpu(7)})
    found = carried(report, recorded, history)
    assert found.nodes == {"a": cpu(20.0), "b": cpu(25.0)}
    assert found.pods == {"default/p": cpu(5.0), "default/q": cpu(7.0)}
    assert carried(report, recorded, recorded) is report
