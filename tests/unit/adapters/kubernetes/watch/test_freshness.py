"""Whether the mirror shows a part of the cluster as it stands is proven by the server's own words, or not believed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME, KINDS
from rescheduler.adapters.kubernetes.watch.freshness import FRESH_SECONDS, Freshness, StaleMirrorError
from rescheduler.adapters.kubernetes.watch.mirror import Mirror
from rescheduler.adapters.kubernetes.watch.watched_scope import WatchedScope
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from tests.clocks import FakeClock
from tests.unit.adapters.api_objects import node_object, pod_object
from tests.unit.adapters.kubernetes.watch.watched_server import Asked, Lines, WatchedServer, bookmark, event

PODS, NODES = KIND_BY_NAME["Pod"].path, KIND_BY_NAME["Node"].path


class Server(WatchedServer):
    """Streams a part of a list too."""

    def stream(self, path: str, params: Any, *, read_timeout: float) -> Lines:
        """As the real one: narrowed by namespace in the path, and by field selectors."""
        group, _, rest = path.partition("/namespaces/")
        namespace, _, plural = rest.partition("/")
        if "sendInitialEvents" not in params or not (namespace or {"fieldSelector", "labelSelector"} & {*params}):
            return super().stream(path, params, read_timeout=read_timeout)
        lines = self._fault(Asked("proof", path, params))
        if lines is not None:
            return Lines(lines)
        wanted = dict(part.split("=") for part in params.get("fieldSelector", "").split(",") if part)
        listed = f"{group}/{plural}" if namespace else path
        return Lines(self._selected(params.get("labelSelector", ""), self._part(listed, namespace, wanted)))

    def _selected(self, labels: str, lines: Iterator[bytes]) -> Iterator[bytes]:
        """Those whose one label has one of the values that a selector ``key in (a,b)`` names."""
        key, _, values = labels.partition(" in ")
        for line in lines:
            found = json.loads(line)
            had = found["object"]["metadata"].get("labels", {}).get(key)
            if not labels or found["type"] == "BOOKMARK" or had in values.strip("()").split(","):
                yield line

    def _part(self, path: str, namespace: str, wanted: dict[str, str]) -> Iterator[bytes]:
        for found in self.objects.get(path, {}).values():
            meta, spec = found["metadata"], found.get("spec", {})
            shown = {"metadata.name": meta["name"], "spec.nodeName": spec.get("nodeName", "")}
            if namespace in ("", meta.get("namespace")) and all(shown[key] == one for key, one in wanted.items()):
                yield event("ADDED", found)
        yield bookmark(self.version, is_end=True)


class Scene:
    """Two nodes with a pod each, and a mirror that has read them a minute ago, and followed them since."""

    def __init__(self, server: Server | None = None) -> None:
        self.server, self.clock = server or Server(), FakeClock()
        for name in ("n1", "n2"):
            self.server.put(NODES, node_object(name))
            self.server.put(PODS, pod_object(f"on-{name}", name))
        self.mirror = Mirror(self.server, self.clock)  # type: ignore[arg-type] # stands in for a Connection
        self.turn(*(kind.name for kind in KINDS))
        self.clock.sleep(60.0)
        self.turn(*(kind.name for kind in KINDS))
        self.mirror.polling.poll()
        self.freshness = Freshness(self.server, self.mirror, self.clock)  # type: ignore[arg-type]

    def turn(self, *kinds: str) -> None:
        """Let watches hear what has happened."""
        for kind in kinds:
            self.mirror.reflectors[kind].follow_once()

    def proofs(self) -> int:
        """How often the server was asked."""
        return sum(asked.how == "proof" for asked in self.server.asked)


def labelled(name: str, hostname: str | None = None) -> dict[str, Any]:
    """A node with the label that a kubelet gives it, or another one."""
    found: dict[str, Any] = node_object(name)
    found["metadata"]["labels"]["kubernetes.io/hostname"] = hostname or name
    return found


ON_N1 = WatchedScope("Pod", node="n1")


def test_a_silent_watch_is_proven_by_one_narrow_read() -> None:
    """Nothing has changed there, though other kinds have: the versions of its objects are the same."""
    scene = Scene()
    scene.server.put(NODES, node_object("n3"))
    assert scene.freshness.prove([ON_N1, WatchedScope("Pod", namespace="default")]) <= FRESH_SECONDS
    assert scene.proofs() == 2


def test_a_proof_is_shared_for_a_second() -> None:
    """By whoever asks; after that the server is asked anew, and the age is told from the beginning of the proof."""
    scene = Scene()
    scene.freshness.prove([ON_N1])
    scene.clock.sleep(0.9)
    assert scene.freshness.prove([ON_N1]) == pytest.approx(0.9)
    assert scene.proofs() == 1
    scene.clock.sleep(0.2)
    scene.freshness.prove([ON_N1])
    assert scene.proofs() == 2


@pytest.mark.parametrize("change", ["changed", "came", "gone", "left the node"])
def test_a_watch_that_lags_behind_is_found_out(change: str) -> None:
    """Whatever it has not told of; elsewhere it does not matter."""
    scene = Scene()
    if change == "changed":
        scene.server.put(PODS, pod_object("on-n1", "n1", priority=7))
    elif change == "came":
        scene.server.put(PODS, pod_object("new", "n1"))
    elif change == "gone":
        scene.server.remove(PODS, "on-n1", "default")
    else:
        scene.server.put(PODS, pod_object("on-n1", "n2"))
    with pytest.raises(StaleMirrorError, match="watch of Pod lags behind: default/"):
        scene.freshness.prove([ON_N1])
    scene.freshness.prove([WatchedScope("Node", name="n1")])
    scene.turn("Pod")
    scene.freshness.prove([ON_N1])


def test_what_could_not_be_proven_is_asked_for_again() -> None:
    """A failure is no proof that is shared."""
    scene = Scene()
    scene.server.put(PODS, pod_object("new", "n1"))
    for _ in range(2):
        with pytest.raises(StaleMirrorError):
            scene.freshness.prove([ON_N1])
    assert scene.proofs() == 2


def test_a_mirror_that_is_newer_than_the_proof_is_fresh() -> None:
    """It hears of changes while the proof is under way."""
    scene = Scene()
    whole = scene.server._part

    def part(path: str, namespace: str, wanted: dict[str, str]) -> Iterator[bytes]:
        lines = list(whole(path, namespace, wanted))
        scene.server.remove(PODS, "on-n1", "default")
        scene.server.put(PODS, pod_object("newer", "n1"))
        scene.turn("Pod")
        return iter(lines)

    scene.server._part = part  # type: ignore[method-assign]
    scene.freshness.prove([ON_N1])


def test_a_stream_that_breaks_off_proves_nothing() -> None:
    """Half a list may lack the very pod that matters."""
    scene = Scene()
    scene.server._part = lambda *_: iter([])  # type: ignore[method-assign]
    with pytest.raises(ClusterError, match="ended before it was whole"):
        scene.freshness.prove([ON_N1])


def test_what_was_listed_within_the_last_second_is_proven_by_that() -> None:
    """A list is never an answer from an old cache: all of its kind is as it was when it was asked for."""
    scene = Scene()
    scene.mirror.reflectors["Pod"]._following.version = None
    scene.turn("Pod")
    scene.clock.sleep(0.9)
    assert scene.freshness.prove([ON_N1, WatchedScope("Pod", namespace="default")]) == pytest.approx(0.9)
    assert scene.proofs() == 0
    scene.clock.sleep(0.2)
    scene.freshness.prove([ON_N1])
    assert scene.proofs() == 1


def test_one_proof_is_enough_for_a_kind_whose_watch_goes_on_beyond_it() -> None:
    """A watch that tells of a later version has told all of its kind before; one that stays behind proves its part."""
    scene = Scene()
    on_n2 = WatchedScope("Pod", node="n2")
    scene.server.put(NODES, node_object("n3"))
    scene.freshness.prove([ON_N1])
    scene.server.put(PODS, pod_object("newer", "n1"))
    scene.freshness.prove([on_n2])
    assert scene.proofs() == 2, "nothing was heard of the pod that came"
    scene.turn("Pod")
    scene.clock.sleep(0.5)
    assert scene.freshness.prove([WatchedScope("Pod", namespace="default")]) == pytest.approx(0.5)
    assert scene.proofs() == 2
    scene.clock.sleep(0.6)
    scene.freshness.prove([WatchedScope("Pod", namespace="default")])
    assert scene.proofs() == 3, "the proof is over a second old"


def test_nodes_are_asked_for_together() -> None:
    """By the label that names them; whose label says something else, and who is not known, by himself."""
    scene = Scene()
    scene.server.put(NODES, labelled("n3", hostname="other"))
    scene.turn("Node")
    nodes = [WatchedScope("Node", name=name) for name in ("n1", "n2", "n3")]
    scene.freshness.prove(nodes)
    asked = [found.params for found in scene.server.asked if found.how == "proof"]
    assert sorted(str(params.get("labelSelector") or params.get("fieldSelector")) for params in asked) == [
        "kubernetes.io/hostname in (n1,n2)", "metadata.name=n3",
    ]  # fmt: skip
    scene.freshness.prove(nodes)
    assert scene.proofs() == 2


@pytest.mark.parametrize("change", ["changed", "gone", "relabelled", "took the label"])
def test_a_watch_of_nodes_that_lags_behind_is_found_out(change: str) -> None:
    """Though they are asked for by their label."""
    scene = Scene()
    if change == "changed":
        scene.server.put(NODES, {**node_object("n1"), "spec": {"unschedulable": True}})
    elif change == "gone":
        scene.server.remove(NODES, "n1")
    elif change == "relabelled":
        scene.server.put(NODES, labelled("n1", hostname="other"))
    else:
        scene.server.put(NODES, labelled("n9", hostname="n1"))
    with pytest.raises(StaleMirrorError, match=r"watch of Node lags behind: n[19] is"):
        scene.freshness.prove([WatchedScope("Node", name="n1"), WatchedScope("Node", name="n2")])


def test_pods_are_proven_by_their_labels() -> None:
    """Those that a selector matches, and nobody else."""
    scene = Scene()
    of_web = LabelSelector((Requirement("app", "In", ("web",)),))
    db = pod_object("db", "n1")
    db["metadata"]["labels"] = {"app": "db"}
    scene.server.put(PODS, db)
    scene.freshness.prove([WatchedScope("Pod", "default", labels=of_web)])
    scene.server.put(PODS, pod_object("web", "n1"))
    scene.clock.sleep(2.0)
    with pytest.raises(StaleMirrorError, match="default/web is of version"):
        scene.freshness.prove([WatchedScope("Pod", "default", labels=of_web)])


@settings(max_examples=60)
@given(
    changes=st.lists(st.tuples(st.sampled_from(["put", "remove"]), st.integers(0, 3), st.sampled_from(["n1", "n2"]))),
    heard=st.booleans(),
)
def test_what_is_proven_is_what_the_server_shows(changes: list[tuple[str, int, str]], heard: bool) -> None:
    """Through any history: a scope that is proven holds the same pods of the same versions in the mirror."""
    scene = Scene()
    for how, number, node in changes:
        if how == "put":
            scene.server.put(PODS, pod_object(f"p-{number}", node))
        else:
            scene.server.remove(PODS, f"p-{number}", "default")
    if heard:
        scene.turn("Pod")
    there = {
        key: found["metadata"]["resourceVersion"]
        for key, found in scene.server.objects[PODS].items()
        if found["spec"].get("nodeName") == "n1"
    }
    try:
        scene.freshness.prove([ON_N1])
    except StaleMirrorError:
        assert not heard
    else:
        assert scene.mirror.stores["Pod"].versions_in(ON_N1) == there
