"""A plan is carried out on watches that are open for as long as it takes; where there can be none, the user is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import structs

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.client.failures import ForbiddenError, InvalidRequestError
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.adapters.kubernetes.watch.mirror import Mirror
from rescheduler.adapters.kubernetes.watch.proven_reader import ProvenReader
from rescheduler.composition.live.watching import sight_of
from rescheduler.extension_points import Clock, ClusterError
from tests.clocks import FakeClock
from tests.unit.adapters.api_objects import node_object, pod_object
from tests.unit.adapters.kubernetes.watch.test_freshness import NODES, PODS, Server
from tests.unit.adapters.kubernetes.watch.watched_server import Asked, raising
from tests.unit.execution.worlds import fragmented, two_moves

PLAN = two_moves(fragmented())


@pytest.fixture
def server() -> Server:
    """A node with a pod."""
    found = Server()
    found.put(NODES, node_object("n1"))
    found.put(PODS, pod_object("on-n1", "n1"))
    return found


def opened(server: Server, told: list[str], plan: Any = PLAN, clock: Clock | None = None) -> Any:
    """What sees the cluster while the plan runs."""
    return sight_of(plan, server, "holds", clock or SystemClock(), told.append)  # type: ignore[arg-type]


def test_the_cluster_is_seen_by_watches_until_the_end(server: Server) -> None:
    """Nothing is listed and nothing is said; an interruption closes them as well."""
    told: list[str] = []
    mirrors: list[Mirror] = []

    def interrupted() -> None:
        with opened(server, told) as sight:
            assert isinstance(sight.reader, ProvenReader)
            assert sight.reads is not None
            mirrors.append(sight.reader._mirror)
            assert [pod.name for pod in mirrors[0].snapshot().pods] == ["on-n1"]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert all(found.stopping.is_set() for found in mirrors[0].reflectors.values())
    assert (told, server.of("list")) == ([], [])


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ForbiddenError("pods is forbidden: User cannot watch"), "watches are denied: pods is forbidden"),
        (InvalidRequestError("sendInitialEvents is forbidden"), "this API server does not stream lists"),
        (ClusterError("RequestWatchProgress is disabled"), "watches do not work here: RequestWatch"),
    ],
)
def test_where_nothing_can_be_watched_the_cluster_is_listed(server: Server, error: Exception, said: str) -> None:
    """Found out by one request for next to nothing, and said once."""
    told: list[str] = []
    server.faults.append(raising(error, "proof"))
    with opened(server, told) as sight:
        assert isinstance(sight.reader, LiveReader)
        assert sight.reads is None
    assert len(told) == 1
    assert told[0].startswith(said)
    assert len(server.asked) == 1


@pytest.mark.parametrize("slow", [1, 2])
def test_where_streams_are_held_back_the_cluster_is_listed(server: Server, slow: int) -> None:
    """A proxy that passes answers on when they are whole: no proof would ever come in time. A slow start is none."""
    clock, left = FakeClock(), [2.0] * slow
    told: list[str] = []

    def hold_back(asked: Asked) -> None:
        if asked.how == "proof" and left:
            clock.sleep(left.pop())

    server.faults.append(hold_back)
    with opened(server, told, clock=clock) as sight:
        assert isinstance(sight.reader, LiveReader if slow > 1 else ProvenReader)
    assert [text.partition(",")[0] for text in told] == ["a stream of nothing took 2.0 s"] * (slow - 1)
    assert [asked.how for asked in server.asked].count("proof") == 2


def test_where_one_kind_may_not_be_watched_the_cluster_is_listed(server: Server) -> None:
    """The snapshot would lack it; what was begun is closed again."""

    def deny(asked: Asked) -> Iterator[bytes] | None:
        if asked.how == "watch" and asked.path == NODES:
            raise ForbiddenError("nodes is forbidden: User cannot watch")
        return None

    told: list[str] = []
    server.faults.append(deny)
    with opened(server, told) as sight:
        assert isinstance(sight.reader, LiveReader)
    assert len(told) == 1
    assert "nodes is forbidden" in told[0]


def test_for_nothing_to_do_no_watch_is_opened(server: Server) -> None:
    """A plan that was carried out before is looked at once, by a list."""
    told: list[str] = []
    with opened(server, told, structs.replace(PLAN, moves=(), placements=())) as sight:
        assert isinstance(sight.reader, LiveReader)
    assert (told, server.asked) == ([], [])
