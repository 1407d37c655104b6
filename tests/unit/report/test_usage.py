"""Measured load as rows: nothing known is never 0, and doubts stay with the figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rescheduler.model.usage.trust import Trust, TrustState
from rescheduler.report.documents import to_data
from rescheduler.report.plan.bars import BarStyle
from rescheduler.report.usage import PodUsageList, UsageView, node_usage, node_usage_table, pod_usage, pod_usage_table
from rescheduler.usage.aligning import aligned
from tests.builders import NOW
from tests.unit.daemon.api.records import NAN, collected, pods_using
from tests.unit.report.rendering import rendered

ROWS: Mapping[str, Mapping[str, float]] = {
    "idle": {"average": 0.0, "deviation": 0.0},
    "unknown": {},
    "busy": {"average": 97.25, "deviation": 3.0, "p95": 99.0},
    "one": {"latest": 50.0},
}


def view(**fields: Any) -> UsageView:
    """Four nodes over fifteen minutes, one of which nobody has measured."""
    trust = {"unknown": Trust(TrustState.MISSING, "no sample")}
    known = collected(ROWS, trust=trust, end=[NOW, NAN, NOW - 700, NOW - 40000], **fields)
    usage = aligned(known, known.nodes, known.pods).over(900.0)
    assert usage is not None
    return UsageView(known.nodes, known.pods, usage, NOW, "15m", "Prometheus", np.full(len(known.pods), NOW - 5))


def test_nodes_stand_by_load_and_what_is_unknown_is_null() -> None:
    """An idle node is 0, an unmeasured one is not."""
    data = to_data(node_usage(view()))
    assert [row["node"] for row in data["nodes"]] == ["busy", "one", "idle", "unknown"]
    found = {row["node"]: row for row in data["nodes"]}
    assert found["idle"]["cpu"] == {"average": 0.0, "deviation": 0.0}
    assert found["unknown"]["cpu"] == {}
    assert [row["ageSeconds"] for row in data["nodes"]] == [700.0, 40000.0, 0.0, None]
    assert (found["unknown"]["trust"], found["unknown"]["reason"]) == ("Missing", "no sample")
    assert found["idle"]["networkBytesPerSecond"] is None


def test_pods_have_their_share_of_the_node() -> None:
    """Of 4 cores and 16 GiB; a pod whose node is not known has none."""
    pods = pods_using(
        ("a", "idle", 400.0, 2.0**30), ("b", "gone", 800.0, NAN), ("c", None, 1.0, 1.0), ("d", "one", NAN, 0.0)
    )
    rows = to_data(pod_usage(view(**pods)))["pods"]
    assert [(row["pod"]["name"], row["cpuMillicores"], row["cpuPercent"], row["memoryPercent"]) for row in rows] == [
        ("b", 800.0, None, None),
        ("a", 400.0, 10.0, 6.25),
        ("d", None, None, 0.0),
    ]
    assert {row["ageSeconds"] for row in rows} == {5.0}


def test_tables_show_bars_only_on_a_terminal() -> None:
    """In the characters that it has."""
    plain = rendered(node_usage_table(node_usage(view())))
    unicode = rendered(node_usage_table(node_usage(view()), style=BarStyle(width=120)))
    ascii_ = rendered(node_usage_table(node_usage(view()), style=BarStyle(width=120, is_ascii=True)))
    assert ("█" in plain, "█" in unicode, "█" in ascii_) == (False, True, False)
    assert "###########." in ascii_
    for text in (plain, unicode, ascii_):
        assert "97.2%" in text
        assert "no sample" in text
        assert "12m" in text
        assert "11h" in text


def test_what_holds_for_all_nodes_is_said_above_them() -> None:
    """A freeze, or that requests stand in."""
    frozen = view(assessment={"freeze": "sudden drop"})
    assert "nothing is moved by load now: sudden drop" in rendered(node_usage_table(node_usage(frozen)))
    fallen = view(assessment={"freeze": "coverage", "falls_back": True})
    assert "requests stand in for it" in rendered(node_usage_table(node_usage(fallen)))


def test_the_table_of_pods() -> None:
    """Amounts, with bars of the share on a terminal."""
    found = pod_usage(view(**pods_using(("a", "idle", 400.0, 2.0**30))))
    assert "400m" in rendered(pod_usage_table(found))
    assert "1024Mi" in rendered(pod_usage_table(found, style=BarStyle(width=120)))
    assert "█" in rendered(pod_usage_table(found, style=BarStyle(width=120)))


def test_no_pods_are_a_table_without_rows() -> None:
    """A cluster may be empty, or nothing of it be measured yet."""
    lines = rendered(pod_usage_table(PodUsageList("5m", "Prometheus", (), ()))).splitlines()
    assert lines[0] == "load of 0 pods over 5m, from Prometheus"
    assert lines[1].split() == ["POD", "NODE", "CPU", "MEMORY", "AGE", "TRUST"]
    assert len(lines) == 2
