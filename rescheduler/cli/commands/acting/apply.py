"""``apply``: carry out one plan on a live cluster, after a person has said yes."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from rescheduler.cli.failures import DONE, FAILED, INTERRUPTED, NOT_EMPTY, UsageError
from rescheduler.cli.options import Yes, with_options
from rescheduler.cli.parameters import OutputFormat, parsed, positive_duration
from rescheduler.cli.plan_output import print_plan
from rescheduler.cli.plans.replacing_flags import (
    ReplacingFlags,
    refuse_bad_replacing,
    refuse_buying_under_predict,
    refuse_without_sizes,
    replaces,
    wanted_of,
)
from rescheduler.cli.preparation import (
    cluster_options_from,
    given_files,
    own_policy_from,
    predictions_from,
    selection_from,
)
from rescheduler.cli.progress import ShownProgress, is_shown, shown_progress
from rescheduler.cli.streams import confirmed, console, is_terminal, say, show, warn, write
from rescheduler.model.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from rescheduler.cli.following.followers import Follower
    from rescheduler.composition.given_policies import GivenFiles
    from rescheduler.model.objects.cluster import Cluster
    from rescheduler.model.plan.plan import Plan, PlanResult
    from rescheduler.policy.fields.policy import Policy

    Confirm = Callable[[Plan, Cluster], bool]
    CarryOut = Callable[[Confirm, Follower], PlanResult | None]


@dataclass(frozen=True)
class ApplyFlags(ReplacingFlags):
    """The options of ``plan``, and what carrying out needs besides."""

    plan: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Carry out the moves of this plan (JSON or YAML); the policy still governs limits and "
            "guidance [default: plan afresh]",
            show_default=False, rich_help_panel="Policy",
        ),
    ] = None  # fmt: skip
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="PLAN", help="Go on with a plan that was interrupted: its file, or its number in history; one of "
            "which nothing was begun is refused",
            show_default=False, rich_help_panel="Policy",
        ),
    ] = None  # fmt: skip
    timeout: Annotated[
        float,
        typer.Option(
            metavar="DURATION", parser=parsed(positive_duration), show_default=False, rich_help_panel="Limits",
            help="Longest time for carrying out, such as 90s or 10m [default: 10m]",
        ),
    ] = 600.0  # fmt: skip
    yes: Yes = False
    events: Annotated[
        bool,
        typer.Option(
            "--events", rich_help_panel="Output",
            help="One JSON object a line on standard output for each change of a move, and nothing else there but, "
            "with -o json, the result last, on one line",
        ),
    ] = False  # fmt: skip


@with_options
def apply(options: ApplyFlags) -> int:
    """Carry out one plan on a live cluster: the plan is shown, you are asked, and only then pods are evicted.

    Evictions go through the Eviction API, and are watched until the pods run again. A move that something comes in the
    way of is dropped, with what rests on it; what is left is planned again, twice at most, unless --plan or --resume
    names the moves. Exit 0 if every move ended as planned or elsewhere without harm, 1 if one was left or the plan
    stopped.
    """
    from rescheduler.extension_points import ExecutionInterruptedError
    from rescheduler.model.plan.attempts import is_as_planned

    _refuse_what_cannot_be(options)
    files = given_files(options)
    _refuse_replacing_under(options, files)
    if files.theirs and not options.improve:
        from rescheduler.cli.plans.descheduler_plan import applied

        return applied(options, files)
    carry_out = _improving(options, files) if options.improve else _planning(options)
    with shown_progress() as progress:
        follower = follower_of(options, progress)
        question = _Question(options, progress, follower)
        try:
            result = carry_out(question.ask, follower)
        except ExecutionInterruptedError as stop:
            follower.close()
            _print_result(stop.result, question.cluster, options)
            return INTERRUPTED
        finally:
            follower.close()
    if result is None:
        say("nothing was done")
        return FAILED
    warn(warning for warning in result.warnings if warning not in question.warnings)
    _print_result(result, question.cluster, options)
    if not is_as_planned(result):
        say(f"error: {printable(result.message) or 'the plan stopped early'}")
        return FAILED
    return NOT_EMPTY if options.exit_code and result.moves else DONE


def _planning(options: ApplyFlags) -> CarryOut:
    """A plan for the policy's objectives, or a reviewed one. Raises PolicyError, UsageError."""
    policy = own_policy_from(options)
    refuse_buying_under_predict(options, policy)
    if replaces(options):
        refuse_without_sizes(policy, "--replace-node and --replace-pool")
    reviewed = _reviewed_plan(options, policy)

    def carry_out(confirm: Confirm, follower: Follower) -> PlanResult | None:
        from rescheduler.composition.live import carrying_out

        predictions = predictions_from(options, policy, follower)
        return carrying_out.apply(
            cluster_options_from(options, predictions.config_maps),
            policy,
            schedulers=predictions.schedulers,
            confirm=confirm,
            reviewed=reviewed,
            wanted=wanted_of(options) if replaces(options) else None,
            buys=options.buy,
            selection=selection_from(options),
            seed=options.seed,
            timeout_seconds=options.timeout,
            progress=follower,
            hear_moves=follower.hear,
        )

    return carry_out


def _improving(options: ApplyFlags, files: GivenFiles) -> CarryOut:
    """A plan for the ends of a DeschedulerPolicy, or a reviewed one. Raises PolicyError, UsageError."""
    from rescheduler.cli.plans.descheduler_plan import given_with_ends

    given = given_with_ends(options, files)
    reviewed = _reviewed_plan(options, given.own)

    def carry_out(confirm: Confirm, follower: Follower) -> PlanResult | None:
        from rescheduler.composition.live import descheduling

        predictions = predictions_from(given.beside, given.own, follower)
        return descheduling.apply_improved(
            cluster_options_from(options, predictions.config_maps),
            given.written,
            given.own,
            confirm=confirm,
            reviewed=reviewed,
            selection=selection_from(options),
            schedulers=predictions.schedulers,
            seed=options.seed,
            timeout_seconds=options.timeout,
            recorded=given.answer,
            progress=follower,
            hear_moves=follower.hear,
        )

    return carry_out


def follower_of(options: ApplyFlags, progress: ShownProgress) -> Follower:
    """How the plan is followed: for programs without a word beside what they asked for."""
    from rescheduler.cli.following import followers

    if options.events:
        return followers.EventFollower(progress)
    if options.output not in (OutputFormat.TABLE, OutputFormat.WIDE):
        return followers.Follower(progress)
    if is_shown():
        return followers.LiveFollower(progress, console(sys.stderr))
    return followers.LineFollower(progress)


def _print_result(result: PlanResult, cluster: Cluster | None, options: ApplyFlags) -> None:
    """As ever; after events standard output is for programs alone."""
    if not options.events:
        print_plan(result, cluster, options.output)
    elif options.output is OutputFormat.JSON:
        from rescheduler.report.documents import to_line

        write(to_line(result))
    else:
        from rescheduler.report.plan.table import plan_report

        show(plan_report(result, cluster, wide=options.output is OutputFormat.WIDE), to_stderr=True)


class _Question:
    """Shows the plan and asks; remembers what it was asked about."""

    def __init__(self, options: ApplyFlags, progress: ShownProgress, follower: Follower) -> None:
        self._options = options
        self._progress = progress
        self._follower = follower
        self.cluster: Cluster | None = None
        self.warnings: frozenset[str] = frozenset()

    def ask(self, plan: Plan, cluster: Cluster) -> bool:
        """Whether to carry the plan out; an empty plan needs no answer. Asked of each attempt."""
        self._follower.close()
        is_wanted = self._is_wanted(plan, cluster)
        if is_wanted and plan.moves:
            self._follower.begin(plan)
        return is_wanted

    def _is_wanted(self, plan: Plan, cluster: Cluster) -> bool:
        from rescheduler.execution.buying.orders import bill_of
        from rescheduler.report.plan.table import plan_report

        self.cluster = self.cluster or cluster
        self._progress.pause()
        warn(warning for warning in plan.warnings if warning not in self.warnings)
        self.warnings |= frozenset(plan.warnings)
        bill = bill_of(plan)
        first = f"Have {printable(bill)} made, then evict" if bill else "Evict"
        return agreed(
            self._options, len(plan.moves), lambda: show(plan_report(plan, cluster), to_stderr=True), first=first
        )


def agreed(
    options: ApplyFlags, pods: int, show_plan: Callable[[], None], besides: str = "", *, first: str = "Evict"
) -> bool:
    """Show what would be done and ask, unless ``--yes`` or there is nothing to do.

    ``besides``: said of other pods; ``first``: what is done with these.
    """
    where = _unchosen(options) if pods else None
    if options.yes and where is not None:
        say(f"acting on {where}; --context NAME says which one is meant")
    if options.yes or not pods:
        return True
    show_plan()
    count = "1 pod" if pods == 1 else f"{pods} pods"
    return confirmed(f"{first} {count} as shown{besides}{'' if where is None else f', in {where}'}? [y/N] ")


def _unchosen(options: ApplyFlags) -> str | None:
    """The context, where there are several and nobody said which: acting on the wrong cluster is hard to take back."""
    from rescheduler.composition.live import cluster_source

    chosen = cluster_source.ClusterOptions(kubeconfig=options.kubeconfig, context=options.context)
    return cluster_source.unchosen_context(chosen)


def _refuse_what_cannot_be(options: ApplyFlags) -> None:
    """Raise UsageError before anything is read: for a recording, or where nobody can be asked."""
    if options.events and options.output in (OutputFormat.YAML, OutputFormat.HTML):
        raise UsageError(
            f"--events writes JSON, a line each, and -o {options.output.value} would follow it; write -o json or table"
        )
    if options.filename:
        raise UsageError("apply acts on a live cluster and -f names a recording; try simulate -f, or leave -f out")
    if not options.yes and not is_terminal(sys.stdin):
        raise UsageError("apply asks before it evicts, and there is no terminal to ask on; repeat with --yes")
    given = "--plan" if options.plan is not None else "--resume"
    if options.plan is not None and options.resume is not None:
        raise UsageError("--plan and --resume name a plan each; give one of them")
    if (options.plan is not None or options.resume is not None) and options.objective:
        raise UsageError(f"{given} brings its own moves, --objective would plan others; give one of them")
    _refuse_replacing_with(options)


def _refuse_replacing_under(options: ApplyFlags, files: GivenFiles) -> None:
    """Raise UsageError where descheduler's rules are to be carried out, or the ends behind them."""
    if (options.buy or replaces(options)) and (files.theirs or options.improve):
        raise UsageError(
            "--replace-node, --replace-pool and --buy go by our own planner; leave the DeschedulerPolicy out"
        )


def _refuse_replacing_with(options: ApplyFlags) -> None:
    refuse_bad_replacing(options)
    if replaces(options) and (options.plan is not None or options.resume is not None):
        raise UsageError("--plan and --resume bring their own moves; leave --replace-node and --replace-pool out")
    if options.buy and options.resume is not None:
        raise UsageError("a plan that was begun has its machines; leave --buy out, and --resume goes on with them")
    if options.buy and not replaces(options) and options.plan is None:
        raise UsageError(
            "--buy is for machines that replace nodes; name some with --replace-node or --replace-pool, or give such a "
            "plan with --plan"
        )


def _reviewed_plan(options: ApplyFlags, policy: Policy) -> Plan | None:
    """The plan of the file. Raises UsageError for one that the policy's guidance cannot carry out."""
    if options.plan is None and options.resume is None:
        return None
    from rescheduler.cli.plans.plan_file import read_plan_file, read_plan_to_resume
    from rescheduler.policy.fields.policy import Guidance

    if options.resume is None:
        where = options.plan or ""
        plan = read_plan_file(where, buys=options.buy)
    else:
        where = options.resume
        plan = read_plan_to_resume(where, cluster_options_from(options), policy)
    if not options.improve:
        gone = next((number for number, move in enumerate(plan.moves) if move.destination is None), None)
        if gone is not None:
            raise UsageError(
                f"{where}: moves[{gone}] is a finished pod that a DeschedulerPolicy removes; add --improve and "
                "--policy with its file"
            )
    exchange = next((move for move in plan.moves if move.evict_first), None)
    if exchange is not None and policy.guidance is not Guidance.GUIDE:
        raise UsageError(
            f"{where}: the pods of wave {exchange.wave} leave before they arrive (evictFirst), which takes "
            f"guidance: Guide; the policy has guidance: {policy.guidance}"
        )
    return plan
