"""``check``: read policies and say what they would do."""

from __future__ import annotations

from typing import Annotated

import typer

from rescheduler.cli.failures import DONE
from rescheduler.cli.streams import show


def check(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Policies; of several a later one wins", show_default=False),
    ],
) -> int:
    """Read a policy and say what it would do; of several, what they do together.

    Every problem is named with file, line and column, and with what to write instead: exit 2.
    """
    from rescheduler.policy.loader import load_policy
    from rescheduler.policy.summary import policy_sentences
    from rescheduler.report.cells import cell

    policy = load_policy(files)
    checked = f"{files[0]} is valid" if len(files) == 1 else f"the {len(files)} policies are valid together"
    heading = cell(f"{checked}. Policy {policy.metadata.name}:", "bold")
    show([heading, *(cell(f"- {sentence}") for sentence in policy_sentences(policy))])
    return DONE
