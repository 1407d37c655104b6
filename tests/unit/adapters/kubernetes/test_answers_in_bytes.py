"""Whatever comes over the line in answer to any call to a cluster: it is read right, or it is a ClusterError."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest
import yaml

from rescheduler.adapters.kubernetes.eviction.target import KubernetesTarget
from rescheduler.adapters.kubernetes.guidance.guidance_support import BINDINGS, POLICIES
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.extension_points import ClusterError, EvictionAnswer, HoldRequest
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.surge_mark import TEMPLATE_HASH
from rescheduler.model.plan.detachment import Detachment
from rescheduler.model.plan.plan import Move, PodReference
from tests.builders import cluster, node, pod, workload
from tests.clocks import FakeClock
from tests.paths import DEPLOY
from tests.unit.adapters.api_objects import api_object, node_object, pod_object
from tests.unit.adapters.kubernetes.api_server import HOLDS, ApiServer, gated_pod
from tests.unit.adapters.kubernetes.byte_server import FAULTS, BytePool

PODS = "/api/v1/namespaces/shop/pods"
GROUP = "/apis/admissionregistration.k8s.io/v1"
WEB = PodReference("shop", "web-0", "u-web-0")
MOVE = Move(WEB, "n1", "n2", 1, "MakeRoom", "because")
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "uid-rs", "controller": True}
OUT = Detachment(TEMPLATE_HASH, "h1", "p1", "2027-01-15T08:00:00Z")
GUIDE = json.dumps([*yaml.safe_load_all((DEPLOY / "guide.yaml").read_text(encoding="utf-8"))])
"""Read once: to read YAML takes longer than the rest of a scene, of which there are thousands."""


class Scene:
    """A cluster with two replicas, their budget and owner, a gated pod, one that is taken out, and a placeholder."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.api = ApiServer()
        self.pool = BytePool(self.api, self.clock)
        self.connection = self.pool.connection()
        self.reader = LiveReader(self.connection, clock=self.clock)
        self.target = KubernetesTarget(self.connection, self.reader, clock=self.clock, hold_namespace=HOLDS)
        for number in range(2):
            made = pod_object(f"web-{number}", f"n{number + 1}", namespace="shop")
            made["metadata"]["uid"] = f"u-web-{number}"
            made["metadata"]["ownerReferences"] = [OWNER]
            self.keep(f"{PODS}/web-{number}", made)
        for name in ("n1", "n2"):
            self.keep(f"/api/v1/nodes/{name}", node_object(name))
        rules = {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 1}
        self.keep("/apis/policy/v1/namespaces/shop/poddisruptionbudgets/web",
                  api_object("PodDisruptionBudget", "web", namespace="shop", spec=rules))  # fmt: skip
        spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}}
        self.keep("/apis/apps/v1/namespaces/shop/replicasets/web",
                  api_object("ReplicaSet", "web", namespace="shop", spec=spec, status={"replicas": 2}))  # fmt: skip
        self.keep("/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/web",
                  {"metadata": {"name": "web"}, "endpoints": []})  # fmt: skip
        containers = [{"name": "main", "image": "a"}]
        gated_pod(self.api, "gated")["spec"]["containers"] = containers
        labels = {"app": "web", TEMPLATE_HASH: "h1-leaving"}
        self.api.put(f"{PODS}/out", metadata={"labels": labels, "annotations": {SURGE: OUT.written()}, "uid": "u-out"},
                     spec={"containers": containers})  # fmt: skip
        self.api.objects["/version"] = {"major": "1", "minor": "36", "gitVersion": "v1.36.3"}
        self.api.objects[GROUP] = {"resources": [{"name": POLICIES}, {"name": BINDINGS}]}
        for document in json.loads(GUIDE):
            kind = BINDINGS if document["kind"].endswith("Binding") else POLICIES
            self.api.objects[f"{GROUP}/{kind}/rescheduler-guide"] = document

    def keep(self, path: str, found: dict[str, Any]) -> None:
        """As it stands."""
        self.api.put(path, **{key: value for key, value in found.items() if key not in ("kind", "apiVersion")})

    def known(self) -> Cluster:
        """What a snapshot holds of it."""
        here = {"namespace": "shop"}
        seen = pod("web-0", uid=WEB.uid, node="n1", **here)  # type: ignore[arg-type]
        return cluster(node("n1"), node("n2"), seen, workload("web", 2, namespace="shop"))


def hold(name: str) -> HoldRequest:
    """Room of one size on n1."""
    return HoldRequest(name, "n1", (("cpu", 100),), "", "default-scheduler", 60, "p1")


def held(scene: Scene) -> None:
    """A placeholder that stands."""
    scene.target.hold([hold("a")])


def gating(scene: Scene) -> None:
    """A gate rule in force."""
    scene.target.gate_replacements(["uid-owner"], "p1", 60)


def tainted(scene: Scene) -> None:
    """A taint of ours."""
    scene.target.taint(["n1"], "p1", 60)


def detached(scene: Scene) -> bool:
    """Taken out as read."""
    found = scene.target.read_pod("shop", "web-0")
    assert found is not None
    return scene.target.detach(WEB, found.resource_version, OUT)


Call = Callable[[Scene], object]
BEFORE: Final[dict[str, Call]] = {
    "renew": held, "release": held, "leftovers": held, "regate": gating, "end": gating, "untaint": tainted,
}  # fmt: skip
READS: Final[dict[str, Call]] = {
    "read": lambda scene: scene.target.read(),
    "read_pod": lambda scene: scene.target.read_pod("shop", "web-0"),
    "read_pods": lambda scene: scene.target.read_pods("shop", LabelSelector(())),
    "read_lists": lambda scene: scene.target.read_lists([("shop", None)]),
    "read_vicinity": lambda scene: scene.target.read_vicinity(MOVE, scene.known()),
    "read_endpoints": lambda scene: scene.target.read_endpoints("shop"),
    "read_workload": lambda scene: scene.target.read_workload(workload("web", 2, namespace="shop")),
    "leftovers": lambda scene: scene.target.leftovers(),
}
WRITES: Final[dict[str, Call]] = {
    "hold": lambda scene: scene.target.hold([hold("a"), hold("b")]),
    "renew": lambda scene: scene.target.renew([hold("a")]),
    "release": lambda scene: scene.target.release(["a"]),
    "nominate": lambda scene: scene.target.nominate(WEB, "n2"),
    "withdraw nomination": lambda scene: scene.target.withdraw_nomination(WEB, "n2"),
    "gate": lambda scene: scene.target.gate_replacements(["uid-owner"], "p1", 60),
    "regate": lambda scene: scene.target.gate_replacements(["uid-owner", "uid-more"], "p1", 60),
    "end": lambda scene: scene.target.gate_replacements([], "p1", 60),
    "ungate": lambda scene: scene.target.ungate(PodReference("default", "gated", "")),
    "taint": lambda scene: scene.target.taint(["n1", "n2"], "p1", 60),
    "untaint": lambda scene: scene.target.untaint(["n1"]),
    "detach": detached,
    "give_back": lambda scene: scene.target.give_back(PodReference("shop", "out", "")),
}
QUESTIONS: Final[dict[str, Call]] = {
    "can_hold": lambda scene: scene.target.can_hold(),
    "can_gate": lambda scene: scene.target.can_gate(),
    "can_taint": lambda scene: scene.target.can_taint(),
    "can_surge": lambda scene: scene.target.can_surge(),
}
CALLS: Final = {**READS, **WRITES, **QUESTIONS}


def scene_for(call: str) -> Scene:
    """As it stands right before the call."""
    scene = Scene()
    if call in BEFORE:
        BEFORE[call](scene)
        scene.pool.asked.clear()
    return scene


def requests_of(call: str) -> list[tuple[str, str]]:
    """What it asks where nothing goes wrong, each once."""
    scene = scene_for(call)
    CALLS[call](scene)
    return list(dict.fromkeys(scene.pool.asked))


def struck(call: str, fault: str) -> list[tuple[tuple[str, str], object]]:
    """For each request of the call: what it asks, and what the call returns, or the error that it raises.

    Of the many lists of a whole reading two for each fault, others for the next.
    """
    told = []
    asked = requests_of(call)
    for request in asked[list(FAULTS).index(fault) % 12 :: 12] if call == "read" else asked:
        scene = scene_for(call)
        scene.pool.fault = FAULTS[fault]
        scene.pool.target = request
        try:
            found: object = CALLS[call](scene)
        except ClusterError as error:
            found = error
        told.append((request, found))
    return told


@pytest.mark.parametrize("call", CALLS)
def test_every_call_works_where_nothing_goes_wrong(call: str) -> None:
    """So what is refused below is refused for its answer."""
    assert not isinstance(CALLS[call](scene_for(call)), ClusterError)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", READS)
def test_nothing_is_read_out_of_an_answer_that_went_wrong(call: str, fault: str) -> None:
    """No empty list, no pod or owner that is gone: it is an error.

    In a whole reading kinds that may be missing may also be forbidden, and one bad object is set aside.
    """
    for request, found in struck(call, fault):
        is_dispensable = call == "read" and (fault == "403 page" or request[1] == "/version")
        is_told = isinstance(found, Cluster) and bool(found.set_aside)
        assert isinstance(found, ClusterError) or is_dispensable or is_told, (request, found)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", WRITES)
def test_a_write_is_done_only_where_an_api_server_says_so(call: str, fault: str) -> None:
    """A line that breaks, a server that fails, a page under a good status, and half an object are all errors."""
    kind = FAULTS[fault]
    for (method, path), found in struck(call, fault):
        is_error = isinstance(found, ClusterError)
        if path == f"/api/v1/namespaces/{HOLDS}" and kind.is_rubbish:
            continue  # whoever answers so says that it is there; what is made in it tells
        if kind.is_lost or (kind.is_rubbish and (method == "GET" or not kind.is_object)):
            assert is_error, (method, path, found)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", QUESTIONS)
def test_whether_something_is_possible_is_said_or_is_an_error(call: str, fault: str) -> None:
    """Never an exception of another kind, which would end the process."""
    for request, found in struck(call, fault):
        assert found is None or isinstance(found, str | ClusterError), request


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("dry_run", [True, False])
def test_an_eviction_is_accepted_by_an_api_server_alone(fault: str, *, dry_run: bool) -> None:
    """What may have happened is Failed, whose debt stays open until the pod itself tells."""
    scene, kind = Scene(), FAULTS[fault]
    scene.pool.fault, scene.pool.target = kind, ("POST", f"{PODS}/web-0/eviction")
    found = scene.target.evict(WEB, "7", dry_run=dry_run)
    assert isinstance(found, EvictionAnswer)
    if kind.is_lost or (kind.is_rubbish and not kind.is_object):
        assert found.kind == "Failed"
    elif fault == "nobody listens":
        assert found.kind == "TooManyRequests"
    elif not kind.is_rubbish:
        assert found.kind != "Accepted"


@pytest.mark.parametrize("fault", FAULTS)
def test_telling_never_stops_anything(fault: str) -> None:
    """Whatever an Event is answered with."""
    scene = Scene()
    scene.pool.fault = FAULTS[fault]
    scene.pool.target = "POST", "/apis/events.k8s.io/v1/namespaces/shop/events"
    scene.target.record(WEB, "Moved", "because")
    scene.target.finish_telling()
    assert scene.pool.target in scene.pool.asked
