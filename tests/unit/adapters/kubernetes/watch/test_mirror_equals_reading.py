"""Whatever has happened, in whatever order it was told: the mirror holds what a fresh reading finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.adapters.kubernetes.client.failures import OutcomeUnknownError, PagesExpiredError
from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.adapters.kubernetes.watch.mirror import MIRROR_SETTINGS, Mirror
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.cluster import Cluster
from tests.clocks import FakeClock
from tests.unit.adapters.api_objects import api_object, container, node_object, pod_object
from tests.unit.adapters.kubernetes.watch.watched_server import (
    Asked,
    WatchedServer,
    event,
    expired,
    expiring_pages,
    once,
)

KINDS = ("Pod", "Node", "Service", "ReplicaSet", "PriorityClass")
WATCHED = tuple(KIND_BY_NAME[name] for name in KINDS)
PATHS = {kind.name: kind.path for kind in WATCHED}
ONCE = ("cut", "broken", "expired", "refused", "silent", "past pages")

names = st.sampled_from(["a", "b", "c", "d-1", "d"])
namespaces = st.sampled_from(["x", "x-y", "y"])
puts = st.tuples(st.just("put"), st.sampled_from(KINDS), namespaces, names, st.integers(0, 7))
removals = st.tuples(st.just("remove"), st.sampled_from(KINDS), namespaces, names)
turns = st.tuples(st.just("turn"), st.sampled_from(KINDS))
faults = st.tuples(st.just("fault"), st.sampled_from(ONCE))
others = st.sampled_from([("compact",), ("repeat", 3), ("repeat", 0)])
histories = st.lists(st.one_of(puts, puts, removals, turns, faults, others), max_size=40)


def made(kind: str, namespace: str, name: str, variant: int) -> dict[str, Any]:
    """An object of a kind in one of several states, of which some are told with warnings."""
    if kind == "Node":
        return node_object(name, allocatable={} if variant == 5 else {"cpu": str(variant + 1), "pods": "10"})
    if kind == "PriorityClass":
        return api_object(kind, name, value=variant)
    if kind == "Service":
        return api_object(kind, name, namespace=namespace, spec={"selector": {"app": str(variant)}})
    if kind == "ReplicaSet":
        return api_object(kind, name, namespace=namespace, spec={"replicas": variant, "selector": {}})
    return _pod(namespace, name, variant)


def _pod(namespace: str, name: str, variant: int) -> dict[str, Any]:
    pod = pod_object(name, (None, "a", "a", "b", "elsewhere", "a", None, "b")[variant], namespace=namespace)
    pod["metadata"]["uid"] = f"uid-{namespace}-{name}"
    if variant == 2:  # its class says what its priority is
        del pod["spec"]["priority"]
        pod["spec"]["priorityClassName"] = "a"
    if variant == 3:
        pod["metadata"]["creationTimestamp"] = "not a time"
    if variant == 5:
        pod["spec"]["containers"] = [container(cpu="2")]
    if variant >= 6:  # more than can be counted: without a node it is left out, with one that is barred
        pod["spec"]["containers"] = [container(cpu="1e25")]
    return pod


def fault(sort: str) -> Any:
    """What goes wrong with the next request that it fits."""

    def act(asked: Asked) -> Iterator[bytes] | None:
        if asked.how != "watch":
            return expiring_pages(asked) if sort == "past pages" else None
        if sort == "refused":
            raise ClusterError("connection refused")
        if sort == "silent" and not asked.is_streamed_list:
            raise OutcomeUnknownError("silent", is_timeout=True)
        if sort == "expired":
            raise PagesExpiredError("gone")
        if asked.is_streamed_list:
            return iter([event("ADDED", made("Service", "x", "half-a-list", 0))]) if sort == "cut" else None
        return {"cut": iter([]), "broken": iter([b'{"type":"ADD']), "past pages": iter([expired()])}.get(sort)

    return once(act)


class World:
    """A server and its mirror, whose watches move only when they are told to."""

    def __init__(self, *, is_streaming: bool) -> None:
        self.server = WatchedServer()
        self.mirror = Mirror(
            self.server,  # type: ignore[arg-type] # stands in for a Connection
            FakeClock(), kinds=WATCHED, settings=MIRROR_SETTINGS._replace(is_streaming=is_streaming),
        )  # fmt: skip

    def do(self, what: str, *how: Any) -> None:
        """One step of a history."""
        if what == "put":
            kind, namespace, name, variant = how
            self.server.put(PATHS[kind], made(kind, namespace, name, variant))
        elif what == "remove":
            kind, namespace, name = how
            self.server.remove(PATHS[kind], name, "" if kind in ("Node", "PriorityClass") else namespace)
        elif what == "turn":
            self.mirror.reflectors[how[0]].follow_once()
        elif what == "fault":
            self.server.faults.append(fault(how[0]))
        elif what == "compact":
            self.server.compact()
        else:
            self.server.repeats = how[0]

    def settle(self) -> Cluster:
        """Let everything go well until all is known; the mirror's snapshot."""
        self.server.faults.clear()
        self.mirror.polling.poll()
        for reflector in self.mirror.reflectors.values():
            for _ in range(3):
                reflector.follow_once()
        return self.mirror.snapshot()


def assert_same(found: Cluster, wanted: Cluster) -> None:
    """All fields are equal; warnings may come in another order."""
    for field in fields(Cluster):
        ours, theirs = getattr(found, field.name), getattr(wanted, field.name)
        if field.name == "warnings":
            ours, theirs = sorted(ours), sorted(theirs)
        assert ours == theirs, field.name


@given(histories, st.booleans())
@settings(max_examples=150)
def test_the_mirror_equals_a_fresh_reading(history: list[tuple[Any, ...]], is_streaming: bool) -> None:
    """Changes, repeats, cuts, expired versions, lists read anew: in the end the snapshot is that of a LiveReader."""
    world = World(is_streaming=is_streaming)
    for step in history:
        world.do(*step)
    found = world.settle()
    assert_same(found, LiveReader(world.server, clock=FakeClock(), kinds=WATCHED).read())  # type: ignore[arg-type]


@given(histories)
@settings(max_examples=50)
def test_a_snapshot_never_changes(history: list[tuple[Any, ...]]) -> None:
    """What was handed out stays as it was, whatever comes after it."""
    world = World(is_streaming=True)
    for kind in KINDS:
        world.do("put", kind, "x", "a", 1)
    before = world.settle()
    kept = {field.name: getattr(before, field.name) for field in fields(Cluster)}
    copies = {name: tuple(value) for name, value in kept.items() if isinstance(value, tuple)}
    for step in history:
        world.do(*step)
    after = world.settle()
    assert all(getattr(before, name) is value for name, value in kept.items())
    assert all(kept[name] == copy for name, copy in copies.items())
    if not any(step[0] in ("put", "remove") for step in history):
        assert after.pods is before.pods
        assert after.nodes is before.nodes
