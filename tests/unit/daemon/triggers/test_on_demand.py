"""OnDemand: each request once, and each new value of the annotation once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.daemon.rounds import RoundRequest
from rescheduler.model.objects.pod import OwnerReference
from rescheduler.model.objects.workload import Namespace, Workload
from tests.builders import NOW
from tests.builders import workload as made
from tests.unit.daemon.triggers.sights import sight, trigger

KEY = "rescheduler.dev/reschedule"


def namespace(value: str | None, name: str = "shop") -> dict[str, Any]:
    """A namespace with this value."""
    return {"namespaces": (Namespace(name, annotations={} if value is None else {KEY: value}),)}


def workload(name: str, value: str | None, **fields: Any) -> Workload:
    """A workload with this value."""
    return made(name, 3, annotations={} if value is None else {KEY: value}, **fields)


def rfc3339(at: float) -> str:
    """A time so many seconds after the start, as people write it."""
    return datetime.fromtimestamp(NOW + at, UTC).isoformat().replace("+00:00", "Z")


def test_requests_ask_at_once_and_say_who_asked() -> None:
    """Several of them for one round."""
    asked = trigger("OnDemand")
    requests = [RoundRequest(NOW, "REST", "alice", "new nodes"), RoundRequest(NOW, "signal")]
    occasion = asked.look(sight(1, requests=requests))
    assert occasion is not None
    assert occasion.reason == "REST by alice: new nodes and signal"
    assert asked.look(sight(2)) is None


def test_a_new_value_on_a_namespace_asks_once() -> None:
    """Then another value is needed."""
    asked = trigger("OnDemand")
    assert asked.look(sight(0, **namespace(None))) is None
    occasion = asked.look(sight(1, **namespace("1")))
    assert occasion is not None
    assert occasion.reason == f"annotation {KEY}=1 on namespace shop"
    assert asked.look(sight(2, **namespace("1"))) is None
    assert asked.look(sight(3, **namespace("2"))) is not None


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "ReplicaSet", "DaemonSet", "Job"])
def test_a_new_value_on_a_workload_asks(kind: str) -> None:
    """Of any kind that is read."""
    asked = trigger("OnDemand")
    asked.look(sight(0, workload("web", None, kind=kind)))
    occasion = asked.look(sight(1, workload("web", "now", kind=kind)))
    assert occasion is not None
    assert occasion.reason.endswith(f"on {kind} default/web")


def test_values_that_are_there_at_the_start_are_known() -> None:
    """A restart does not run yesterday's wish again."""
    asked = trigger("OnDemand")
    assert asked.look(sight(0, **namespace("1"))) is None
    assert asked.look(sight(1, **namespace("1"))) is None
    assert asked.look(sight(2, **namespace("2"))) is not None


@pytest.mark.parametrize(("at", "asks"), [(5, True), (-5, False)])
def test_a_time_after_the_start_asks_at_the_first_look_too(at: float, asks: bool) -> None:
    """It was written while the caches were still being read."""
    assert (trigger("OnDemand").look(sight(10, **namespace(rfc3339(at)))) is not None) is asks


def test_a_value_that_comes_back_is_not_new() -> None:
    """Taken away and set again, or after another one."""
    asked = trigger("OnDemand")
    asked.look(sight(0, **namespace(None)))
    assert asked.look(sight(1, **namespace("a"))) is not None
    assert asked.look(sight(2, **namespace(None))) is None
    assert asked.look(sight(3, **namespace("a"))) is None
    assert asked.look(sight(4, **namespace("b"))) is not None
    assert asked.look(sight(5, **namespace("a"))) is None


def test_an_object_that_was_made_anew_has_said_nothing_yet() -> None:
    """The namespace was gone meanwhile."""
    asked = trigger("OnDemand")
    asked.look(sight(0, **namespace("a")))
    asked.look(sight(1))
    assert asked.look(sight(2, **namespace("a"))) is not None


@pytest.mark.parametrize("order", [("web", "web-7f"), ("web-7f", "web")])
def test_a_deployment_and_its_replica_sets_are_one(order: tuple[str, str]) -> None:
    """Its controller copies annotations to them, before or after we see its own."""
    owner = OwnerReference("Deployment", "web", "uid-default-web")

    def world(marked: set[str]) -> tuple[Workload, ...]:
        top = workload("web", "x" if "web" in marked else None, kind="Deployment")
        sets = [workload(name, "x" if name in marked else None, owner=owner) for name in ("web-7f", "web-8a")]
        return (top, *sets)

    asked = trigger("OnDemand")
    asked.look(sight(0, *world(set())))
    assert asked.look(sight(1, *world({order[0]}))) is not None
    assert asked.look(sight(2, *world(set(order)))) is None
    assert asked.look(sight(3, *world({"web", "web-7f", "web-8a"}))) is None


def test_an_empty_value_says_nothing() -> None:
    """Nor does one without end fill our memory."""
    asked = trigger("OnDemand")
    asked.look(sight(0, **namespace(None)))
    assert asked.look(sight(1, **namespace(""))) is None
    occasion = asked.look(sight(2, **namespace("x" * 200_000)))
    assert occasion is not None
    assert len(occasion.reason) < 200


def test_control_characters_do_not_get_into_the_reason() -> None:
    """It goes to logs and terminals."""
    asked = trigger("OnDemand")
    asked.look(sight(0, **namespace(None)))
    occasion = asked.look(sight(1, requests=[RoundRequest(NOW, "REST", "eve\x1b[31m")], **namespace("a\nb\x00")))
    assert occasion is not None
    assert occasion.reason.isprintable()


@given(st.lists(st.sampled_from(["a", "b", "c", None]), max_size=15))
def test_each_value_asks_exactly_once(values: list[str | None]) -> None:
    """In whatever order they come and go."""
    asked = trigger("OnDemand")
    asked.look(sight(0, **namespace(None)))
    seen: set[str] = set()
    for at, value in enumerate(values, 1):
        is_new = value is not None and value not in seen
        assert (asked.look(sight(at, **namespace(value))) is not None) is is_new
        seen.update([value] if value else [])
