"""Benchmark: victims foretold beside those of the real descheduler 0.36.0, judged by the API server's audit log.

``python -m benchmarks.descheduler_policy --cases 500 --seed 0 --recordings results/descheduler`` starts the control
plane of ``tests/cluster`` (``make control-plane`` builds it once), lets the real binary work three times on each drawn
cluster, and keeps what it did; what was recorded before is not played again. ``--judge`` looks at recordings alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.descheduler_policy.improvement import improvement_table
from benchmarks.descheduler_policy.judging import NUMBERS, OTHER, judge
from benchmarks.descheduler_policy.measuring import MeasuredRecorder, drawn_metrics
from benchmarks.descheduler_policy.recording import UNPLAYED, Recorder, recorded
from benchmarks.descheduler_policy.table import agreement_table, told_differences
from tests.cluster.building.descheduler import locate_descheduler
from tests.cluster.plane.control_plane import ControlPlane


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; the exit code is 1 where a stable case names other pods."""
    options = _parser().parse_args(arguments)
    seeds = range(options.seed, options.seed + options.cases)
    folder = options.recordings / "measured" if options.measured else options.recordings
    if not options.judge:
        _record(folder, seeds, is_measured=options.measured)
    cases = [case for seed in seeds if (case := recorded(folder, seed)) is not None]
    verdicts = [judge(case) for case in cases]
    for line in told_differences(verdicts):
        print(line, file=sys.stderr)
    print(agreement_table(verdicts), f"\n{improvement_table(cases)}" if options.improve else "", sep="\n")
    return int(any(verdict.is_stable and verdict.kind in (NUMBERS, OTHER) for verdict in verdicts))


def _record(folder: Path, seeds: range, *, is_measured: bool) -> None:
    left = [seed for seed in seeds if recorded(folder, seed) is None]
    if not left:
        return
    binary = locate_descheduler()
    with ControlPlane() as plane, ExitStack() as stack:
        recorder = (
            MeasuredRecorder(plane, binary, folder, stack.enter_context(drawn_metrics(plane)))
            if is_measured
            else Recorder(plane, binary, folder)
        )
        for seed in left:
            try:
                case = recorder.record(seed)
            except UNPLAYED as error:  # the next call tries it again
                print(f"seed {seed}: not played: {error}", file=sys.stderr, flush=True)
                continue
            told = ", ".join(str(len(run["evicted"])) for run in case.runs)
            print(f"seed {seed}, {case.plugin}: {told} evictions", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.descheduler_policy", description=__doc__)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="of the first case (default: 0)")
    parser.add_argument("--recordings", type=Path, default=Path("results/descheduler"), metavar="DIR")
    parser.add_argument("--judge", action="store_true", help="play nothing: judge what was recorded")
    parser.add_argument(
        "--measured", action="store_true", help="LowNodeUtilization by drawn metrics in place of requests"
    )
    parser.add_argument("--improve", action="store_true", help="plan for the same ends too, and set that beside")
    return parser


if __name__ == "__main__":
    sys.exit(main())
