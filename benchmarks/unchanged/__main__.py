"""Records what the program answers to a fixed list of questions, or compares two such records.

    python -m benchmarks.unchanged record DIR [--clusters 200] [--data ../shared/data]
    python -m benchmarks.unchanged compare DIR DIR

To compare two versions, check out the older one, copy this folder into it, record there, record here, compare.
Answers are compared byte for byte but for seconds; a plan whose search was ended by its deadline is passed over.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.unchanged.cases import Case, cases
from benchmarks.unchanged.interfaces import interfaces
from benchmarks.unchanged.runs import benchmark_answers

_SECONDS = re.compile(r'("seconds": )[0-9.e-]+|(seconds: )[0-9.e-]+|[0-9.]+( s\))')
_PLANNING_LIMIT = 60.0


def main() -> int:
    """Exit code 1 where two records differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unchanged", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    record = actions.add_parser("record")
    record.add_argument("folder", type=Path)
    record.add_argument("--clusters", type=int, default=200)
    record.add_argument(
        "--data", type=Path, default=None, help="folder of open data; none: its benchmarks are left out"
    )
    record.add_argument("--processes", type=int, default=2)
    compare = actions.add_parser("compare")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.action == "compare":
        return _compare(options.before, options.after)
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, text in interfaces().items():
        (options.folder / name).write_text(text)
    with tempfile.TemporaryDirectory() as inputs, ProcessPoolExecutor(options.processes) as pool:
        asked = [(case, options.folder, Path(inputs)) for case in cases(Path(inputs), options.clusters)]
        for number, _ in enumerate(pool.map(_record, asked, chunksize=8), start=1):
            if number % 100 == 0:
                print(f"{number} of {len(asked)}", file=sys.stderr, flush=True)
    if options.data is not None:
        for name, text in benchmark_answers(options.data):
            (options.folder / name).write_text(text)
    return 0


def _record(asked: tuple[Case, Path, Path]) -> None:
    case, folder, inputs = asked
    from rescheduler.cli.main import main as command

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        kept = os.dup(1), os.dup(2)
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        try:
            code: object = command(list(case.words))
        except SystemExit as ended:
            code = ended.code
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)
            for number in kept:
                os.close(number)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    is_late = any(float(found) >= _PLANNING_LIMIT / 2 for found in re.findall(r'"seconds": ([0-9.]+)', texts[0]))
    text = "\n== stderr\n".join(texts).replace(str(inputs), "INPUTS") + f"\n== exit {code}\n"
    (folder / case.name).write_text("ENDED BY ITS DEADLINE\n" if is_late else _without_seconds(text))


def _without_seconds(text: str) -> str:
    return _SECONDS.sub(lambda found: (found[1] or found[2] or "") + "S" + (found[3] or ""), text)


def _compare(before: Path, after: Path) -> int:
    names = {path.name for path in before.iterdir()}, {path.name for path in after.iterdir()}
    same, late, differing = 0, 0, []
    for name in sorted(names[0] & names[1]):
        texts = [(folder / name).read_text() for folder in (before, after)]
        if any(text.startswith("ENDED BY ITS DEADLINE") for text in texts):
            late += 1
        elif texts[0] == texts[1]:
            same += 1
        else:
            differing.append(name)
    lost = sorted(names[0] ^ names[1])
    print(f"{same} answers are the same, {len(differing)} differ, {late} were ended by their deadline,", end=" ")
    print(f"{len(lost)} stand in one only")
    print("\n".join([*(f"differs: {name}" for name in differing), *(f"in one only: {name}" for name in lost)]))
    return 1 if differing or lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
