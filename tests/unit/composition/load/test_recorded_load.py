"""Measured load from a recording, aligned with a snapshot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rescheduler.composition.load.recorded_load import LoadAtRest, PolicyLoad, usage_windows
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.load_report import LoadReport
from rescheduler.model.usage.usage_readings import Reading
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster, node, pod

WORLD = cluster(node("a", "4"), node("b", "4"), pod("x-0", node="a"), pod("y-0"))

STALE = "u.json: its window ended 6m before the snapshot was taken, over 5m ago: the load counts as unknown"
EARLY = "u.json: its window ended 6m after the snapshot was taken; it is believed all the same"


def report(end: float = NOW, pods: dict[str, Any] | None = None, **cpu: float) -> LoadReport:
    """Cpu by node in percent, over fifteen minutes."""
    nodes = {name: (Reading("CPU", "AVG", value),) for name, value in cpu.items()}
    return LoadReport(end, end - 900, end, "test", nodes, pods or {})


def test_one_window_stands_in_for_every_length() -> None:
    """Thresholds over five minutes and scores over ten find the only window there is."""
    windows = usage_windows(WORLD, Policy(), report(a=10, b=20))
    assert windows is not None
    for seconds in (60.0, 300.0, 600.0, 900.0):
        found = windows.over(seconds)
        assert found is not None
        assert found.percent(CPU).tolist() == [10, 20]
    assert usage_windows(WORLD, Policy(), None) is None


def test_nodes_are_matched_by_name_and_the_rest_is_unknown() -> None:
    """Order and strangers in the recording do not matter; a node that is missing counts as unknown."""
    windows = usage_windows(WORLD, Policy(), report(stranger=99, b=20))
    assert windows is not None
    found = windows.over(900)
    assert found is not None
    assert np.isnan(found.percent(CPU)[0])
    assert found.percent(CPU)[1] == 20
    assert found.is_fresh(NOW).tolist() == [False, True]


def test_use_of_pods_is_a_share_of_their_nodes() -> None:
    """Percent of the node's capacity, in millicores and bytes; a pod without node or reading is unknown."""
    readings = (Reading("CPU", "AVG", 25.0), Reading("Memory", "Latest", 50.0))
    windows = usage_windows(WORLD, Policy(), report(pods={"default/x-0": readings, "default/y-0": readings}))
    assert windows is not None
    found = windows.over(900)
    assert found is not None
    assert found.pod_use[CPU].tolist()[0] == 1000
    assert found.pod_use[MEMORY].tolist()[0] == 8 * 2**30
    assert np.isnan(found.pod_use[CPU][1])


@pytest.mark.parametrize(
    ("recorded", "told"),
    [
        (report(a=1, b=2), []),
        (report(a=1, b=2, c=3, d=4), ["u.json: the cluster has no node c, d; their load is left out"]),
        (report(a=1, b=float("nan")), ["u.json: no usable cpu or memory load for node b; it counts as unknown"]),
        (report(a=1, b=2, pods={"x/y": ()}), ["u.json: the cluster has no pod x/y; their load is left out"]),
        (report(NOW - 300, a=1, b=2), []),
        (report(NOW - 301, a=1, b=2), [STALE]),
        (report(NOW - 30 * 86400, a=1, b=2), [STALE.replace("6m", "30 days")]),
        (report(NOW + 301, a=1, b=2), [EARLY]),
    ],
)  # fmt: skip
def test_what_is_of_no_use_is_told(recorded: LoadReport, told: list[str]) -> None:
    """Strangers, nodes without a usable value, and windows far from the snapshot; nothing else."""
    assert list(PolicyLoad(Policy(), recorded, "u.json").warnings(WORLD)) == told


def test_nothing_is_told_where_nothing_is_recorded() -> None:
    """Without a recording there is neither load nor warning."""
    load = PolicyLoad(Policy())
    assert (load.windows(WORLD), list(load.warnings(WORLD))) == (None, [])


def test_load_at_rest_ages_no_further() -> None:
    """In an embedded cluster an hour later the load is as fresh, and as stale, as it was at the start."""
    later = replace(WORLD, taken_at=NOW + 3600)
    for age, is_fresh in ((0.0, True), (400.0, False)):
        load = LoadAtRest(PolicyLoad(Policy(), report(NOW - age, a=1, b=2), "u.json"), NOW)
        windows = load.windows(later)
        assert windows is not None
        found = windows.over(300)
        assert found is not None
        assert found.is_fresh(later.taken_at).tolist() == [is_fresh, is_fresh]
        (*told, last) = load.warnings(later)
        assert told == load.warnings(WORLD)
        assert "does not follow the pods that moved" in last
        assert load.windows(WORLD) is load.load.windows(WORLD)
