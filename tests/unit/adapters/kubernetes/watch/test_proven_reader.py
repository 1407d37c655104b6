"""While a plan runs the cluster is taken from the watches, if what the plan rests on is proven; else it is listed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec import structs

from rescheduler.adapters.kubernetes.watch import proven_reader
from rescheduler.adapters.kubernetes.watch.freshness import MOST_STREAMS
from rescheduler.adapters.kubernetes.watch.proven_reader import ProvenReader, scopes_of
from rescheduler.adapters.kubernetes.watch.watched_scope import WatchedScope
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.move_method import MoveMethod
from tests.unit.adapters.api_objects import node_object, pod_object
from tests.unit.adapters.kubernetes.watch.test_freshness import PODS, Scene
from tests.unit.execution.worlds import fragmented, two_moves

LISTED = Cluster(source="listed")
ON_N1 = (WatchedScope("Node", name="n1"), WatchedScope("Pod", node="n1"), WatchedScope("Pod", namespace="default"))


class Listing:
    """Stands in for the reader that lists everything."""

    def read(self) -> Cluster:
        """A cluster that is known again."""
        return LISTED


def _read(scene: Scene, scopes: Sequence[WatchedScope]) -> Cluster:
    return ProvenReader(scene.mirror, scene.freshness, Listing(), lambda: scopes, scene.clock).read()


def test_what_is_proven_is_taken_from_the_watches() -> None:
    """Without a list, by one narrow read for each part; a reading that comes much later proves it anew."""
    scene = Scene()
    before = len(scene.server.of("list"))
    for count in (1, 2):
        assert sorted(pod.name for pod in _read(scene, ON_N1).pods) == ["on-n1", "on-n2"]
        assert scene.proofs() == count * len(ON_N1)
        scene.clock.sleep(0.6)
    assert len(scene.server.of("list")) == before


def test_it_counts_as_taken_when_it_was_asked_for() -> None:
    """Where the proof takes long, too: replacements of pods evicted on it are not younger than its time by then."""
    scene = Scene()
    prove = scene.freshness.prove

    def slow(scopes: Sequence[WatchedScope], within: float = 1.0) -> float:
        scene.clock.sleep(2.5)
        return prove(scopes, within)

    scene.freshness.prove = slow  # type: ignore[method-assign]
    asked_at = scene.mirror.snapshot().taken_at
    assert _read(scene, ON_N1).taken_at == pytest.approx(asked_at)


def test_all_else_is_listed() -> None:
    """No plan runs, it rests on very many parts, the mirror lags behind, or a watch is lost."""
    scene = Scene()
    assert _read(scene, ()) is LISTED
    scene.server.put("/api/v1/nodes", node_object("n3"))
    assert _read(scene, [WatchedScope("Pod", node=f"n{number}") for number in range(MOST_STREAMS + 2)]) is LISTED
    assert scene.proofs() == 1, "nothing was heard of pods up to the version that it showed"
    scene.mirror.reflectors["Service"].problem = ClusterError("cut off")
    assert _read(scene, ON_N1) is LISTED
    scene.mirror.reflectors["Service"].problem = None
    scene.server.remove("/api/v1/pods", "on-n1", "default")
    assert _read(scene, ON_N1) is LISTED


def test_a_large_plan_is_proven_by_few_streams_while_pods_change() -> None:
    """Its pods are on hundreds of nodes: once the watch has come to what one stream showed, all of them are proven."""
    scene = Scene()
    parts = [*ON_N1, *(WatchedScope("Pod", node=f"n{number}") for number in range(500))]
    scene.server.put("/api/v1/nodes", node_object("n3"))
    scene.turn("Node")

    def heard(_seconds: float) -> None:
        scene.server.put(PODS, pod_object("newer", "n2"))
        scene.turn("Pod")

    scene.clock.sleep = heard  # type: ignore[method-assign]
    assert {"newer", "on-n1"} <= {pod.name for pod in _read(scene, parts).pods}
    assert scene.proofs() == 2, "one of pods, one of the node"


def test_where_a_list_would_take_long_watches_that_live_are_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless they are known to lag behind, or one of them is lost: each move is proven by itself before it is sent."""
    monkeypatch.setattr(proven_reader, "LONG_LIST", 2)
    scene = Scene()
    many = [WatchedScope("Pod", node=f"n{number}") for number in range(MOST_STREAMS + 2)]
    scene.server.put("/api/v1/nodes", node_object("n3"))
    assert sorted(pod.name for pod in _read(scene, many).pods) == ["on-n1", "on-n2"]
    whole = scene.server._part
    scene.server._part = lambda *_: iter([])  # type: ignore[method-assign]
    scene.turn(*scene.mirror.reflectors)
    assert _read(scene, ON_N1) is not LISTED, "streams that break off prove nothing"
    scene.server._part = whole  # type: ignore[method-assign]
    scene.server.remove(PODS, "on-n1", "default")
    assert _read(scene, ON_N1) is LISTED
    scene.turn("Pod")
    scene.mirror.reflectors["Service"].problem = ClusterError("cut off")
    assert _read(scene, ON_N1) is LISTED


def test_watches_that_are_silent_begin_anew_before_they_are_believed() -> None:
    """Where one does not, everything is listed."""
    scene = Scene()
    scene.clock.sleep(30)
    assert _read(scene, ON_N1) is LISTED, "nobody has begun them anew"
    renewed: list[str] = []
    for kind, reflector in scene.mirror.reflectors.items():

        def renew(kind: str = kind) -> None:
            renewed.append(kind)
            scene.turn(kind)

        reflector.renew = renew  # type: ignore[method-assign]
    assert _read(scene, ON_N1) is not LISTED
    assert sorted(renewed) == sorted(scene.mirror.reflectors)
    renewed.clear()
    assert _read(scene, ON_N1) is not LISTED
    assert renewed == [], "they have just told that they live"


def test_a_plan_rests_on_its_nodes_and_namespaces() -> None:
    """Where pods come from and go to, what stands there, and budgets and owners beside them; and on the kill switch."""
    plan = two_moves(fragmented())
    found = set(scopes_of(plan, "holds"))
    assert WatchedScope("Service", namespace="default") not in found
    surging = structs.replace(plan, moves=tuple(structs.replace(one, method=MoveMethod.SURGE) for one in plan.moves))
    by_surge = {WatchedScope(kind, namespace="default") for kind in ("Service", "Deployment")}
    assert set(scopes_of(surging, "holds")) == found | by_surge
    assert WatchedScope("Namespace", name="holds") in found
    for move in plan.moves:
        for node in (move.from_node, move.to_node):
            assert {WatchedScope("Node", name=node), WatchedScope("Pod", node=node)} <= found
        assert {
            WatchedScope("Pod", namespace="default"),
            WatchedScope("PodDisruptionBudget", namespace="default"),
        } <= found
