"""What a move depends on is taken from the watches where they are proven, and from the server where they are not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec import structs

from rescheduler.adapters.kubernetes.eviction.vicinity import ServerReads
from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME
from rescheduler.adapters.kubernetes.watch.watched_reads import RESPITE_SECONDS, WatchedReads
from rescheduler.adapters.kubernetes.watch.watched_scope import WatchedScope
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.plan.plan import Move, PodReference
from rescheduler.model.plan.vicinity import Vicinity
from tests.unit.adapters.api_objects import pod_object
from tests.unit.adapters.kubernetes.watch.test_freshness import NODES, PODS, Scene, Server
from tests.unit.adapters.kubernetes.watch.watched_server import Asked

MOVE = Move(
    pod=PodReference("default", "on-n1", "uid-1"), from_node="n1", to_node="n2", wave=1, reason="", objective=""
)
OTHER = structs.replace(MOVE, pod=PodReference("default", "on-n2", "uid-2"), from_node="n2", to_node="n1")
BUDGETS = KIND_BY_NAME["PodDisruptionBudget"].path
WEB = LabelSelector((Requirement("app", "In", ("web",)),))


class Answering(Server):
    """Answers for single pods too, and counts that."""

    def __init__(self) -> None:
        super().__init__()
        self.live = 0

    def get(self, path: str, params: Mapping[str, str] | None = None) -> bytes:
        """A pod as it stands."""
        if "/pods/" not in path:
            return super().get(path, params)
        self.live += 1
        return json.dumps(self.objects[PODS][("default", path.rpartition("/")[2])]).encode()


class Watched(Scene):
    """The same two nodes and pods, with what answers narrow reads; ``asked``: how often the server was asked all."""

    server: Answering

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(Answering())
        self.server.put(BUDGETS, budget("web"))
        self.turn("PodDisruptionBudget")
        self.asked = 0
        monkeypatch.setattr(ServerReads, "read_vicinity", self._from_server)
        monkeypatch.setattr(ServerReads, "read_lists", self._from_server)
        self.reads = WatchedReads(
            self.server, self.mirror, self.freshness, self.clock, lambda: (WatchedScope("Node", name="n1"),)  # type: ignore[arg-type]
        )  # fmt: skip

    def around(self, move: Move = MOVE) -> Vicinity:
        """What a move depends on."""
        return self.reads.read_vicinity(move, self.mirror.snapshot())

    def slow(self, seconds: float, path: str = NODES) -> None:
        """Proofs of one kind take so long from now on: only one is under way at a time."""

        def wait(asked: Asked) -> None:
            if asked.how == "proof" and asked.path == path:
                self.clock.sleep(seconds)

        self.server.faults[:] = [wait]

    def _from_server(self, *_: Any) -> Any:
        self.asked += 1
        return Vicinity()


def budget(name: str) -> dict[str, Any]:
    """A budget for the pods that are there."""
    return {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "generation": 1},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": 1, "observedGeneration": 1},
    }


def test_a_vicinity_comes_from_the_watches_and_its_pod_from_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is listed; the pods on both nodes, those under its budget, budgets and nodes are there."""
    scene = Watched(monkeypatch)
    found = scene.around()
    assert sorted(pod.name for pod in found.pods) == ["on-n1", "on-n2"]
    assert [item.name for item in found.budgets] == ["web"]
    assert sorted(node.name for node in found.nodes) == ["n1", "n2"]
    assert (scene.server.live, scene.asked, scene.server.of("list")) == (1, 0, [])


def test_moves_of_the_same_half_second_share_their_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second move asks for its pod alone, and says how old the rest may be."""
    scene = Watched(monkeypatch)
    scene.around()
    proofs = scene.proofs()
    scene.clock.sleep(0.4)
    assert scene.around(OTHER).age_seconds == pytest.approx(0.4)
    assert (scene.proofs(), scene.server.live) == (proofs, 2)
    scene.clock.sleep(0.2)
    assert scene.around().age_seconds == 0.0
    assert scene.proofs() > proofs


def test_the_time_that_a_proof_takes_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it shows is no older than the question, by which whoever asks counts."""
    scene = Watched(monkeypatch)
    scene.slow(0.4)
    assert scene.around().age_seconds == 0.0
    scene.clock.sleep(0.05)
    assert scene.around(OTHER).age_seconds == pytest.approx(0.45)


def test_where_proofs_come_too_late_the_server_answers_at_once_and_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a proxy holds streams back: its answer counts from when it was asked, and no proof is waited for."""
    scene = Watched(monkeypatch)
    scene.slow(2.0)
    assert scene.around().age_seconds == pytest.approx(-2.0)
    proofs = scene.proofs()
    for _ in range(2):
        assert scene.around(OTHER).age_seconds == 0.0
        scene.reads.read_lists([("default", None)])
    assert (scene.asked, scene.proofs()) == (5, proofs)
    scene.server.faults.clear()
    scene.clock.sleep(RESPITE_SECONDS)
    scene.around()
    assert (scene.asked, scene.proofs() > proofs) == (5, True)


def test_a_pod_that_the_watch_has_not_told_of_is_looked_for_on_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The live pod is newer than the proof: half a second later the server is asked for everything."""
    scene = Watched(monkeypatch)
    scene.around()
    scene.server.put(PODS, pod_object("on-n1", "n1", priority=7))
    assert scene.around().pods == ()
    assert scene.asked == 1
    scene.turn("Pod")
    scene.clock.sleep(RESPITE_SECONDS)
    assert {pod.spec.priority for pod in scene.around().pods if pod.name == "on-n1"} == {7}
    assert scene.asked == 1


def test_a_pod_that_is_gone_is_not_among_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the watches still show of it."""
    scene = Watched(monkeypatch)
    monkeypatch.setattr("rescheduler.adapters.kubernetes.watch.watched_reads.read_pod", lambda *_: None)
    assert [pod.name for pod in scene.around().pods] == ["on-n2"]


@pytest.mark.parametrize("trouble", ["stale", "lost", "set aside", "another budget"])
def test_what_is_not_known_for_certain_is_asked_of_the_server(monkeypatch: pytest.MonkeyPatch, trouble: str) -> None:
    """A watch that lags behind, or is interrupted, what cannot be counted, and who is counted changes meanwhile."""
    scene = Watched(monkeypatch)
    if trouble == "stale":
        scene.server.put(NODES, {**scene.server.objects[NODES]["", "n2"], "spec": {"unschedulable": True}})
    elif trouble == "lost":
        scene.mirror.reflectors["PodDisruptionBudget"].problem = ClusterError("cut off")
    elif trouble == "set aside":
        broken = pod_object("odd", "n2")
        broken["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1e400"}}
        scene.server.put(PODS, broken)
        scene.turn("Pod")
    else:
        prove = scene.freshness.prove

        def proven(scopes: Sequence[WatchedScope], within: float = 1.0) -> float:
            age = prove(scopes, within)
            scene.server.put(BUDGETS, {**budget("more"), "spec": {"selector": {}, "maxUnavailable": 1}})
            scene.turn("PodDisruptionBudget")
            return age

        scene.freshness.prove = proven  # type: ignore[method-assign]
    assert scene.around().pods == ()
    assert scene.asked == 1


def test_pods_on_their_way_are_looked_for_in_the_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    """By selector or all of a namespace, for as long as a second without a word to the server."""
    scene = Watched(monkeypatch)
    asked = [("default", WEB), ("default", None), ("shop", None)]
    for _ in range(3):
        assert [len(found) for found in scene.reads.read_lists(asked)] == [2, 2, 0]
        scene.clock.sleep(0.3)
    assert scene.proofs() == len(asked)
    scene.mirror.reflectors["Pod"].problem = ClusterError("cut off")
    scene.reads.read_lists(asked)
    assert scene.asked == 1


def test_what_was_foreseen_is_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the pod nor the proofs; how old both may be is told."""
    scene = Watched(monkeypatch)
    live = scene.reads.foresee(MOVE, scene.mirror.snapshot())
    assert live is not None
    assert live.result() is not None
    assert scene.reads._ahead is not None
    scene.reads._ahead.proofs.result()
    proofs = scene.proofs()
    scene.clock.sleep(0.3)
    assert scene.around().age_seconds == pytest.approx(0.3)
    assert (scene.proofs(), scene.server.live, scene.asked) == (proofs, 1, 0)
    scene.around()
    assert scene.server.live == 2


@pytest.mark.parametrize(("move", "seconds"), [(OTHER, 0.1), (MOVE, 0.6)])
def test_what_was_foreseen_of_another_or_long_ago_is_asked_anew(
    monkeypatch: pytest.MonkeyPatch, move: Move, seconds: float
) -> None:
    """Each verdict is about the pod as it was within the last half second."""
    scene = Watched(monkeypatch)
    scene.reads.foresee(MOVE, scene.mirror.snapshot())
    assert scene.reads._ahead is not None
    scene.reads._ahead.proofs.result()
    scene.reads._ahead.live.result()
    scene.clock.sleep(seconds)
    assert scene.around(move).age_seconds <= 0.1
    assert scene.server.live == 2


def test_what_fails_ahead_is_asked_as_if_nothing_had_been_foreseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no failure of the move."""
    scene = Watched(monkeypatch)

    def fail(*_: Any) -> Any:
        raise ClusterError("no answer")

    with monkeypatch.context() as broken:
        broken.setattr(scene.server, "get", fail)
        live = scene.reads.foresee(MOVE, scene.mirror.snapshot())
        assert live is not None
        assert isinstance(live.exception(), ClusterError)
    assert [pod.name for pod in scene.around().pods if pod.name == "on-n1"] == ["on-n1"]
    assert (scene.server.live, scene.asked) == (1, 0)
