"""Benchmark: what our scheduler model foretells, beside what the real kube-scheduler does.

``python -m benchmarks.fidelity --cases 1000 --seed 0 -o RESULT.json`` starts the control plane of ``tests/cluster``
(``make control-plane`` builds it once), lets random pods go on random clusters under many scheduler profiles, and
prints a table. A case that does not agree is explained with its seed and recorded beside the result.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.fidelity.dump import dump_miss
from benchmarks.fidelity.measuring import Miss, measure, measure_sequences
from benchmarks.fidelity.oracle import Oracle
from benchmarks.fidelity.report import result, told
from tests.cluster.plane.control_plane import ControlPlane


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the exit code is 1 where any case does not agree."""
    options = _parser().parse_args(arguments)
    folder = options.dumps or (options.output.parent if options.output else Path())
    with ControlPlane() as plane:
        version = plane.version
        begun = time.perf_counter()

        def witness(miss: Miss, oracle: Oracle) -> None:
            print(f"miss: {miss}; see {dump_miss(folder, miss, oracle, plane)}", file=sys.stderr)

        measured = measure(plane, options.cases, options.seed, witness=witness)
        sequences = measure_sequences(plane, options.sequences, options.evictions, options.seed)
        seconds = time.perf_counter() - begun
    print(told(version, measured, sequences))
    if options.output:
        instance = f"kube-scheduler {version}, {options.cases} cases, seed {options.seed}"
        options.output.write_text(result(instance, seconds, measured, sequences) + "\n")
    return int(bool(measured.misses) or not all(sequence.is_exact for sequence in sequences))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fidelity", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="pods to place one by one (default: 1000)")
    parser.add_argument("--sequences", type=int, default=20, help="rounds of evictions (default: 20)")
    parser.add_argument("--evictions", type=int, default=8, help="pods evicted in each round (default: 8)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dumps", type=Path, help="folder for misses (default: beside the result)")
    parser.add_argument("-o", "--output", type=Path, help="where the result is written")
    return parser


if __name__ == "__main__":
    sys.exit(main())
