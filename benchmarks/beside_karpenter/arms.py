"""The contenders: Karpenter's own consolidation, and ours beside a pool that sells what is empty."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks.beside_karpenter.course import Begun, Outcome, follow, month
from benchmarks.beside_karpenter.setting import set_up
from benchmarks.beside_karpenter.start import Start
from tests.cluster.cluster import Cluster
from tests.cluster.karpenter.lab import Karpenter, karpenter
from tests.cluster.plane.control_plane import ControlPlane
from tests.cluster.tool import Answer, Tool

OURS: Final = "WhenEmpty and ours"
CONSOLIDATE_AFTER: Final = "10s"
POLICY: Final = """
objectives: [{name: EmptyNodes, moveCost: 3}]
limits: {maxEvictions: 5000, deadline: 20s, inFlight: 20}
disruption: {workloads: {maxUnavailable: 25%}, singleReplicas: Allow}
"""
"""Limits as wide as Karpenter's, which knows none but PodDisruptionBudgets. An eviction that saves less than 3 USD a
month is left out: such were an eighth to a quarter of all, for less than 1 % of the money."""

LONGEST_SECONDS: Final = 1800.0

Arm = Callable[[Karpenter, Tool, Path], Answer | None]
"""Sets one to work; ours returns when it has carried out its plan."""


def theirs(policy: str) -> Arm:
    """Karpenter consolidates by this policy."""

    def work(lab: Karpenter, tool: Tool, folder: Path) -> None:  # noqa: ARG001 - as every arm
        lab.hand_over(policy)
        lab.consolidate(CONSOLIDATE_AFTER)

    return work


def ours(lab: Karpenter, tool: Tool, folder: Path) -> Answer:
    """It sells what is empty, and we empty."""
    lab.consolidate(CONSOLIDATE_AFTER)
    asked = ("--policy", tool.policy(POLICY), "--prices", str(lab.price_file(folder)))
    return tool.run("apply", "--yes", *asked, code=None, timeout=LONGEST_SECONDS)


ARMS: Final[dict[str, Arm]] = {
    "WhenEmptyOrUnderutilized": theirs("WhenEmptyOrUnderutilized"),
    "Balanced": theirs("Balanced"),
    OURS: ours,
}


def compete(arm: str, start: Start, plane: ControlPlane, folder: Path, most_seconds: float) -> Outcome:
    """One contender from this start, on a cluster that is empty before and after."""
    cluster = Cluster(plane)
    with karpenter(plane) as lab:
        set_up(lab, cluster, start)
        before, mark = month(lab), plane.audit.mark()
        with ThreadPoolExecutor(1) as pool:
            work = pool.submit(ARMS[arm], lab, Tool(cluster, folder), folder)
            found = follow(arm, lab, cluster, Begun(before, mark, work), most_seconds)
            answer = work.result()
        return found if answer is None else replace(found, code=answer.code, said=answer.output + answer.errors)
