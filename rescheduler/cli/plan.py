"""``plan``: propose moves, write nothing."""

from __future__ import annotations

from rescheduler.cli.failures import DONE, NOT_EMPTY
from rescheduler.cli.options import PlanFlags, with_options
from rescheduler.cli.plan_output import print_plan
from rescheduler.cli.preparation import policy_from, read_world, selection_from
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import warn


@with_options
def plan(options: PlanFlags) -> int:
    """Propose moves for a live cluster or a recording; nothing is written.

    The answer says what gets better, at which price, how far it is from the proven best, and why what is left alone
    is left alone. An answer that nothing can help is an answer too: exit 0.
    """
    from rescheduler import wiring

    policy = policy_from(options)
    with shown_progress() as progress:
        cluster, schedulers = read_world(options, policy, progress)
        selection = selection_from(options)
        proposed = wiring.plan(
            cluster, policy, selection=selection, schedulers=schedulers, seed=options.seed, progress=progress
        )
    warn(proposed.warnings)
    print_plan(proposed, cluster, options.output)
    return NOT_EMPTY if options.exit_code and proposed.moves else DONE
