"""A node above a measured threshold takes no pods."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rescheduler.model.usage.usage import UsageWindows
from rescheduler.scheduling.filters.node_usage import NodeUsage, UsageThresholds
from tests.builders import cluster, node, pod
from tests.unit.scheduling.scores import usages

LOADS = st.one_of(st.none(), st.sampled_from((0.0, 79.0, 80.0, 80.5, 81.0, 100.0, 400.0, float("nan"), -1.0)))


@given(
    rows=st.lists(st.tuples(LOADS, LOADS, st.sampled_from((0.0, 300.0, 301.0))), min_size=1, max_size=6),
    most=st.tuples(st.sampled_from((None, 0.0, 80.0, 100.0)), st.sampled_from((50.0, 80.0))),
)
def test_only_fresh_measures_above_the_threshold_reject(
    rows: list[tuple[float | None, float | None, float]], most: tuple[float | None, float]
) -> None:
    """Node by node, as the plain rule has it: unknown and impossible values reject nothing."""
    names = [f"n{number}" for number in range(len(rows))]
    world = cluster(*map(node, names), pod("new"))
    found = usages.usage(
        world,
        {name: row[0] for name, row in zip(names, rows, strict=True)},
        {name: row[1] for name, row in zip(names, rows, strict=True)},
        age={name: row[2] for name, row in zip(names, rows, strict=True)},
    )
    plugin = NodeUsage(UsageWindows({300.0: found}), (UsageThresholds(cpu=most[0], memory=most[1]),))
    rejections = plugin.reject(0, usages.placement(world))
    assert not any(item.is_resolvable for item in rejections)
    for number, (cpu, memory, age) in enumerate(rows):
        is_above = [
            value is not None and limit is not None and value >= 0 and min(value, 100) > limit
            for value, limit in zip((cpu, memory), most, strict=True)
        ]
        assert any(item.nodes[number] for item in rejections) == (any(is_above) and age <= 300)


def test_each_threshold_has_its_own_period() -> None:
    """One over an hour and one over five minutes; a period that is not measured rejects nothing."""
    world = cluster(node("a"), node("b"), pod("new"))
    windows = UsageWindows(
        {300.0: usages.usage(world, {"a": 90.0, "b": 10.0}), 3600.0: usages.usage(world, {"a": 10.0, "b": 70.0})}
    )
    limits = (UsageThresholds(cpu=80), UsageThresholds(period=3600.0, cpu=60), UsageThresholds(period=60.0, cpu=0))
    rejections = NodeUsage(windows, limits).reject(0, usages.placement(world))
    assert [item.nodes.tolist() for item in rejections] == [[True, False], [False, True]]
    assert rejections[0].reason == "the CPU load of the node exceeds the upper limit."


def test_a_node_that_is_hot_in_both_resources_is_counted_once() -> None:
    """Volcano looks at cpu first, and no further."""
    world = cluster(node("a"), node("b"), pod("new"))
    windows = UsageWindows({300.0: usages.usage(world, {"a": 90.0, "b": 10.0}, {"a": 90.0, "b": 90.0})})
    rejections = NodeUsage(windows, (UsageThresholds(cpu=80, memory=80),)).reject(0, usages.placement(world))
    assert [(item.reason, item.nodes.tolist()) for item in rejections] == [
        ("the CPU load of the node exceeds the upper limit.", [True, False]),
        ("the memory load of the node exceeds the upper limit.", [False, True]),
    ]


def test_without_thresholds_nothing_is_rejected() -> None:
    """However hot the node is."""
    world = cluster(node("a"), pod("new"))
    plugin = NodeUsage(UsageWindows({300.0: usages.usage(world, {"a": 100.0})}))
    assert list(plugin.reject(0, usages.placement(world))) == []


@pytest.mark.parametrize("fields", [{}, {"cpu": 101}, {"cpu": -1}, {"cpu": np.nan}, {"mem": 70}, {"cpu": "80"}])
def test_wrong_thresholds_are_refused(fields: dict[str, object]) -> None:
    """None at all, out of range, misspelt, or a text."""
    with pytest.raises(ValidationError):
        UsageThresholds.model_validate(fields)
