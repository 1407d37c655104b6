"""`python -m benchmarks.beside_karpenter --machines 30,100,300 --seeds 3 -o RESULT.json`.

The real Karpenter with its own test cloud. Every contender begins with the same machines and pods; the judges are the
audit log and Karpenter's own metric.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Final

from benchmarks.beside_karpenter.arms import ARMS, OURS, compete
from benchmarks.beside_karpenter.course import Outcome, broken
from benchmarks.beside_karpenter.start import random_start
from benchmarks.machine import describe_machine
from tests.cluster.plane.control_plane import ControlPlane

WIDTHS: Final = (26, 10, 10, 10, 6, 10, 6, 8, 10, 8)
HEADINGS: Final = ("arm", "before", "after", "least", "nodes", "evictions", "made", "wait s", "disrupted", "quiet s")


LAST_LINES: Final = 12
"""Of what our run printed, shown where it did not end well; -o keeps all."""


def main(arguments: list[str] | None = None) -> int:
    """Print a table for each start, and 1 where a promise is broken; the result as JSON where -o names a file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beside_karpenter", description=__doc__)
    parser.add_argument("--machines", default="30,100,300", help="sizes of the fleet at the start")
    parser.add_argument("--seeds", type=int, default=3, help="starts of each size")
    parser.add_argument("--arms", default=",".join(ARMS), help="contenders, ours among them")
    parser.add_argument("--most-seconds", type=float, default=600.0, help="for so long one is watched at most")
    parser.add_argument("-o", "--output", type=Path, help="the result as JSON")
    chosen = parser.parse_args(arguments)
    runs, failed = [], False
    evictions: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, ControlPlane() as plane:
        for machines in map(int, chosen.machines.split(",")):
            for seed in range(1, chosen.seeds + 1):
                start = random_start(seed, machines)
                print(f"{machines} machines, {len(start.pods)} pods, seed {seed}")
                print(_line(HEADINGS), flush=True)
                found = []
                for arm in chosen.arms.split(","):
                    found.append(compete(arm, start, plane, Path(folder), chosen.most_seconds))
                    evictions[arm] += found[-1].evictions
                    print(_line(_cells(found[-1])), flush=True)
                    if found[-1].code:
                        print(
                            f"it ended with exit code {found[-1].code}:",
                            *found[-1].said.splitlines()[-LAST_LINES:],
                            sep="\n",
                        )
                told = _broken(found)
                failed = failed or bool(told)
                print("\n".join(told or ["promises kept"]), flush=True)
                outcomes = [asdict(one) for one in found]
                runs.append({"machines": machines, "pods": len(start.pods), "seed": seed, "arms": outcomes})
                if chosen.output is not None:
                    document = {"machine": describe_machine(), "runs": runs}
                    chosen.output.write_text(json.dumps(document, indent=2))
    for arm, count in evictions.items():
        if arm != OURS and 2 * evictions[OURS] > count:
            failed = True
            print(f"beside {arm}: {evictions[OURS]} evictions in all, more than half of {count}")
    return int(failed)


def _broken(found: list[Outcome]) -> list[str]:
    """Ours against each of the others."""
    [ours] = [one for one in found if one.arm == OURS]
    return [f"beside {one.arm}: {text}" for one in found if one is not ours for text in broken(ours, one)]


def _cells(one: Outcome) -> tuple[object, ...]:
    quiet = "-" if one.quiet_after is None else one.quiet_after
    least = "-" if one.least is None else one.least
    return (one.arm, one.before, one.after, least, one.nodes, one.evictions, one.machines_made, one.longest_wait,
            one.filled_nodes_disrupted, quiet)  # fmt: skip


def _line(cells: tuple[object, ...]) -> str:
    return "  ".join(f"{cell!s:<{width}}" for cell, width in zip(cells, WIDTHS, strict=True)).rstrip()


if __name__ == "__main__":
    sys.exit(main())
