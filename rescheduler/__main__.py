"""``python -m rescheduler``, and the console script of that name."""

from __future__ import annotations

import sys

from rescheduler.cli.main import main as run


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run())


if __name__ == "__main__":
    main()
