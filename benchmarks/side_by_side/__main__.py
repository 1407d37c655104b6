"""Benchmark: ours beside kubernetes-sigs/descheduler, the real binaries on the same clusters.

``python -m benchmarks.side_by_side --scenario consolidation,spreading,pending --seed 0 -o RESULT.json`` starts the
control plane of ``tests/cluster``, sets each cluster anew for each contender, lets it work until it evicts nothing
more, and prints one table for each kind of cluster. The first run builds the descheduler from its Go module (minutes).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import describe_machine
from benchmarks.side_by_side.comparing import Extent, outcomes
from benchmarks.side_by_side.contenders import OURS, PEER
from benchmarks.side_by_side.report import Comparison, result
from benchmarks.side_by_side.scenarios import CLUSTERS, SCENARIOS
from benchmarks.side_by_side.stage import Stage
from tests.cluster.building.descheduler import locate_descheduler
from tests.cluster.building.modules import DESCHEDULER
from tests.cluster.plane.control_plane import ControlPlane


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the exit code is 1 where a goal is missed."""
    options = _parser().parse_args(arguments)
    locate_descheduler()  # built before the time of anything is taken
    seeds = range(options.seed, options.seed + options.clusters)
    extent = Extent(seeds, options.cycles, options.only, options.record)
    begun = time.monotonic()
    comparisons: list[Comparison] = []
    with ControlPlane() as plane:
        versions = {"kube-scheduler": plane.version, PEER: DESCHEDULER.version}
        print(", ".join(f"{name} {version}" for name, version in versions.items()), describe_machine(), sep="; ")
        stage = Stage(plane)
        for name in options.scenario:
            comparison = Comparison(SCENARIOS[name], list(outcomes(stage, SCENARIOS[name], extent)))
            comparisons.append(comparison)
            print(f"\n{comparison.told()}", flush=True)
            if options.output:
                text = json.dumps(result(versions, comparisons, time.monotonic() - begun), indent=1)
                options.output.write_text(text + "\n")
    return int(not all(goal.is_reached for comparison in comparisons for goal in comparison.goals))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.side_by_side", description=__doc__)
    parser.add_argument(
        "--scenario", type=_scenarios, default=list(SCENARIOS), help=f"some of {','.join(SCENARIOS)} (default: all)"
    )
    parser.add_argument("--clusters", type=_positive, default=CLUSTERS, help=f"of each kind (default: {CLUSTERS})")
    parser.add_argument("--cycles", type=_positive, default=10, help="most runs on one cluster (default: 10)")
    parser.add_argument("--only", choices=(OURS, PEER), help="let one of both programs work")
    parser.add_argument("--seed", type=int, default=0, help="of the first cluster (default: 0)")
    parser.add_argument(
        "--record",
        type=Path,
        metavar="DIR",
        help="keep each cluster there, where its pods stood at first (used again if there), and all that was said",
    )
    parser.add_argument("-o", "--output", type=_file, help="where the result is written")
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 up")
    return int(text)


def _file(text: str) -> Path:
    """Said at once and not after half an hour of work."""
    path = Path(text)
    if not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"no folder {path.absolute().parent}")
    return path


def _scenarios(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in SCENARIOS:
            raise argparse.ArgumentTypeError(f"no scenario {name!r}; there are {', '.join(SCENARIOS)}")
    return names


if __name__ == "__main__":
    sys.exit(main())
