"""Pods, nodes, budgets, holds or the ledger change between two steps of a run: each move ends in a clear outcome."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.applying.changed_cases import CASES, IN_CI, Case
from tests.cluster.applying.changed_scene import Scene
from tests.cluster.cluster import Cluster
from tests.cluster.faults.fault_proxy import FaultProxy
from tests.cluster.tool import Tool


@pytest.fixture
def scene(cluster: Cluster, tool: Tool, proxied: FaultProxy, tmp_path: Path) -> Scene:
    """Before anything stands in it."""
    return Scene(cluster, tool, proxied, tmp_path)


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.name, marks=() if case.name in IN_CI else pytest.mark.campaign) for case in CASES],
)
def test_a_change_on_the_way_ends_in_clear_outcomes(scene: Scene, case: Case) -> None:
    """Of the move that it hits, of what rests on it, and of the others; nothing is lost, and nothing is left behind."""
    case.build(scene)
    answer = scene.run(case.step, case.change, *case.options, disruption=case.disruption)
    assert scene.outcomes(answer) in case.ends, answer
    assert answer.code == case.code, answer
    assert case.says in scene.said(answer)
    evicted = scene.evicted()
    scene.assert_nothing_lost(case.missing, case.pending)
    scene.assert_nothing_left(evicted)
