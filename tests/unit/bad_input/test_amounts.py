"""Whatever one tenant writes that an API server accepts: everybody else is read and planned as without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.adapters.kubernetes.watch.mirror import Mirror
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.objects.cluster import Cluster
from rescheduler.policy.fields.policy import Limits, Objective, Policy
from tests.clocks import FakeClock
from tests.unit.adapters.api_objects import Object, api_object, container, list_of, node_object, pod_object, read
from tests.unit.adapters.kubernetes.watch.watched_server import WatchedServer

QUANTITIES = ("8Ei", "9223372036854775807", "10e24", "10e399", "1e9999", "9" * 300, "4503599627370497", "1n", "1m", "0",
              "4503599627370496", "4Pi")  # fmt: skip
"""As the API server writes what it has accepted."""
INT32 = st.sampled_from((2**31 - 1, 0, 1)) | st.integers(0, 2**31 - 1)
INT64 = st.sampled_from((2**63 - 1, -(2**63), 2**62, 9_223_372_037, -1, 0)) | st.integers(-(2**63), 2**63 - 1)
TEXTS = st.sampled_from(("", "x", "9" * 5000, "-1", "1e400h", "99999999999999h", "\x1b[31m", "true")) | st.text(
    max_size=9
)
quantities = st.sampled_from(QUANTITIES)
names = st.sampled_from(("cpu", "memory", "ephemeral-storage", "example.com/x"))
amounts = st.dictionaries(names, quantities, max_size=3)
needs = st.fixed_dictionaries({}, optional={"requests": amounts, "limits": amounts})
containers = st.lists(
    st.builds(lambda found: container(cpu=None) | {"resources": found}, needs), min_size=1, max_size=2
)
spreads = st.builds(lambda skew, least: [{
    "topologyKey": "kubernetes.io/hostname", "maxSkew": max(skew, 1), "minDomains": max(least, 1),
    "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "web"}}}], INT32, INT32)  # fmt: skip
greater = st.builds(lambda text: {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
    "nodeSelectorTerms": [{"matchExpressions": [{"key": "n", "operator": "Gt", "values": [text]}]}]}}},
    TEXTS)  # fmt: skip
specs = st.fixed_dictionaries({"containers": containers}, optional={
    "initContainers": containers, "overhead": amounts, "resources": needs, "terminationGracePeriodSeconds": INT64,
    "topologySpreadConstraints": spreads, "affinity": greater, "schedulerName": TEXTS,
    "tolerations": st.builds(lambda seconds: [{"key": "k", "operator": "Exists", "tolerationSeconds": seconds}], INT64),
    "priority": st.integers(-(2**31), 10**9),
    "volumes": st.just([{"name": "v", "persistentVolumeClaim": {"claimName": "odd"}}]),
})  # fmt: skip
statuses = st.builds(lambda found, allocated, restarts: {
    "phase": "Running", "containerStatuses": [
        {"name": "main", "resources": found, "allocatedResources": allocated, "restartCount": restarts}]},
    needs, amounts, INT32)  # fmt: skip
MARKS = (
    "karpenter.sh/do-not-disrupt",
    "rescheduler.dev/antagonists-until",
    "controller.kubernetes.io/pod-deletion-cost",
)


@st.composite
def odd_pods(draw: st.DrawFn, node: str | None) -> list[Object]:
    """Pods of one tenant: they have nobody's name, and nobody's labels."""
    found = []
    for number in range(draw(st.integers(1, 3))):
        status = draw(statuses) if node and draw(st.booleans()) else None
        odd = pod_object(f"odd-{number}", node, namespace="team", status=status, **draw(specs))
        odd["metadata"]["labels"] = {"app": "odd"}
        odd["metadata"]["uid"] = f"uid-odd-{number}"
        odd["metadata"]["annotations"] = draw(st.dictionaries(st.sampled_from(MARKS), TEXTS))
        found.append(odd)
    return found


@st.composite
def odd_others(draw: st.DrawFn) -> list[Object]:
    """What else a tenant may write in a namespace of its own."""
    odd: dict[str, Any] = {"namespace": "team"}
    number, quantity = draw(INT32), draw(quantities)
    selected = {"selector": {"matchLabels": {"app": "odd"}}}
    return [
        api_object("PersistentVolumeClaim", "odd", spec={"resources": {"requests": {"storage": quantity}}}, **odd),
        api_object("ResourceQuota", "odd", status={"hard": draw(amounts), "used": draw(amounts)}, **odd),
        api_object("PodDisruptionBudget", "odd", version="policy/v1", spec={**selected, "minAvailable": number},
                   status={"disruptionsAllowed": number, "expectedPods": draw(INT32)}, **odd),
        api_object("ReplicaSet", "odd", version="apps/v1", spec={**selected, "replicas": number},
                   status={"replicas": draw(INT32)}, **odd),
        api_object("HorizontalPodAutoscaler", "odd", version="autoscaling/v2", spec={"maxReplicas": number},
                   status={"currentReplicas": number, "desiredReplicas": draw(INT32)}, **odd),
    ]  # fmt: skip


def owned(pod: Object, uid: str = "uid-ReplicaSet-web") -> Object:
    """The pod as one of a ReplicaSet's."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": uid, "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]
    return pod


EVERYBODY: list[Object] = [
    *(node_object(name) for name in ("n1", "n2", "n3")),
    *(owned(pod_object(f"web-{number}", f"n{number % 2 + 1}")) for number in range(4)),
    pod_object("big", None, containers=[container(cpu="3500m")]),
    api_object("ReplicaSet", "web", namespace="default", version="apps/v1",
               spec={"replicas": 4, "selector": {"matchLabels": {"app": "web"}}}),
]  # fmt: skip
PLAIN = read(list_of(*EVERYBODY))


def plan_of(cluster: Cluster, *objectives: str) -> Any:
    """Its placements and moves; of pods that are not the tenant's."""
    wanted = tuple(Objective(name=name) for name in objectives)
    plan = make_plan(cluster, Policy(objectives=wanted, limits=Limits(deadline=60.0)), CycleOptions(SystemClock()))
    assert not [text for text in plan.warnings if "checker" in text]
    return (
        [(move.pod.name, move.from_node, move.to_node) for move in plan.moves if move.pod.namespace != "team"],
        [(place.pod.name, place.node) for place in plan.placements if place.pod.namespace != "team"],
    )


def others_of(cluster: Cluster) -> Any:
    """All that is seen of everybody else."""
    return (
        [pod for pod in cluster.pods if pod.namespace != "team"],
        [replace_problem(node) for node in cluster.nodes],
        [workload for workload in cluster.workloads if workload.namespace != "team"],
    )


def replace_problem(node: Any) -> Any:
    """What is seen of a node beside whether it may be used."""
    return (node.name, node.allocatable, node.labels)


@given(odd_pods(None), odd_others())
@settings(max_examples=60)
def test_what_waits_costs_nobody_else(pods: list[Object], others: list[Object]) -> None:
    """Pods without a node, whatever they ask for: everybody else is seen, and planned, as without them."""
    cluster = read(list_of(*EVERYBODY, *pods, *others))
    assert others_of(cluster) == others_of(PLAIN)
    assert [node.problem for node in cluster.nodes] == [None] * 3
    assert all(item.namespace == "team" for item in cluster.set_aside)
    left = {pod.name for pod in cluster.pods if pod.namespace == "team"} | {item.name for item in cluster.set_aside}
    assert {pod["metadata"]["name"] for pod in pods} <= left
    assert not [pod.key for pod in cluster.pods if pod.is_pending and pod.spec.problem]
    if all(pod.namespace != "team" for pod in cluster.pods):  # others are pods like any: they may take room
        assert plan_of(cluster, "EmptyNodes") == plan_of(PLAIN, "EmptyNodes")


@given(odd_pods("n3"), odd_others())
@settings(max_examples=60)
def test_what_stands_bars_its_own_node_at_most(pods: list[Object], others: list[Object]) -> None:
    """Pods on a node: that node may be barred, no other is, and no plan touches a barred one."""
    cluster = read(list_of(*EVERYBODY, *pods, *others))
    assert others_of(cluster) == others_of(PLAIN)
    assert [node.problem for node in cluster.nodes[:2]] == [None, None]
    barring = [pod for pod in cluster.pods if pod.spec.problem]
    assert (cluster.nodes[2].problem is not None) is bool(barring)
    assert {pod.name for pod in barring} <= {item.name for item in cluster.set_aside}
    for name in ("MakeRoom", "EmptyNodes", "SpreadLoad"):
        moves, places = plan_of(cluster, name)
        if barring:
            assert "n3" not in {node for move in moves for node in move[1:]} | {node for _, node in places}


@given(odd_pods(None), odd_pods("n3"), odd_others(), st.booleans())
@settings(max_examples=60)
def test_no_reading_is_ended_by_it(
    waiting: list[Object], standing: list[Object], others: list[Object], is_first: bool
) -> None:
    """The live reader and the watches see the same as a recording, whether they were there first or came later."""
    for pod in standing:
        pod["metadata"].update(name=f"s-{pod['metadata']['name']}", uid=f"s-{pod['metadata']['uid']}")
    server, odd = WatchedServer(), [*waiting, *standing, *others]
    mirror = Mirror(server, FakeClock())  # type: ignore[arg-type] # stands in for a Connection
    for found in [*EVERYBODY, *(odd if is_first else ())]:
        server.put(KIND_BY_NAME[found["kind"]].path, json.loads(json.dumps(found)))
    turn(mirror)
    for found in () if is_first else odd:
        server.put(KIND_BY_NAME[found["kind"]].path, json.loads(json.dumps(found)))
    turn(mirror)
    live = LiveReader(server, clock=FakeClock()).read()  # type: ignore[arg-type]
    seen = mirror.snapshot()
    assert sorted(seen.warnings) == sorted(live.warnings)
    assert (seen.pods, seen.nodes, seen.set_aside) == (live.pods, live.nodes, live.set_aside)
    assert others_of(seen)[0] == [pod for pod in live.pods if pod.namespace != "team"]
    assert {pod.name for pod in seen.pods} >= {pod.name for pod in PLAIN.pods}


def turn(mirror: Mirror) -> None:
    """Let every watch and the polling move once."""
    for reflector in mirror.reflectors.values():
        reflector.follow_once()
    mirror.polling.poll()


@pytest.mark.parametrize("arguments", [
    ("plan",), ("plan", "-o", "json"), ("plan", "--objective", "EmptyNodes"), ("schedule", "-o", "json"),
    ("score", "default/big"), ("explain", "pod", "default/big"), ("explain", "node", "n3"),
    ("explain", "pod", "team/s-odd-0"),
], ids=" ".join)  # fmt: skip
def test_every_command_goes_on(tmp_path: Path, shell: Any, arguments: tuple[str, ...]) -> None:
    """Each says what is set aside, and answers for everybody else."""
    huge = [container(cpu="10e24")]
    standing = pod_object("s-odd-0", "n3", namespace="team", terminationGracePeriodSeconds=2**63 - 1)
    file = tmp_path / "odd.json"
    objects = list_of(*EVERYBODY, pod_object("odd-0", None, namespace="team", containers=huge), standing)
    file.write_text(json.dumps(objects), encoding="utf-8")
    answer = shell(*arguments, "-f", str(file))
    assert answer.code == 0, answer
    said = answer.out + answer.err
    assert "Pod team/odd-0" in said or arguments[0] == "explain"
    assert "292 years" in said or "cannot be counted" in said


def test_a_pod_that_is_left_out_is_explained(tmp_path: Path, shell: Any) -> None:
    """Whoever asks for it hears why, not that it is not there."""
    file = tmp_path / "odd.json"
    odd = pod_object("odd-0", None, namespace="team", containers=[container(cpu="10e24")])
    file.write_text(json.dumps(list_of(*EVERYBODY, odd)), encoding="utf-8")
    answer = shell("explain", "pod", "team/odd-0", "-f", str(file))
    assert "Pod team/odd-0: spec.containers[0].resources.requests.cpu: '10e24' is out of range" in answer.err
