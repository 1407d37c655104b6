"""Explanations on the newest snapshot."""

from __future__ import annotations

import pytest

from rescheduler.daemon.steering.daemon_state import DaemonState
from rescheduler.daemon.steering.explaining import Basis, Explaining, NoSnapshotError
from rescheduler.explain import NotInClusterError
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node, pod, workload
from tests.unit.daemon.plans import plan, report

WORLD = cluster(node("n1"), node("n2"), pod("a-1", node="n1"), pod("a-2", node="n2"), workload("a", 2))


def explaining(state: DaemonState) -> Explaining:
    """By the default policy."""
    return Explaining(lambda: state, lambda: Basis(Policy()))


def test_before_the_first_snapshot_nothing_can_be_explained() -> None:
    """It says so."""
    for ask in (lambda: explaining(DaemonState()).pod("default", "a-1"), lambda: explaining(DaemonState()).node("n1")):
        with pytest.raises(NoSnapshotError, match="not known yet"):
            ask()


def test_without_a_plan_pods_stay_and_rules_are_told() -> None:
    """The explanation is that of the command."""
    found = explaining(DaemonState(cluster=WORLD))
    assert found.pod("default", "a-1").verdict == "Stays"
    assert found.node("n1").verdict == "Stays"
    with pytest.raises(NotInClusterError):
        found.pod("default", "none")


def test_the_newest_plan_counts() -> None:
    """A later round without a plan does not hide it."""
    rounds = (report(1, plan=plan("x")), report(2, plan=plan("a-1")), report(3))
    found = explaining(DaemonState(cluster=WORLD, rounds=rounds))
    assert found.pod("default", "a-1").verdict == "Moves"
    assert found.node("n2").verdict == "Moves"
