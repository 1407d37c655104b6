"""Single rules of the scheduler that random cases touch too seldom, each made into one small world."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.fidelity.cases import judgements
from benchmarks.fidelity.comparison import Judgement
from benchmarks.fidelity.draw import Manifest
from benchmarks.fidelity.oracle import Oracle
from benchmarks.fidelity.pods import GATE
from benchmarks.fidelity.scheduler import CONTROLLERS, alone
from benchmarks.fidelity.stage import Stage
from benchmarks.fidelity.world import World
from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from tests.cluster import shapes
from tests.cluster.cluster import Cluster

NAMESPACE = "fidelity-a"
LABELS = {"app": "a"}
FAR = {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": LABELS}}
]}  # fmt: skip


def node(name: str, cpu: str) -> tuple[Manifest, Manifest]:
    """A ready node, and the patch that takes the taint of a new one away."""
    made = shapes.node(name, cpu=cpu)
    made["status"]["conditions"] = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
    return made, {"spec": {"taints": None}}


def pod(name: str, cpu: str, **spec: Any) -> Manifest:
    """A gated pod."""
    return shapes.pod(name, NAMESPACE, cpu=cpu, labels=LABELS, spec={"schedulingGates": [{"name": GATE}], **spec})


def judged(cluster: Cluster, world: World) -> list[tuple[Judgement, Oracle]]:
    """Each case of the world."""
    plane = cluster.control_plane
    with alone(plane, frozen=CONTROLLERS) as configuration:
        stage = Stage(plane.api)
        oracle = Oracle(LiveReader(connect(str(plane.kubeconfig), read_only=True)), configuration)
        with stage.showing(world) as pods:
            return [(case, oracle) for _, case in judgements(plane.api, oracle, pods)]


def test_nominated_pods_hold_their_room_and_their_terms_only_where_terms_are_looked_at(cluster: Cluster) -> None:
    """The two passes of the filters: room always counts, anti-affinity if the pod has terms or meets placed ones."""
    high = {"priorityClassName": "fidelity-high"}
    guest = pod("g", "1", affinity={"podAntiAffinity": FAR}, **high)
    lonely = {"affinity": {"podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "nobody"}}}
        ]
    }}}  # fmt: skip
    world = World(1, [node("n1", "2"), node("n2", "1")])
    world.guests = [(guest, "n1")]
    world.cases = [
        pod("c1-large", "2"),  # n1 has room only for the guest and one core more
        pod("c2-careful", "500m", **lonely),  # its filter runs, so the guest keeps it off n1
        pod("c3-careless", "1"),  # nothing but the guest concerns it, so n1 will do
        pod("c4-late", "1"),
        pod("c5-higher", "1", **high),  # the guest counts against equals too
    ]
    found = judged(cluster, world)
    assert [case.seen.node for case, _ in found] == [None, "n2", "n1", None, None]
    assert all(case.is_expected for case, _ in found), [case for case, _ in found]


@pytest.mark.timeout(600, func_only=True)
def test_a_sample_is_scored_in_a_large_cluster(cluster: Cluster) -> None:
    """Every pod goes to a node that some sample of that size would have as its best."""
    world = World(2, [node(f"n{number:03}", str(300 - 2 * number)) for number in range(130)])
    world.cases = [pod(f"c{number}", "60") for number in range(8)]
    plane = cluster.control_plane
    with alone(plane, frozen=CONTROLLERS) as configuration:
        stage = Stage(plane.api)
        oracle = Oracle(LiveReader(connect(str(plane.kubeconfig), read_only=True)), configuration)
        with stage.showing(world) as pods:
            oracle.look()
            verdict = oracle.model.verdict(oracle.model.columns.pod_index[f"{NAMESPACE}/c0"], oracle.placement)
            possible = {oracle.cluster.nodes[index].name for index in verdict.possible}
            seen = [case.seen.node for _, case in judgements(plane.api, oracle, pods)]
    assert verdict.is_sampled
    assert verdict.scored == 100
    assert len(possible) < 60
    assert set(seen) <= possible
