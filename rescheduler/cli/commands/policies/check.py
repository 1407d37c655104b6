"""``check``: read policies and schedulers' configurations, and say what they do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from rescheduler.cli.failures import DONE, FAILED
from rescheduler.cli.options import LiveOptions, with_options
from rescheduler.cli.streams import say, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rescheduler.composition.checking import Checked
    from rescheduler.composition.scheduler_sources import NamedConfiguration
    from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy
    from rescheduler.policy.fields.policy import Policy

_Recordings = Annotated[
    list[str] | None,
    typer.Option(
        "-f", "--filename", metavar="FILE", show_default=False, rich_help_panel="Cluster",
        help="Check a DeschedulerPolicy on a recording too; repeatable [default: no cluster is looked at]",
    ),
]  # fmt: skip


@with_options
def check(
    options: LiveOptions,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", show_default=False, help="Policies, of which a later one wins, schedulers' own "
            "configurations (KubeSchedulerConfiguration, Volcano's, a legacy Policy), and DeschedulerPolicies",
        ),
    ],
    filename: _Recordings = None,
) -> int:  # fmt: skip
    """Read policies, or the configuration of a scheduler, and say what they do; several policies together.

    A scheduler's file is read as that scheduler reads it: what is not modelled of it is named, with what that means
    for predictions. Files that a policy names are checked with it. Of a policy, first what it may do in its mode, then
    each number in force and where it comes from. Every problem is named with file, line and column,
    and with what to write instead: exit 2.

    With --context or --kubeconfig it is also said what that cluster lacks for the policy: its version, the account's
    rights, guidance, a source of load. Nothing is written. Exit 1 only if one of these findings blocks. With one of
    them, or -f, it is said what of a DeschedulerPolicy comes to nothing there.
    """
    from rescheduler.composition.checking import check_files
    from rescheduler.daemon.plugins import PLUGINS

    found = check_files(files, PLUGINS)
    _tell(found, options, filename)
    is_offline = options.context is None and options.kubeconfig is None
    if is_offline or (found.policy is None and found.descheduler):
        return DONE
    return _on_a_cluster(options, found.policy)


def _tell(found: Checked, options: LiveOptions, filename: list[str] | None) -> None:
    """What the files say and do, warnings first."""
    for warning in _there(found, options, filename):
        say(f"warning: {warning}")
    for configuration in found.configurations:
        for warning in configuration.read.warnings:
            say(f"warning: {_printable(warning)}")
    if found.policy is not None:
        show(_about_policy(found.policy, found))
    for file, policy in found.descheduler:
        for finding in policy.findings:
            say(f"warning: {finding}")
        show(_about_descheduler(file, policy, stands_alone=found.policy is None))
    for configuration in found.configurations:
        show(_about_schedulers(configuration))


def _there(found: Checked, options: LiveOptions, filename: list[str] | None) -> Iterator[str]:
    """What of the DeschedulerPolicies comes to nothing on a cluster, if one was named."""
    from rescheduler.composition.checking import cluster_warnings
    from rescheduler.composition.live.cluster_source import ClusterOptions

    if filename and not found.descheduler:
        raise typer.BadParameter("is for a DeschedulerPolicy, and none is among the files", param_hint="--filename")
    if found.descheduler and (filename or options.context or options.kubeconfig):
        where = ClusterOptions(tuple(filename or ()), options.kubeconfig, options.context)
        yield from cluster_warnings(found, where)


def _on_a_cluster(options: LiveOptions, policy: Policy | None) -> int:
    """What its API server says; the exit code."""
    from rescheduler.composition.diagnosis.diagnosing import diagnose_server
    from rescheduler.composition.live.cluster_source import ClusterOptions
    from rescheduler.report.cells import cell
    from rescheduler.report.diagnosis import diagnosis_report

    if policy is None:
        raise typer.BadParameter("is asked on behalf of a ReschedulerPolicy, and none is among the files; doctor asks "
                                 "on behalf of the defaults", param_hint="--context")  # fmt: skip
    found = diagnose_server(ClusterOptions(kubeconfig=options.kubeconfig, context=options.context), policy)
    show([cell("On that cluster:", "bold")])
    show(diagnosis_report(found))
    return FAILED if found.is_blocked else DONE


def _about_policy(policy: Policy, found: Checked) -> Iterator[RenderableType]:
    from rescheduler.daemon.plugins import policy_sentences
    from rescheduler.policy.telling.numbers_in_force import what_it_may_do
    from rescheduler.report.cells import cell, hanging

    files = found.policy_files
    yield cell(what_it_may_do(policy), "bold")
    checked = f"{files[0]} is valid" if len(files) == 1 else f"the {len(files)} policies are valid together"
    yield cell(f"{checked}. Policy {policy.metadata.name}:", "bold")
    for sentence in (*policy_sentences(policy), *found.openings):
        yield hanging(cell(f"- {sentence}"))
    for source in policy.schedulers:
        if source.config_map is not None:
            told = f"- reads schedulers from ConfigMap {source.config_map}, which is checked when it is read"
            yield hanging(cell(told))
    yield cell("In force, and where it comes from:", "bold")
    for number in found.numbers:
        yield hanging(cell(f"- {number}"))
    yield hanging(cell("Left out: defaults of parts that this policy does not use (docs/policy-reference.md)."))
    yield from _what_binds(policy)


def _what_binds(policy: Policy) -> Iterator[RenderableType]:
    """What ``run`` keeps of which the policy says nothing."""
    from rescheduler.policy.telling.numbers_in_force import CAREFUL_SINCE, newly_binding
    from rescheduler.report.cells import cell, hanging

    binding = tuple(newly_binding(policy))
    if binding:
        yield cell(f"Binds run since version {CAREFUL_SINCE} where a policy says nothing (docs/upgrading.md):", "bold")
    for sentence in binding:
        yield hanging(cell(f"- {sentence}"))


def _about_descheduler(file: str, policy: DeschedulerPolicy, *, stands_alone: bool) -> Iterator[RenderableType]:
    from rescheduler.composition.foretelling import policy_beside
    from rescheduler.descheduler.telling.policy_sentences import policy_sentences
    from rescheduler.policy.fields.policy import Policy
    from rescheduler.report.cells import cell, hanging

    yield cell(f"{file} is valid. DeschedulerPolicy:", "bold")
    for sentence in policy_sentences(policy):
        yield hanging(cell(f"- {sentence}"))
    if stands_alone:
        yield from _what_binds(policy_beside(Policy(), ()))


def _about_schedulers(configuration: NamedConfiguration) -> Iterator[RenderableType]:
    from rescheduler.report.cells import cell, hanging
    from rescheduler.scheduling.configuration import configuration_sentences

    for number, (heading, sentences) in enumerate(configuration_sentences(configuration.read)):
        yield cell(f"{configuration.where} is valid. {heading[:1].upper()}{heading[1:]}:" if not number
                   else f"{heading[:1].upper()}{heading[1:]}:", "bold")  # fmt: skip
        for sentence in sentences:
            yield hanging(cell(f"- {sentence}"))


def _printable(text: str) -> str:
    from rescheduler.model.printable import printable

    return printable(text)
