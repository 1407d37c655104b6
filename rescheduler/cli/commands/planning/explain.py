"""``explain``: say why a pod or a node would or would not move."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rescheduler.cli.failures import DONE, NOT_EMPTY
from rescheduler.cli.help_screens import GroupedCommand, OrderedGroup
from rescheduler.cli.options import ImprovingFlags, with_options
from rescheduler.cli.parameters import pod_key
from rescheduler.cli.plan_output import print_report
from rescheduler.cli.preparation import (
    earlier_evictions,
    given_files,
    policy_from,
    read_world,
    selection_from,
)
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from rescheduler.extension_points import LedgerReading
    from rescheduler.model.objects.cluster import Cluster
    from rescheduler.model.plan.disruption import Selection
    from rescheduler.model.plan.plan import Plan
    from rescheduler.policy.fields.policy import Policy
    from rescheduler.report.explanation import Explanation
    from rescheduler.scheduling.schedulers import Schedulers

    Find = Callable[[Cluster, str], Any]
    Explain = Callable[[Cluster, Policy, Selection, Plan, Any, Schedulers, LedgerReading], Explanation]

commands = typer.Typer(
    cls=OrderedGroup, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
)


@commands.command("pod", cls=GroupedCommand, short_help="why a pod would or would not move, node by node")
@with_options
def explain_pod(
    options: ImprovingFlags,
    pod: Annotated[str, typer.Argument(metavar="NS/NAME", help="Namespace and name of the pod", show_default=False)],
) -> int:
    """Say why one pod would or would not move: what the plan does with it, which rule refuses it, which node suits.

    For a pending pod: why it is pending, and what the plan does about it.
    """
    from rescheduler import explain

    return _explain(options, pod_key(pod), explain.find_pod, explain.explain_pod)


@commands.command("node", cls=GroupedCommand, short_help="what a plan does with a node and its pods")
@with_options
def explain_node(
    options: ImprovingFlags,
    node: Annotated[str, typer.Argument(metavar="NAME", help="Name of the node", show_default=False)],
) -> int:
    """Say what the plan does with one node: which pods leave, which arrive, which stay and why."""
    from rescheduler import explain

    return _explain(options, node, explain.find_node, explain.explain_node)


def _with_gain(answer: Explanation, plan: Plan, then: Plan) -> Explanation:
    """The answer, with what a rule that lets pods move by surge would bring."""
    from msgspec import structs

    from rescheduler.explain import gained_by_surge

    return structs.replace(answer, notes=(*(answer.notes or ()), *gained_by_surge(plan, then)))


def _explain(options: ImprovingFlags, name: str, find: Find, explain: Explain) -> int:
    from rescheduler.composition.planning import cycle_options, with_surges
    from rescheduler.cycle import make_plan
    from rescheduler.disruption.absent_kinds import absent_kinds
    from rescheduler.report.explanation import explanation_report

    selection = selection_from(options)
    if options.improve:
        from rescheduler.cli.plans.descheduler_plan import improved

        cluster, plan, policy, schedulers, earlier = improved(options, given_files(options))
        found = find(cluster, name)
    else:
        policy = policy_from(options)
        with shown_progress() as progress:
            cluster, schedulers = read_world(options, policy, progress)
            found = find(cluster, name)
            earlier = earlier_evictions(options, policy, cluster)
            asked = cycle_options(
                policy,
                selection=selection,
                schedulers=schedulers,
                seed=options.seed,
                earlier=earlier,
                progress=progress,
            )
            plan = make_plan(cluster, policy, asked)
    answer = explain(cluster, policy, selection, plan, found, schedulers, earlier)
    if answer.notes and not options.improve:
        with shown_progress() as progress:
            answer = _with_gain(answer, plan, with_surges(cluster, policy, replace(asked, progress=progress)))
    warn((*schedulers.warnings(cluster), *absent_kinds(cluster, policy)))
    title = f"Why {name} would or would not move"
    print_report(answer, options.output, lambda wide: explanation_report(answer, wide=wide), title)
    return NOT_EMPTY if options.exit_code and plan.moves else DONE
