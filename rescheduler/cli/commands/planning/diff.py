"""``diff``: what differs between two plans."""

from __future__ import annotations

from typing import Annotated

import typer

from rescheduler.cli.failures import DONE
from rescheduler.cli.options import form
from rescheduler.cli.parameters import OutputFormat
from rescheduler.cli.preparation import refuse_formats

Output = Annotated[
    OutputFormat,
    form("table, json or yaml"),
]


def diff(
    before: Annotated[str, typer.Argument(metavar="PLAN", help="A plan, as plan -o json or -o yaml wrote it",
                                          show_default=False)],
    after: Annotated[str, typer.Argument(metavar="PLAN", help="The plan to hold beside it", show_default=False)],
    output: Output = OutputFormat.TABLE,
) -> int:  # fmt: skip
    """Show what differs between two plans: objectives, moves, places and refusals; times of planning do not count.

    Exit 0 either way; -o json says in the field equal whether nothing differs.
    """
    from rescheduler.cli.plan_output import print_report
    from rescheduler.cli.plans.plan_file import read_plan_file
    from rescheduler.report.plan.plan_difference import difference_of, difference_report

    refuse_formats(output, "diff", OutputFormat.WIDE, OutputFormat.HTML)
    one, other = (read_plan_file(file, is_to_be_carried_out=False) for file in (before, after))
    found = difference_of(one, other)
    print_report(found, output, lambda _: difference_report(found))
    return DONE
