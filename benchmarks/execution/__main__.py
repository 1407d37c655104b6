"""Benchmark: ``python -m benchmarks.execution --seed 0 -o RESULT.json`` carries one plan out and counts what it took.

The real control plane of ``tests/cluster`` with kwok's nodes, the clusters of ``benchmarks.side_by_side``; the API
server's audit log is the judge. ``--guidance Predict,Hold`` measures each in turn on the same first places, and
``--methods Evict,Surge`` each of these with each. ``--packing``: the scheduler fills nodes up, so that emptying them
needs no guidance.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.execution.bare import bare
from benchmarks.execution.requests import asked_by, told
from benchmarks.machine import describe_machine
from benchmarks.side_by_side.contenders import PACKING, Contender, rescheduler
from benchmarks.side_by_side.scenes import consolidation, pending
from benchmarks.side_by_side.stage import Stage
from tests.cluster.plane.audit import OUR_ACCOUNT
from tests.cluster.plane.control_plane import ControlPlane

ADMINISTRATORS = ("system:masters",)
EMPTY_NODES, MAKE_ROOM = "EmptyNodes", "MakeRoom"
LIFTED = {"rampUp": "unlimited",
          "rates": dict.fromkeys(("perHour", "perDay", "perWorkloadPerHour"), "unlimited")}  # fmt: skip
"""Floors of workloads and PodDisruptionBudgets stay."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.execution", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the cluster (default: 0)")
    parser.add_argument(
        "--objective", choices=(EMPTY_NODES, MAKE_ROOM), default=EMPTY_NODES,
        help=f"what is planned; {MAKE_ROOM}: for pods that wait, on a cluster of 16 nodes (default: {EMPTY_NODES})",
    )  # fmt: skip
    parser.add_argument("--nodes", type=int, default=24, help="of the cluster (default: 24)")
    parser.add_argument("--moves", type=int, default=500, help="at most so many (default: 500)")
    parser.add_argument("--lifted", action="store_true", help="no limit but floors of workloads and budgets of pods")
    parser.add_argument("--guidance", default="Predict,Hold", help="one or more, by commas (default: Predict,Hold)")
    parser.add_argument("--methods", default="Evict", help="how pods are moved: Evict, Surge (default: Evict)")
    parser.add_argument("--bare", type=int, metavar="N", help="besides, a plan's pods evicted N at a time and no more")
    parser.add_argument("--packing", action="store_true", help="the scheduler fills nodes up (MostAllocated)")
    parser.add_argument("--trace", type=Path, help="every request with its time, as JSON lines")
    parser.add_argument("-o", "--output", type=Path, help="where the result is written")
    options = parser.parse_args(arguments)
    found: list[dict[str, Any]] = []
    with ControlPlane() as plane, tempfile.TemporaryDirectory() as folder:
        print(f"kube-scheduler {plane.version}; {describe_machine()}", flush=True)
        stage = Stage(plane)
        scene = pending(options.seed) if options.objective == MAKE_ROOM else consolidation(options.seed, options.nodes)
        picture = stage.first(scene)
        for arm, contender in _arms(options):
            stage.again(scene, picture, contender.scheduler)
            (Path(folder) / arm).mkdir()
            found.append(_carried_out(plane, contender, Path(folder) / arm, options.trace))
            print(json.dumps({"seed": options.seed, "nodes": options.nodes, **found[-1]}, indent=1), flush=True)
    if options.output:
        options.output.write_text(json.dumps(found, indent=1) + "\n")
    return 0


def _arms(options: argparse.Namespace) -> Iterator[tuple[str, Contender]]:
    """What is measured in turn, each from the same first places on."""
    scheduler = PACKING if options.packing else {}
    guidances = options.guidance.split(",")
    for guidance, method in product(guidances, options.methods.split(",")):
        yield f"{guidance}-{method}", rescheduler(guidance, _policy(options, guidance, method), scheduler)
    if options.bare:
        yield "bare", bare(_policy(options, guidances[0], "Evict"), options.bare)


def _policy(options: argparse.Namespace, guidance: str, method: str) -> dict[str, Any]:
    limits = {"maxEvictions": options.moves, "deadline": "5s"}
    policy: dict[str, Any] = {"objectives": [{"name": options.objective}], "limits": limits, "guidance": guidance}
    disruption: dict[str, Any] = {"moveBy": [{"method": method}]} if method != "Evict" else {}
    if options.lifted:
        limits["inFlight"] = options.moves
        disruption |= LIFTED
        policy |= {"scope": {"minimumAge": "0s"}}
    return {**policy, "disruption": disruption} if disruption else policy


def _carried_out(plane: ControlPlane, ours: Contender, folder: Path, trace: Path | None) -> dict[str, Any]:
    """One plan from the first place on: how it went, and what it asked."""
    start = plane.audit.mark()
    before = _busy_seconds()
    footprint = ours.run(plane.user_kubeconfig(OUR_ACCOUNT, ADMINISTRATORS), folder)
    others = _busy_seconds() - before - footprint.cpu_seconds
    asked = asked_by(plane.root / "audit.log", start, plane.audit.mark(), OUR_ACCOUNT)
    if trace:
        with trace.open("a") as file:
            file.writelines(f"{folder.name} {one.at:.3f} {one.took:.3f} {one.kind} {one.code}\n" for one in asked)
    return {
        "arm": folder.name,
        "code": footprint.code,
        "wallSeconds": footprint.wall_seconds,
        "cpuSeconds": footprint.cpu_seconds,
        "othersCpuSeconds": round(others, 1),
        **({"said": footprint.errors[-1500:]} if footprint.code else {}),
        **told(asked),
    }


def _busy_seconds() -> float:
    """Processor time that all of the machine has used; others' is the control plane's, where nothing else runs."""
    user, nice, system = map(int, Path("/proc/stat").read_text().split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
