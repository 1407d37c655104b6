"""Tests of what is news among the things that autoscalers say."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.kubernetes.autoscalers.autoscaler_notices import ClaimSink, EventSink, StatusSink
from rescheduler.adapters.kubernetes.objects.autoscaler import (
    EventObject,
    NodeClaimObject,
    claim_notices,
    event_notice,
    scale_up_status,
)
from rescheduler.adapters.kubernetes.objects.config_map import ConfigMapObject
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ObjectMeta
from rescheduler.model.daemon.rounds import AutoscalerNotice
from tests.clocks import FakeClock

CREATED, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z"
AT = 1767225600.0


def event(uid: str = "e1", version: str = "5", reason: Any = "TriggeredScaleUp", **fields: Any) -> EventObject:
    """An Event as it is decoded."""
    told = {
        "metadata": {"name": uid, "namespace": "default", "uid": uid, "resourceVersion": version},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "big-0"},
        "reason": reason,
        "message": "pod triggered scale-up",
        "source": {"component": "cluster-autoscaler"},
        "lastTimestamp": CREATED,
        **fields,
    }
    return msgspec.json.decode(msgspec.json.encode(told), type=EventObject)


def heard(sink_type: Any, *more: Any) -> tuple[Any, list[AutoscalerNotice]]:
    """A sink and what it adds."""
    found: list[AutoscalerNotice] = []
    return sink_type(*more, found.append, FakeClock(AT + 10.0)), found


def test_events_at_the_start_are_no_news() -> None:
    """What comes after is, once; the same again, or an older state of it, is not."""
    sink, found = heard(EventSink, "cluster-autoscaler")
    sink.replace([event("old")])
    assert found == []
    sink.upsert(event("new", "6"))
    sink.upsert(event("new", "6"))
    sink.upsert(event("new", "5"))
    assert [(item.reason, item.kind, item.namespace, item.name, item.at) for item in found] == [
        ("TriggeredScaleUp", "Pod", "default", "big-0", AT)
    ]
    sink.upsert(event("old", "9", lastTimestamp=LATER, count=2))
    assert (len(found), found[-1].at) == (2, AT + 300), "one that is said again is news"


def test_after_a_gap_only_what_is_newer_is_news() -> None:
    """The list was read anew; a refusal in between has emptied it."""
    sink, found = heard(EventSink, "karpenter")
    sink.replace([event("a")])
    sink.replace([])
    sink.replace([event("a"), event("b", lastTimestamp=LATER), event("c", lastTimestamp="2025-01-01T00:00:00Z")])
    assert [item.at for item in found] == [AT + 300]
    sink.replace([event("a"), event("b", lastTimestamp=LATER)])
    assert len(found) == 1


def test_an_events_time_is_when_it_was_last_said() -> None:
    """By whatever field tells it; without any it is now."""
    for field, value in (
        ("series", {"lastObservedTime": "2026-01-01T00:05:00.000000Z", "count": 3}),
        ("eventTime", "2026-01-01T00:05:00.000000Z"),
        ("lastTimestamp", LATER),
    ):
        found = event_notice(event(**{field: value}), "karpenter", 1.0)
        assert found is not None
        assert found.at == AT + 300
    silent = event_notice(event(lastTimestamp=None), "karpenter", 7.0)
    assert silent is not None
    assert silent.at == 7.0


@pytest.mark.parametrize(
    "fields",
    [
        {"reason": None}, {"reason": 7}, {"reason": ""}, {"involvedObject": None}, {"involvedObject": "Pod"},
        {"involvedObject": {"kind": 1, "name": "x"}}, {"involvedObject": {"kind": "Pod"}},
    ],
)  # fmt: skip
def test_an_odd_event_says_nothing(fields: dict[str, Any]) -> None:
    """And breaks nothing."""
    sink, found = heard(EventSink, "karpenter")
    sink.replace([])
    sink.upsert(event(**fields))
    sink.upsert(ConfigMapObject())
    assert found == []


def test_hostile_words_are_escaped_and_cut() -> None:
    """They go into logs."""
    found = event_notice(event(reason="x\x1b[31m", message="y" * 10_000), "karpenter", 0.0)
    assert found is not None
    assert "\x1b" not in found.reason
    assert len(found.message) <= 500


NEW_FORM = """time: 2026-01-01 00:05:00
autoscalerStatus: Running
clusterWide:
  health: {status: Healthy}
  scaleUp:
    status: InProgress
    lastTransitionTime: "2026-01-01T00:05:00Z"
nodeGroups:
- name: [this is { not yaml
"""
OLD_FORM = """Cluster-autoscaler status at 2026-01-01 00:05:00 UTC:
Cluster-wide:
  Health:      Healthy (ready=3)
  ScaleUp:     InProgress (ready=3 registered=3)
               LastProbeTime:      2026-01-01
NodeGroups:
  Name:        pool
  ScaleUp:     NoActivity (ready=3 cloudProviderTarget=3)
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (NEW_FORM, ("InProgress", AT + 300)),
        (NEW_FORM.replace('"2026-01-01T00:05:00Z"', "2026-01-01T00:05:00Z"), ("InProgress", AT + 300)),
        (NEW_FORM.replace('"2026-01-01T00:05:00Z"', "soon"), ("InProgress", None)),
        (OLD_FORM, ("InProgress", None)),
        ("Initializing", ("", None)),
        ("clusterWide: [1, 2]", ("", None)),
        ("clusterWide: {scaleUp: {status: 5}}", ("", None)),
        ("a: &a [*a]", ("", None)),
        ("[" * 5000, ("", None)),
        (None, ("", None)),
        ("clusterWide: {}" + " " * 2_000_000, ("", None)),
    ],
    ids=["new", "time by yaml", "no time", "old", "starting", "list", "number", "loop", "tower", "none", "huge"],
)
def test_the_status_is_read_in_both_its_forms(text: str | None, told: tuple[str, float | None]) -> None:
    """What is neither says nothing."""
    assert scale_up_status({"status": text}) == told


@given(st.text(max_size=200))
def test_any_status_is_survived(text: str) -> None:
    """It is somebody else's."""
    assert isinstance(scale_up_status({"status": text})[0], str)


def status(word: str, name: str = "cluster-autoscaler-status") -> ConfigMapObject:
    """The ConfigMap."""
    return ConfigMapObject(ObjectMeta(name=name), {"status": f"clusterWide: {{scaleUp: {{status: {word}}}}}"})


def test_another_word_of_the_status_is_news() -> None:
    """A scale-up that is under way at the start too; that nothing goes on is none."""
    sink, found = heard(StatusSink)
    sink.replace([status("NoActivity"), status("InProgress", "another")])
    sink.upsert(status("NoActivity"))
    assert found == []
    for word in ("InProgress", "InProgress", "Backoff"):
        sink.upsert(status(word))
    assert [(item.reason, item.kind) for item in found] == [
        ("ScaleUpInProgress", "ConfigMap"),
        ("ScaleUpBackoff", "ConfigMap"),
    ]
    later, heard_later = heard(StatusSink)
    later.replace([status("InProgress")])
    assert [item.reason for item in heard_later] == ["ScaleUpInProgress"]


def claim(name: str = "c1", *held: str, node: str = "n1", **meta: Any) -> NodeClaimObject:
    """A NodeClaim with conditions that hold."""
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": CREATED} for kind in held]
    return NodeClaimObject(ObjectMeta(name=name, **meta), {"nodeName": node, "conditions": conditions})


def test_what_newly_holds_of_a_claim_is_news() -> None:
    """Of those at the start only nodes that are on their way."""
    sink, found = heard(ClaimSink)
    sink.replace([claim("done", "Launched", "Registered", "Initialized"), claim("coming", "Launched")])
    assert [(item.name, item.reason) for item in found] == [("coming", "Launched")]
    sink.upsert(claim("coming", "Launched", "Registered"))
    sink.upsert(claim("coming", "Launched", "Registered"))
    sink.replace([claim("coming", "Launched", "Registered", "Initialized"), claim("new", "Launched")])
    assert [(item.name, item.reason) for item in found[1:]] == [
        ("coming", "Registered"), ("coming", "Initialized"), ("new", "Launched")
    ]  # fmt: skip


def test_a_claim_that_cannot_be_launched_says_why() -> None:
    """By the reason of its condition."""
    conditions = [{"type": "Launched", "status": "False", "reason": "InsufficientCapacityError", "message": "none"}]
    [notice] = claim_notices(NodeClaimObject(ObjectMeta(name="c1"), {"conditions": conditions}), 3.0)
    assert (notice.reason, notice.message, notice.at) == ("InsufficientCapacityError", "none", 3.0)


def test_nodes_of_claims_that_are_being_deleted_are_known() -> None:
    """Whether the deletion was there before us or is seen to begin; each is told once."""
    sink, found = heard(ClaimSink)
    sink.replace([claim("c1", "Launched", "Initialized"), claim("c2", node="n2", deletion_timestamp=CREATED)])
    assert [(item.reason, item.message) for item in found] == [("Deleting", "node n2")]
    for _ in range(2):
        sink.upsert(claim("c1", "Launched", "Initialized", deletion_timestamp=CREATED))
    assert [(item.reason, item.message) for item in found[1:]] == [("Deleting", "node n1")]


@pytest.mark.parametrize("odd", [None, [], "x", {"conditions": "x"}, {"conditions": [7, {"type": 5}]}, {"nodeName": 9}])
def test_an_odd_claim_says_nothing(odd: Any) -> None:
    """And breaks nothing."""
    sink, found = heard(ClaimSink)
    sink.replace([NodeClaimObject(ObjectMeta(name="c1"), odd), NodeClaimObject(None, odd)])
    assert found == []
