"""What is told meets the real API server: it takes our Events, and counts evictions as our alert asks."""

from __future__ import annotations

import re

import yaml
from prometheus_client.parser import text_string_to_metric_families

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.eviction.evictor import evict
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.adapters.telemetry.cluster_events import ClusterEvents
from rescheduler.daemon.plugins import parse_policy
from rescheduler.model.daemon.notices import ApprovalWanted, CapacityRequested, NodesOffered, PolicyHeld, RoundEnded
from rescheduler.model.plan.plan import Move, Plan, PodReference, SnapshotSummary, Status
from tests.cluster.cluster import Cluster
from tests.cluster.scenes import add_node, add_pending
from tests.cluster.shapes import pod, replica_set
from tests.paths import DEPLOY
from tests.unit.adapters.telemetry.daemon_notices import objective, report

RULES = DEPLOY / "monitoring" / "rules.yaml"
WEB = {"app": "web"}
HEAD = "apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n"
POLICY = parse_policy(HEAD + "mode: Approve\nleaderElection: {namespace: default, name: resched}\n")


def test_every_kind_of_event_is_taken_and_found_by_its_object(cluster: Cluster) -> None:
    """On pods, owners, nodes and our Lease, where kubectl looks for them."""
    add_node(cluster, "n0", cpu="4")
    cluster.create(pod("web-0", labels=WEB))
    cluster.wait_pods_running(1, labels="app=web")
    add_pending(cluster, replica_set("big", 1, cpu="99"))
    connection = connect(str(cluster.control_plane.kubeconfig), read_only=False)
    snapshot = LiveReader(connection).read()
    (waiting,) = snapshot.pending_pods
    clock = SystemClock()
    now = clock.now() + 60
    events = ClusterEvents(connection, clock, lambda: POLICY, lambda: snapshot)
    web = snapshot.pod_by_key["default/web-0"]
    move = Move(PodReference("default", "web-0", web.uid), "n0", "n1", 1, "MakeRoom", "")
    plan = Plan(SnapshotSummary(None, 1, 2, 1, ""), moves=(move,))
    helpless = Plan(plan.snapshot, objectives=(objective(status=Status.INFEASIBLE, helped=0, wanted=1),))
    events.hear(ApprovalWanted(now, "p-1", plan, now + 60))
    events.hear(RoundEnded(now, report(plan=helpless, result=None, started_at=now)))
    events.hear(CapacityRequested(now, "CapacityBuffer", (PodReference("default", waiting.name, waiting.uid),), ""))
    events.hear(NodesOffered(now, "Annotate", ("n0",)))
    events.hear(PolicyHeld(now, "abc", "abd", ("more",)))
    found = {
        (event["reason"], event["regarding"]["kind"], event["regarding"]["name"])
        for event in cluster.api.list("events.k8s.io/v1/events", "default")
        if event["reportingController"] == "rescheduler.dev/rescheduler"
    }
    assert found == {
        ("EvictionPlanned", "Pod", "web-0"), ("NoRoomPossible", "Pod", waiting.name),
        ("NoRoomPossible", "ReplicaSet", "big"), ("CapacityRequested", "Pod", waiting.name),
        ("CapacityRequested", "ReplicaSet", "big"), ("NodeOffered", "Node", "n0"), ("PolicyHeld", "Lease", "resched"),
    }  # fmt: skip


def test_evictions_are_counted_by_the_api_server_as_the_alert_asks(cluster: Cluster) -> None:
    """Its labels are not ours to choose; a dry run and a refusal are told apart from what was carried out."""
    add_node(cluster, "n0", cpu="4")
    cluster.create(pod("web-0", labels=WEB))
    cluster.wait_pods_running(1, labels="app=web")
    connection = connect(str(cluster.control_plane.kubeconfig), read_only=False)
    before = carried_out(connection.send("GET", "/metrics").body.decode())
    web = LiveReader(connection).read().pod_by_key["default/web-0"]
    reference = PodReference("default", "web-0", web.uid)
    assert evict(connection, reference, web.resource_version, dry_run=True).kind == "Accepted"
    assert carried_out(connection.send("GET", "/metrics").body.decode()) == before
    assert evict(connection, reference, web.resource_version, dry_run=False).kind == "Accepted"
    assert carried_out(connection.send("GET", "/metrics").body.decode()) == before + 1


def carried_out(metrics: str) -> float:
    """The sum of the series that the alert's rule asks for."""
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    (rule,) = [rule for group in groups for rule in group["rules"] if "apiserver_request_total" in rule["expr"]]
    matchers = dict(re.findall(r'(\w+)="([^"]*)"', rule["expr"]))
    return sum(
        sample.value
        for family in text_string_to_metric_families(metrics)
        for sample in family.samples
        if sample.name == "apiserver_request_total"
        if all(sample.labels.get(label, "") == value for label, value in matchers.items())
    )
