"""The contenders: Karpenter's own consolidation, and ours beside a pool that sells what is empty."""

from __future__ import annotations

import json
import subprocess
import sys
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
objectives: [{name: EmptyNodes, moveCost: MOVE_COST}]
limits: {maxEvictions: 5000, deadline: DEADLINE, inFlight: 20}
disruption: {workloads: {maxUnavailable: 25%}, singleReplicas: Allow}
"""
"""Limits as wide as Karpenter's, which knows none but PodDisruptionBudgets."""
MOVE_COST: Final = 4
"""USD a month: an eviction that saves less is left out. At 3 it was half of Karpenter's evictions by a hair."""
PLANNING_SECONDS, PROOF_SECONDS = 20, 60

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
    asked = _asked(lab, tool, folder, MOVE_COST, PLANNING_SECONDS)
    return tool.run("apply", "--yes", *asked, code=None, timeout=LONGEST_SECONDS)


def least_without_buying(lab: Karpenter, tool: Tool, folder: Path) -> float:
    """A month: no plan that buys nothing leaves a cheaper fleet, however many pods it moves. A bound, not a plan.

    Of a recording, as if all that is empty were sold: until it is told to consolidate the pool sells nothing.
    """
    recording = folder / "start.json"
    tool.run("snapshot", "--force", "-o", str(recording))
    document = json.loads(recording.read_text())
    document["items"] = [item for item in document["items"] if item["kind"] not in ("NodePool", "NodeClaim")]
    recording.write_text(json.dumps(document))
    asked = ("-f", str(recording), *_asked(lab, tool, folder, 0, PROOF_SECONDS), "-o", "json")
    done = subprocess.run([sys.executable, "-m", "rescheduler", "plan", *asked], check=True, stdout=subprocess.PIPE)
    plan = json.loads(done.stdout)
    [objective] = plan["objectives"]
    return round(float(plan["cost"]["after"]) - (float(objective["bound"]) - float(objective["value"])), 2)


def _asked(lab: Karpenter, tool: Tool, folder: Path, move_cost: float, seconds: int) -> tuple[str, ...]:
    text = POLICY.replace("MOVE_COST", f"{move_cost:g}").replace("DEADLINE", f"{seconds}s")
    return "--policy", tool.policy(text), "--prices", str(lab.price_file(folder))


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
        tool = Tool(cluster, folder)
        least = least_without_buying(lab, tool, folder) if arm == OURS else None
        before, mark = month(lab), plane.audit.mark()
        with ThreadPoolExecutor(1) as pool:
            work = pool.submit(ARMS[arm], lab, tool, folder)
            found = replace(follow(arm, lab, cluster, Begun(before, mark, work), most_seconds), least=least)
            answer = work.result()
        return found if answer is None else replace(found, code=answer.code, said=answer.output + answer.errors)
