"""``plan`` and ``apply`` with a DeschedulerPolicy: what descheduler would do, what would come of it, and doing it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from rescheduler.cli.failures import DONE, FAILED, INTERRUPTED, NOT_EMPTY, UsageError
from rescheduler.cli.options import PlanFlags
from rescheduler.cli.parameters import MomentInTime, OutputFormat
from rescheduler.cli.plan_output import print_report
from rescheduler.cli.preparation import (
    cluster_options_from,
    earlier_evictions,
    overridden_by,
    predictions_from,
    read_world,
    refuse_formats,
    selection_from,
    time_in,
)
from rescheduler.cli.progress import ShownProgress, shown_progress
from rescheduler.cli.streams import say, show, warn, write

if TYPE_CHECKING:
    from rescheduler.cli.commands.acting.apply import ApplyFlags
    from rescheduler.cli.following.followers import Follower
    from rescheduler.composition.given_policies import GivenFiles
    from rescheduler.composition.planning import SomePlan
    from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy
    from rescheduler.extension_points import LedgerReading
    from rescheduler.model.objects.cluster import Cluster
    from rescheduler.model.plan.foretold_plan import ForetoldPlan, ForetoldResult
    from rescheduler.model.plan.plan import Plan
    from rescheduler.model.usage.measured_use import QueryAnswer
    from rescheduler.policy.fields.policy import Policy
    from rescheduler.scheduling.schedulers import Schedulers


class Improved(NamedTuple):
    """A plan for the ends of a policy's plugins, and what it was made from and within."""

    cluster: Cluster
    plan: Plan
    policy: Policy
    schedulers: Schedulers
    earlier: LedgerReading


def foretold(options: PlanFlags, files: GivenFiles, at: MomentInTime | None = None) -> int:
    """Walk one cycle of the policy among ``files``, as if it were ``at``; nothing is written."""
    from rescheduler.composition import foretelling

    refuse_formats(options.output, "a plan of a DeschedulerPolicy", OutputFormat.HTML)
    given = _given(options, files)
    _tell_of_guidance(given.own)
    with shown_progress() as progress:
        seen = _seen(given, given.predicting, at, progress)
        plan = seen.told(
            foretelling.plan(
                seen.cluster,
                given.written,
                given.predicting,
                selection=selection_from(options),
                schedulers=seen.schedulers,
                earlier=seen.earlier,
            )
        )
    warn(plan.warnings)
    _print(plan, options.output)
    return NOT_EMPTY if options.exit_code and plan.moves else DONE


def applied(options: ApplyFlags, files: GivenFiles) -> int:
    """Walk one cycle, ask, and carry out what our own gate lets go."""
    from rescheduler.cli.commands.acting.apply import follower_of
    from rescheduler.composition.live import descheduling
    from rescheduler.extension_points import ExecutionInterruptedError

    if options.plan or options.resume:
        given = "--plan" if options.plan else "--resume"
        raise UsageError(f"{given} brings its own moves, and so does a DeschedulerPolicy; give one of them")
    refuse_formats(options.output, "a plan of a DeschedulerPolicy", OutputFormat.HTML)
    written, beside, own, policy, answer = _given(options, files)
    _tell_of_guidance(own)
    with shown_progress() as progress:
        follower = follower_of(options, progress)
        predictions = predictions_from(beside, policy, follower)
        question = _Question(options, progress, follower)
        try:
            result = descheduling.apply(
                cluster_options_from(options, predictions.config_maps),
                written,
                policy,
                confirm=question.ask,
                selection=selection_from(options),
                schedulers=predictions.schedulers,
                timeout_seconds=options.timeout,
                recorded=answer,
                progress=follower,
                hear_moves=follower.hear,
            )
        except ExecutionInterruptedError as stop:
            follower.close()
            say(f"interrupted: {stop}")
            return INTERRUPTED
        finally:
            follower.close()
    return _told_of(result, options, question.warnings)


def _told_of(result: ForetoldResult | None, options: ApplyFlags, told: frozenset[str]) -> int:
    """Say what was done; the exit code. ``told``: warnings that were said before anybody was asked."""
    from rescheduler.descheduler.carrying_out.steps import is_as_foretold

    if result is None:
        say("nothing was done")
        return FAILED
    warn(warning for warning in result.warnings if warning not in told)
    _print_result(result, options)
    if not is_as_foretold(result):
        say(f"error: {result.message or 'not every pod was evicted'}")
        return FAILED
    return NOT_EMPTY if options.exit_code and result.moves else DONE


def improved(options: PlanFlags, files: GivenFiles, at: MomentInTime | None = None) -> Improved:
    """Plan for the ends of the policy among ``files``; nothing is written. Raises UsageError where there is none."""
    from rescheduler.composition import foretelling

    given = given_with_ends(options, files)
    with shown_progress() as progress:
        seen = _seen(given, given.own, at, progress)
        plan = foretelling.improve(
            seen.cluster,
            given.written,
            given.own,
            selection=selection_from(options),
            schedulers=seen.schedulers,
            earlier=seen.earlier,
            seed=options.seed,
            progress=progress,
        )
    return Improved(seen.cluster, seen.told(plan), given.own, seen.schedulers, seen.earlier)


def given_with_ends(options: PlanFlags, files: GivenFiles) -> GivenPolicies:
    """The policies by which to plan for the ends of one. Raises UsageError where there is none, PolicyError."""
    if not files.theirs:
        raise UsageError("--improve is about a DeschedulerPolicy; name one with --policy")
    return _given(options, files)


class GivenPolicies(NamedTuple):
    """The policy, the options without its file, and our own policy beside it, as it is and for foretelling.

    ``answer``: Prometheus' answer among the options.
    """

    written: DeschedulerPolicy
    beside: PlanFlags
    own: Policy
    predicting: Policy
    answer: QueryAnswer | None


class _Seen(NamedTuple):
    """What is planned from. ``read``: the cluster as it was read, ``at``: as if when it is planned (None: as read)."""

    cluster: Cluster
    schedulers: Schedulers
    earlier: LedgerReading
    read: Cluster
    at: float | None

    def told(self, proposed: SomePlan) -> SomePlan:
        """A plan that says which time it was made for."""
        from rescheduler.composition.planning import told_as_if_at

        return proposed if self.at is None else told_as_if_at(proposed, self.read, self.at)


def _seen(given: GivenPolicies, policy: Policy, at: MomentInTime | None, progress: ShownProgress) -> _Seen:
    """Ages of pods and of their states are those of then; measured use stands still."""
    from rescheduler.composition.load.measured_use import with_measured_use
    from rescheduler.composition.planning import as_if_at

    cluster, schedulers = read_world(given.beside, policy, progress, with_details=True)
    cluster = with_measured_use(cluster, given.written, cluster_options_from(given.beside), given.answer, _say)
    earlier, read, time = earlier_evictions(given.beside, policy, cluster), cluster, time_in(cluster, at)
    if time is not None:
        cluster, schedulers = as_if_at(cluster, schedulers, time)
    return _Seen(cluster, schedulers, earlier, read, time)


def _say(text: str) -> None:
    warn([text])


def _given(options: PlanFlags, files: GivenFiles) -> GivenPolicies:
    from rescheduler.composition import foretelling
    from rescheduler.composition.load.measured_use import usage_file_of
    from rescheduler.daemon.plugins import load_policy

    if options.objective:
        raise UsageError("--objective: a DeschedulerPolicy brings its own plugins; leave it out")
    if options.prices:
        raise UsageError("--prices: a DeschedulerPolicy knows no money; leave it out")
    written = foretelling.read_only_one(files)
    assert written is not None  # else nobody asks
    usage, answer = usage_file_of(options.usage)
    beside = replace(options, policy=[*files.own], usage=usage)
    own = load_policy(files.own)
    predicting = overridden_by(beside, foretelling.policy_beside(own, files.own))
    return GivenPolicies(written, beside, overridden_by(beside, own), predicting, answer)


def _tell_of_guidance(own: Policy) -> None:
    if "guidance" in own.model_fields_set and own.guidance.value != "Predict":
        warn([f"guidance: {own.guidance} has no effect on a DeschedulerPolicy: its victims go where they are sent"])


class _Question:
    """Shows what would be done and asks; remembers what was warned of."""

    def __init__(self, options: ApplyFlags, progress: ShownProgress, follower: Follower) -> None:
        self._options = options
        self._progress = progress
        self._follower = follower
        self.warnings: frozenset[str] = frozenset()

    def ask(self, plan: ForetoldPlan, cluster: Cluster) -> bool:
        """Whether to carry it out; where nothing is to be done nobody is asked."""
        from rescheduler.cli.commands.acting.apply import agreed
        from rescheduler.descheduler.carrying_out.steps import plan_to_carry_out
        from rescheduler.model.plan.plan import Landing
        from rescheduler.report.foretold import foretold_report

        del cluster
        self.warnings = frozenset(plan.warnings)
        self._progress.pause()
        warn(plan.warnings)
        waiting = sum(move.landing is Landing.PENDING for move in plan.moves)
        kept = f" ({waiting} more stay, since their replacements would wait)" if waiting else ""
        report = foretold_report(plan, wide=False)
        is_wanted = agreed(self._options, len(plan.moves) - waiting, lambda: show(report, to_stderr=True), kept)
        proposed = plan_to_carry_out(plan)
        if is_wanted and proposed.moves:
            self._follower.begin(proposed)
        return is_wanted


def _print_result(result: ForetoldResult, options: ApplyFlags) -> None:
    """As ever; after events standard output is for programs alone."""
    from rescheduler.report.documents import to_line
    from rescheduler.report.foretold import foretold_report

    if not options.events:
        _print(result, options.output)
    elif options.output is OutputFormat.JSON:
        write(to_line(result))
    else:
        show(foretold_report(result, wide=options.output is OutputFormat.WIDE), to_stderr=True)


def _print(plan: ForetoldPlan | ForetoldResult, output: OutputFormat) -> None:
    from rescheduler.report.foretold import foretold_report

    print_report(plan, output, lambda wide: foretold_report(plan, wide=wide))
