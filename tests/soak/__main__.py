"""``python -m tests.soak``: simulated cluster-hours with all faults on; or one seed again, told event by event."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.soak.campaign import Totals, campaign, of_one, run_seed
from tests.soak.kill_points import run_points, some_of
from tests.soak.line.faults import PAIRS
from tests.soak.matrix import run_pairs
from tests.soak.record import Record
from tests.soak.report import failure, kill_summary, summary, table


def main() -> int:
    """Run a campaign; 1 if anything did not hold."""
    asked = _arguments().parse_args()
    if asked.replay is not None:
        return _replay(asked.replay, asked.hours_each, is_quiet=asked.quiet)
    if asked.kill_points is not None:
        return _kill_points(asked.kill_points, asked.processes, asked.most_failures)
    totals = Totals()
    failed = 0 if asked.no_matrix else _matrix(totals, asked.processes)
    failed += _campaign(asked, totals)
    print(summary(totals))
    if asked.table:
        print(table(totals))
    return 1 if failed else 0


def _matrix(totals: Totals, processes: int) -> int:
    """Each call site with each fault; how many runs failed."""
    failed = 0
    for pair, (outcome, seconds) in zip(PAIRS, run_pairs(PAIRS, processes), strict=True):
        totals.add(outcome, seconds)
        if outcome.violations:
            failed += 1
            print(f"{pair[1]} at {pair[0]}: {failure(outcome)}", flush=True)
    return failed


def _campaign(asked: argparse.Namespace, totals: Totals) -> int:
    """All seeds, but those that are recorded without a violation; how many runs failed."""
    each = asked.hours / asked.seeds
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    record = Record(asked.record, each) if asked.record else None
    known = {} if record is None else {seed: record.clean[seed] for seed in seeds if seed in record.clean}
    for earlier in known.values():
        totals.merge(earlier)
    failed = 0
    for outcome, seconds in campaign([seed for seed in seeds if seed not in known], each, asked.processes):
        totals.add(outcome, seconds)
        if record is not None:
            record.append(outcome.settings.seed, of_one(outcome, seconds))
        if outcome.violations:
            failed += 1
            print(failure(outcome), flush=True)
            if failed >= asked.most_failures:
                break
        if totals.runs % 100 == 0:
            print(f"... {totals.runs} runs, {totals.hours:,.0f} h, {totals.accepted} accepted evictions", flush=True)
    return failed


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=200.0, help="simulated cluster-hours in all")
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--record", type=Path, metavar="FILE", help="append each run; clean ones are not run again")
    parser.add_argument("--most-failures", type=int, default=5, help="stop after so many failed runs")
    parser.add_argument("--no-matrix", action="store_true", help="leave out the runs of each call site x fault")
    parser.add_argument("--table", action="store_true", help="print call sites by faults")
    parser.add_argument("--replay", type=int, metavar="SEED", help="run one seed, telling every event")
    parser.add_argument("--hours-each", type=float, default=200.0 / 60.0, help="simulated hours of a replayed run")
    parser.add_argument(
        "--kill-points", type=int, nargs="?", const=0, metavar="N", help="kill at N points of small scenes; 0: at all"
    )
    parser.add_argument("--quiet", action="store_true", help="with --replay: tell only what went wrong")
    return parser


def _kill_points(number: int, processes: int, most_failures: int) -> int:
    results = []
    failed = 0
    for point, outcome, _ in run_points(some_of(number), processes):
        results.append((point, outcome))
        if outcome.violations:
            failed += 1
            print(f"{point}\n{failure(outcome)}", flush=True)
            if failed >= most_failures:
                break
    print(kill_summary(results))
    return 1 if failed else 0


def _replay(seed: int, hours: float, *, is_quiet: bool) -> int:
    outcome, _ = run_seed(seed, hours, None if is_quiet else print)
    print(f"trace {outcome.digest[:16]}, {outcome.accepted} accepted evictions")
    if outcome.violations:
        print(failure(outcome))
    return 1 if outcome.violations else 0


if __name__ == "__main__":
    sys.exit(main())
