"""The reflector: a list, its changes, and every way in which a server can fail to tell them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.failures import (
    ForbiddenError,
    InvalidRequestError,
    NotServedError,
    OutcomeUnknownError,
    PagesExpiredError,
    ServerBusyError,
)
from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME
from rescheduler.adapters.kubernetes.watch.list_and_watch import WatchSettings
from rescheduler.adapters.kubernetes.watch.reflector import Reflector
from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.notices import Fault, Notice, SyncChanged
from tests.clocks import FakeClock
from tests.unit.adapters.api_objects import api_object
from tests.unit.adapters.kubernetes.watch.watched_server import (
    Asked,
    WatchedServer,
    bookmark,
    event,
    expired,
    expiring_pages,
    once,
    raising,
)

SERVICES = KIND_BY_NAME["Service"]
PATH = SERVICES.path


class Names:
    """A sink that keeps names; ``told`` is what it was told, in order."""

    def __init__(self) -> None:
        self.now: set[str] = set()
        self.told: list[str] = []
        self.fails = False

    def replace(self, objects: Iterable[Any]) -> None:
        """A whole list."""
        self.now = {found.metadata.name for found in objects}
        self.told.append("list")

    def upsert(self, found: Any) -> None:
        """A new state."""
        if self.fails:
            raise RuntimeError("the sink has a fault")
        self.now.add(found.metadata.name)
        self.told.append(found.metadata.name)

    def delete(self, found: Any) -> None:
        """One is gone."""
        self.now.discard(found.metadata.name)
        self.told.append(f"-{found.metadata.name}")


class Scene:
    """A server with services a and b, and a reflector of them."""

    def __init__(self, **settings: Any) -> None:
        self.server, self.sink, self.clock, self.heard = WatchedServer(), Names(), FakeClock(), list[Notice]()
        self.put("a", "b")
        self.reflector = Reflector(
            self.server,  # type: ignore[arg-type] # stands in for a Connection
            SERVICES, self.sink, self.clock, hear=self.heard.append, settings=WatchSettings(**settings),
        )  # fmt: skip

    def put(self, *names: str) -> None:
        """Create or change services."""
        for name in names:
            self.server.put(PATH, service(name))

    def turns(self, count: int = 1) -> list[float]:
        """Let the reflector move; the waits that it wants."""
        return [self.reflector.follow_once() for _ in range(count)]

    @property
    def synced(self) -> list[bool]:
        """What was told of being in sync."""
        return [notice.is_synced for notice in self.heard if isinstance(notice, SyncChanged)]


def service(name: str) -> dict[str, Any]:
    """A service."""
    return api_object("Service", name, namespace="default", spec={"selector": {"app": name}})


def lines(*found: bytes) -> Any:
    """A fault: a watch (not a list) tells these lines."""

    def fault(asked: Asked) -> Iterator[bytes] | None:
        return iter(found) if asked.how == "watch" and not asked.is_streamed_list else None

    return fault


def watches(failure: Exception) -> Any:
    """A fault: a watch (not a list) cannot be begun, or breaks off."""

    def fault(asked: Asked) -> Iterator[bytes] | None:
        if asked.how == "watch" and not asked.is_streamed_list:
            raise failure
        return None

    return fault


def test_a_list_is_streamed_and_then_followed() -> None:
    """The list comes first, then each change once, from the list's own version."""
    scene = Scene()
    scene.turns()
    assert scene.sink.now == {"a", "b"}
    scene.put("c")
    scene.server.remove(PATH, "a", "default")
    scene.turns()
    assert scene.sink.told == ["list", "c", "-a"]
    assert scene.sink.now == {"b", "c"}
    assert scene.server.of("list") == []
    streamed, first, second = scene.server.of("watch")
    assert (streamed["sendInitialEvents"], streamed["resourceVersionMatch"]) == ("true", "NotOlderThan")
    assert [first["resourceVersion"], second["resourceVersion"]] == ["102", "102"]
    assert first["allowWatchBookmarks"] == "true"
    assert 240 <= int(first["timeoutSeconds"]) <= 480
    assert scene.synced == [True]
    assert (scene.reflector.has_synced, scene.reflector.problem) == (True, None)


@pytest.mark.parametrize(
    "refusal",
    [
        InvalidRequestError("sendInitialEvents is forbidden"),
        ForbiddenError("you may list, but not watch"),
        OutcomeUnknownError("silent", is_timeout=True),
    ],
    ids=["invalid", "forbidden", "silent"],
)
def test_where_lists_are_not_streamed_they_are_read_in_pages(refusal: ClusterError) -> None:
    """An older server is asked for pages, and not asked to stream again."""
    scene = Scene()
    scene.server.page_size = 1

    def refuse(asked: Asked) -> None:
        if asked.is_streamed_list:
            raise refusal

    scene.server.faults = [refuse]
    scene.turns()
    scene.server.faults = [once(lines(expired()))]
    scene.turns(2)
    assert scene.sink.told == ["list", "list"]
    assert scene.sink.now == {"a", "b"}
    assert [asked.how for asked in scene.server.asked if asked.is_streamed_list] == ["watch"]


@pytest.mark.parametrize("cut", [b"", bookmark(90), event("DELETED", service("a"))], ids=["end", "bookmark", "deleted"])
def test_a_streamed_list_that_does_not_end_is_read_in_pages(cut: bytes) -> None:
    """Half a list is never taken for a whole one."""
    scene = Scene()

    def fault(asked: Asked) -> Iterator[bytes] | None:
        found = [event("ADDED", service("a")), *([cut] if cut else [])]
        return iter(found) if asked.is_streamed_list else None

    scene.server.faults = [fault]
    scene.turns()
    assert scene.sink.now == {"a", "b"}
    assert len(scene.server.of("list")) == 1


def test_pages_that_expire_leave_what_there_was() -> None:
    """A list that breaks off half-way replaces nothing, and is read again."""
    scene = Scene(is_streaming=False)
    scene.turns()
    scene.server.faults = [once(lines(expired())), once(expiring_pages)]
    scene.server.remove(PATH, "a", "default")
    scene.turns(2)
    assert scene.sink.now == {"a", "b"}
    assert scene.reflector.has_synced
    scene.turns()
    assert scene.sink.now == {"b"}


@pytest.mark.parametrize("how", ["line", "status"])
def test_versions_that_are_too_old_mean_reading_again(how: str) -> None:
    """410, as a line or as a status, leads to a new list after a jittered wait, and is no trouble worth telling."""
    scene = Scene()
    scene.turns()
    scene.server.faults = [once(lines(expired()) if how == "line" else watches(PagesExpiredError("gone")))]
    scene.server.remove(PATH, "a", "default")
    scene.server.compact()
    (wait,) = scene.turns()
    assert 0.4 <= wait <= 2.4
    scene.turns()
    assert scene.sink.now == {"b"}
    assert scene.sink.told == ["list", "list"]
    assert scene.synced == [True]


def test_waits_grow_while_the_server_is_away_and_nothing_is_forgotten() -> None:
    """An outage: longer and longer waits; then the watch goes on from where it stopped, without a new list."""
    scene = Scene()
    scene.turns()
    away = watches(ClusterError("connection refused"))
    scene.server.faults = [away]
    waits = scene.turns(8)
    assert waits[0] < 2.5
    assert all(wait <= 45.0 for wait in waits)
    assert min(waits[6:]) >= 15.0
    assert len(set(waits)) == len(waits)
    assert "connection refused" in str(scene.reflector.problem)
    scene.put("c")
    scene.server.faults = []
    scene.turns()
    assert scene.sink.told == ["list", "c"]
    assert scene.synced == [True, False, True]
    assert scene.reflector.problem is None


def test_a_silent_watch_is_begun_anew_and_then_not_trusted() -> None:
    """Silence: reconnect at once from the last version; silent again, and everything is read again."""
    scene = Scene()
    scene.turns()
    silence = OutcomeUnknownError("no word for 90 s", is_timeout=True)
    scene.server.faults = [once(watches(silence)), once(watches(silence))]
    assert scene.turns()[0] == 0.0
    assert scene.turns()[0] > 0.0
    scene.turns()
    assert scene.sink.told == ["list", "list"]
    assert scene.server.of("watch")[2]["resourceVersion"] == "102"


def test_one_silence_costs_no_list() -> None:
    """A connection that died is replaced: the watch goes on from the last version."""
    scene = Scene()
    scene.turns()
    scene.server.faults = [once(watches(OutcomeUnknownError("no word for 90 s", is_timeout=True)))]
    scene.put("c")
    scene.turns(2)
    assert scene.sink.told == ["list", "c"]


@pytest.mark.parametrize(
    "broken",
    [b"{", b"[]", b"null", b'{"type":5}', b'{"type":"ADDED"}', b"\xff\xfe", b'{"type":"ADDED","object":{"metadata":5']
)  # fmt: skip
def test_broken_lines_are_asked_for_again(broken: bytes) -> None:
    """What is no line of a watch is lost to nobody: from the last version, and at the second time everything anew."""
    scene = Scene()
    scene.turns()
    scene.put("c")
    scene.server.faults = [once(lines(broken))]
    assert scene.turns()[0] > 0.0
    scene.turns()
    assert scene.sink.told == ["list", "c"]
    scene.put("d")
    scene.server.faults = [once(lines(broken)), once(lines(broken))]
    scene.turns(3)
    assert scene.sink.now == {"a", "b", "c", "d"}
    assert scene.sink.told == ["list", "c", "list"]


def test_an_error_line_is_told_in_the_servers_words() -> None:
    """A watch that the server ends with an error says why."""
    scene = Scene()
    scene.turns()
    error = event("ERROR", {"code": 500, "message": "storage is\x1b[31m reinitializing"})
    scene.server.faults = [once(lines(error))]
    scene.turns()
    assert "500: storage is" in str(scene.reflector.problem)
    assert "\x1b" not in str(scene.reflector.problem)


@pytest.mark.parametrize("how", ["line", "status"])
def test_a_busy_server_is_left_alone_for_as_long_as_it_asks(how: str) -> None:
    """429 with Retry-After waits for that at least."""
    scene = Scene()
    scene.turns()
    busy = event("ERROR", {"code": 429, "message": "too many", "details": {"retryAfterSeconds": 7}})
    scene.server.faults = [once(lines(busy) if how == "line" else watches(ServerBusyError("too many", 7.0)))]
    assert scene.turns()[0] >= 7.0
    scene.turns()
    assert scene.sink.told == ["list"]


@pytest.mark.parametrize("error", [ForbiddenError("not for you"), NotServedError("not here")], ids=["403", "404"])
def test_what_is_refused_is_empty_and_asked_for_seldom(error: ClusterError) -> None:
    """A kind that is forbidden or unknown is told once, empty, and tried again after longer and longer."""
    scene = Scene()
    scene.server.faults = [raising(error), raising(error, "list")]
    waits = scene.turns(7)
    assert waits[0] >= 2.5
    assert min(waits[5:]) >= 60.0
    assert max(waits) <= 180.0
    assert scene.sink.told == ["list"]
    assert (scene.reflector.has_synced, scene.reflector.problem) == (False, error)
    assert scene.synced == [False]
    scene.server.faults = []
    scene.turns()
    assert scene.sink.now == {"a", "b"}
    assert scene.synced == [False, True]


def test_a_right_that_is_lost_for_a_moment_is_not_lost() -> None:
    """A server that is just starting refuses what it grants a second later; only the third time counts."""
    scene = Scene()
    scene.turns()
    scene.server.faults = [watches(ForbiddenError("not yet"))]
    scene.turns(2)
    assert scene.sink.now == {"a", "b"}
    assert scene.reflector.has_synced
    scene.turns()
    assert scene.sink.now == set()
    assert not scene.reflector.has_synced


def test_repeated_and_late_changes_do_no_harm() -> None:
    """A change that comes twice, or an older one, resurrects nothing."""
    scene = Scene()
    scene.turns()
    scene.put("c")
    scene.server.remove(PATH, "c", "default")
    scene.turns()
    scene.server.repeats = 4
    scene.turns(2)
    assert scene.sink.now == {"a", "b"}
    assert scene.sink.told[:3] == ["list", "c", "-c"]
    assert "c" not in scene.sink.told[3:]


def test_a_list_from_the_past_is_not_believed_for_a_while() -> None:
    """A replica that lags behind is refused; a cluster restored from a backup is taken for what it is in the end."""
    scene = Scene()
    scene.turns()
    scene.server.version, scene.server.compacted = 50, 10_000
    scene.server.objects[PATH].popitem()
    scene.turns()
    (wait,) = scene.turns()
    assert wait > 0.0
    assert "older than version 102" in str(scene.reflector.problem)
    assert scene.sink.now == {"a", "b"}
    scene.clock.time += 901
    scene.turns()
    assert scene.sink.now == {"a"}


def test_one_object_that_cannot_be_read_costs_no_other() -> None:
    """It is named and left out, in a list and in a change."""
    scene = Scene()
    scene.server.put(PATH, {**service("odd"), "spec": {"selector": 5}})
    scene.turns()
    assert scene.sink.now == {"a", "b"}
    scene.server.put(PATH, {**service("odder"), "spec": {"selector": [1]}})
    scene.put("c")
    scene.turns()
    assert scene.sink.now == {"a", "b", "c"}
    faults = [notice.message for notice in scene.heard if isinstance(notice, Fault)]
    assert [name in text for name, text in zip(("default/odd:", "default/odder:"), faults, strict=True)] == [True] * 2


def test_a_fault_of_the_sink_is_survived() -> None:
    """It is told, and everything is read again."""
    scene = Scene()
    scene.turns()
    scene.sink.fails = True
    scene.put("c")
    assert scene.turns()[0] > 0.0
    scene.sink.fails = False
    scene.turns()
    assert scene.sink.told == ["list", "list"]
    assert scene.sink.now == {"a", "b", "c"}
    assert [notice.message for notice in scene.heard if isinstance(notice, Fault)] == [
        "https://cluster: services: RuntimeError: the sink has a fault"
    ]


def test_a_watch_that_ends_at_once_is_not_begun_anew_at_once() -> None:
    """Whatever stands between us and the server may cut watches short: that must not become a storm."""
    scene = Scene()
    scene.server.faults = [lines()]
    waits = scene.turns(6)
    assert all(wait > 0.0 for wait in waits)
    assert waits[-1] > 10.0


def test_a_watch_that_ends_after_its_time_goes_on_at_once() -> None:
    """That is what the server was asked for."""
    scene = Scene()

    def long_watch(asked: Asked) -> Iterator[bytes] | None:
        if asked.is_streamed_list:
            return None
        scene.clock.time += 300.0
        return iter([bookmark(200)])

    scene.server.faults = [long_watch]
    assert scene.turns(3) == [0.0, 0.0, 0.0]
    assert scene.server.of("watch")[-1]["resourceVersion"] == "200"


def test_age_is_counted_from_the_last_word() -> None:
    """Endless before the first word; then from the last one, and an answer that there is nothing new is one."""
    scene = Scene()
    assert scene.reflector.age_seconds() == float("inf")
    scene.turns()
    scene.clock.time += 20.0
    assert scene.reflector.age_seconds() == 20.0
    scene.server.faults = [once(watches(ClusterError("connection refused"))), once(lines())]
    scene.turns()
    assert scene.reflector.age_seconds() == 20.0
    scene.turns()
    assert scene.reflector.age_seconds() == 0.0


def test_further_parameters_are_sent_with_every_request() -> None:
    """A field selector holds for list and watch."""
    server = WatchedServer()
    reflector = Reflector(
        server,  # type: ignore[arg-type] # stands in for a Connection
        SERVICES, Names(), FakeClock(), params={"fieldSelector": "metadata.name=a"},
        settings=WatchSettings(is_streaming=False),
    )  # fmt: skip
    reflector.follow_once()
    assert [asked.params.get("fieldSelector") for asked in server.asked] == ["metadata.name=a"] * 2


def test_two_reflectors_do_not_wait_for_the_same_time() -> None:
    """Seeds spread the load after an outage; the same seed gives the same waits."""
    waits = []
    for seed in (1, 2, 1):
        server = WatchedServer()
        server.faults = [raising(ClusterError("away"))]
        reflector = Reflector(server, SERVICES, Names(), FakeClock(), seed=seed)  # type: ignore[arg-type]
        waits.append([reflector.follow_once() for _ in range(4)])
    assert waits[0] != waits[1]
    assert waits[0] == waits[2]


def test_stopping_ends_the_thread() -> None:
    """A reflector in its thread waits by what it was given, and ends when asked to."""
    scene = Scene()
    ready = []
    reflector = Reflector(
        scene.server,  # type: ignore[arg-type] # stands in for a Connection
        SERVICES, scene.sink, scene.clock, wait=lambda seconds: (ready.append(seconds), reflector.stop()),
    )  # fmt: skip
    reflector.start()
    assert reflector.join(30.0)
    assert len(ready) == 1
    assert scene.sink.now == {"a", "b"}
