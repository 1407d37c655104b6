"""Checks policies, schedulers' configurations, and the files that policies name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.scheduler_file import UnreadableFileError, read_text
from rescheduler.composition.foretelling import read_file, refuse_absent_classes
from rescheduler.composition.given_policies import sorted_out
from rescheduler.composition.live.cluster_source import ClusterOptions, read_cluster
from rescheduler.composition.load.metrics import check_providers
from rescheduler.composition.scheduler_sources import NamedConfiguration, named_configurations
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy
from rescheduler.descheduler.telling.lint_on_cluster import cluster_findings
from rescheduler.disruption.budgets.windows import opening_sentences
from rescheduler.extension_points import Clock
from rescheduler.model.plan.disruption import OwnIdentity
from rescheduler.model.printable import printable
from rescheduler.policy.fields.policy import API_VERSION, Policy
from rescheduler.policy.plugins import Plugins
from rescheduler.policy.reading.emptied_scope import refuse_emptied_scope
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem, named
from rescheduler.policy.reading.loader import loaded_with_places
from rescheduler.policy.telling.numbers_in_force import numbers_in_force
from rescheduler.policy.telling.trigger_sentences import round_times
from rescheduler.scheduling.configuration import combined, configures_scheduler, read_configuration
from rescheduler.scheduling.schedulers import DEFAULTS


class Checked(NamedTuple):
    """Valid files: the policy that ``policy_files`` make together (None: none was given), and configurations.

    ``openings``: when the windows of its budgets open and its schedules ask for rounds next, in sentences;
    ``numbers``: in force, each with where it comes from. ``descheduler``: DeschedulerPolicies by file.
    """

    policy: Policy | None
    policy_files: tuple[str, ...]
    configurations: tuple[NamedConfiguration, ...]
    openings: tuple[str, ...] = ()
    descheduler: tuple[tuple[str, DeschedulerPolicy], ...] = ()
    numbers: tuple[str, ...] = ()


def check_files(files: Sequence[str], plugins: Plugins, clock: Clock | None = None) -> Checked:
    """Read files of both sorts. Raises PolicyError with everything that is wrong in any of them, and PluginError."""
    problems: list[ReadingProblem] = []
    policies: list[str] = []
    configurations: list[NamedConfiguration] = []
    foreign: list[tuple[str, DeschedulerPolicy]] = []
    theirs = dict(sorted_out(files).theirs)
    for file in files:
        try:
            if file in theirs:
                foreign.append((file, read_file(file, theirs[file])))
                continue
            text = _text_of_scheduler(file)
            if text is None:
                policies.append(file)
                continue
            read = read_configuration(text, printable(file), scheduler_name=None)
            configurations.append(NamedConfiguration(printable(file), read))
        except PolicyError as error:
            problems += error.problems
    policy, document = None, None
    if policies:
        try:
            policy, document = loaded_with_places(policies, plugins)
            refuse_emptied_scope(policy, OwnIdentity().namespace, policies)
            configurations += _named_by(policy, policies)
        except PolicyError as error:
            problems += error.problems
    if problems:
        raise PolicyError(problems)
    now = (clock or SystemClock()).now()
    if policy is None:
        return Checked(None, (), tuple(configurations), descheduler=tuple(foreign))
    times = (*opening_sentences(policy.disruption.budgets, now), *round_times(policy, plugins.triggers, now))
    numbers = tuple(numbers_in_force(policy, document))
    return Checked(policy, tuple(policies), tuple(configurations), times, tuple(foreign), numbers)


def cluster_warnings(found: Checked, where: ClusterOptions) -> Iterator[str]:
    """What of the DeschedulerPolicies comes to nothing on a cluster.

    Its pods are placed by the schedulers whose configurations were given, else by kube-scheduler as it comes. Raises
    SnapshotError, ClusterError, and PolicyError for a file that descheduler would not start with there.
    """
    cluster = read_cluster(where)
    profiles = [profile for each in found.configurations for profile in each.read.profiles.values()]
    for file, written in found.descheduler:
        refuse_absent_classes(written, cluster, printable(file))
        schedulers = profiles or DEFAULTS.configuration.profiles.values()
        yield from (f"{printable(file)}: {text}" for text in cluster_findings(written, cluster, schedulers))


def _named_by(policy: Policy, files: Sequence[str]) -> list[NamedConfiguration]:
    """Configurations of a policy that need no cluster, which must go together."""
    with named(files):
        check_providers(policy)
    found = named_configurations(policy, files)
    combined(found)
    return found


def _text_of_scheduler(file: str) -> str | None:
    """The text of a file that configures schedulers; None for any other, which reading it as a policy judges.

    Raises PolicyError for a file that is too large, where its beginning looks like a scheduler's.
    """
    try:
        text = read_text(file)
    except UnreadableFileError as error:
        if API_VERSION not in error.start and configures_scheduler(error.start):
            raise PolicyError([ReadingProblem(printable(file), 0, 0, "", str(error))]) from None
        return None
    return text if configures_scheduler(text) else None
