"""``python -m tests.soak.seeded_bugs``: puts each bug into the code in turn, and tells how soon it was found."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Iterator, Sequence

from tests.soak.seeded_bugs.catalogue import BUGS
from tests.soak.seeded_bugs.hunting import MOST_HOURS, Catch, hunt_named


def main() -> int:
    """Print a table; 1 if a bug was not found."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.seeded_bugs", description=__doc__)
    parser.add_argument("--only", action="append", choices=sorted(BUGS), metavar="NAME", help="this bug; repeatable")
    parser.add_argument("--most-hours", type=float, default=MOST_HOURS, help="simulated cluster-hours for each")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    names = asked.only or list(BUGS)
    print("| bug | what is wrong | found by | seed | cluster-hours | processor seconds |")
    print("|---|---|---|---|---|---|")
    missed = 0
    for catch in _hunted(names, asked.most_hours, asked.processes):
        missed += catch.violation is None
        print(row(catch), flush=True)
    print(f"\n{len(names) - missed} of {len(names)} found", flush=True)
    return 1 if missed else 0


def row(catch: Catch) -> str:
    """One line of the table."""
    found = "**not found**" if catch.violation is None else catch.violation.invariant
    what = BUGS[catch.bug].description
    return f"| {catch.bug} | {what} | {found} | {catch.seed} | {catch.hours:.1f} | {catch.seconds:.1f} |"


def _hunted(names: Sequence[str], most_hours: float, processes: int) -> Iterator[Catch]:
    work = [(name, most_hours) for name in names]
    if processes == 1:
        yield from map(hunt_named, work)
        return
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=1) as pool:
        yield from pool.imap_unordered(hunt_named, work)


if __name__ == "__main__":
    sys.exit(main())
