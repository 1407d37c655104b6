"""`python -m tests.cluster.daemon.daemon_soak --minutes 30`: prints a report; exit 1 where a promise was broken."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.cluster.cluster import Cluster
from tests.cluster.daemon.daemon_soak.promises import broken_promises
from tests.cluster.daemon.daemon_soak.soak import soak
from tests.cluster.plane.control_plane import ControlPlane


def main(arguments: list[str] | None = None) -> int:
    """Run one soak; its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.daemon.daemon_soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, metavar="N", help="how long (default: 30)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the changes (default: 0)")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, ControlPlane() as plane:
        report = soak(Cluster(plane), Path(folder), seconds=60 * chosen.minutes, seed=chosen.seed)
    print(json.dumps(report, indent=2))
    broken = broken_promises(report)
    for text in broken:
        print(f"broken: {text}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
