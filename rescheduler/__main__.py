"""``python -m rescheduler``, and the console script of that name."""

from __future__ import annotations

import sys

from rescheduler.cli.main import complete as suggest
from rescheduler.cli.main import main as run
from rescheduler.cli.streams import keep_answers_apart


def main() -> None:
    """Run the command line and leave with its exit code."""
    keep_answers_apart()
    sys.exit(run())


def complete() -> None:
    """Tell kubectl what may be typed after ``kubectl reschedule``; the script ``kubectl_complete-reschedule``."""
    keep_answers_apart()
    sys.exit(suggest(sys.argv[1:]))


if __name__ == "__main__":
    main()
