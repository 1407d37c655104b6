"""Makes what a policy's ``usage`` names: providers, the store, and how their credentials are read."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rescheduler.composition.live.cluster_source import ClusterOptions, connected
from rescheduler.extension_points import Clock, ClusterError, MetricsError, MetricsProvider, UsageStore
from rescheduler.model.printable import printable
from rescheduler.policy.fields.metrics_access import Credential
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.usage import UsagePolicy
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem

if TYPE_CHECKING:
    from rescheduler.adapters.kubernetes.client.connection import Connection
    from rescheduler.adapters.metrics.provider_context import ProviderContext


Tell = Callable[[str], None]


def make_providers(policy: Policy, options: ClusterOptions, tell: Tell) -> tuple[MetricsProvider, ...]:
    """The providers in the policy's order; nothing is sent yet. One that needs a cluster and has none is left out.

    ``tell`` hears of that, and of what makes the load easy to forge. Raises PolicyError with every wrong argument.
    """
    from rescheduler.adapters.metrics.registration import provider_of

    check_providers(policy)
    context = provider_context(options, tell)
    found = []
    for at, entry in enumerate(policy.usage.providers):
        try:
            found.append(provider_of(entry, context, at=at))
        except (MetricsError, ClusterError) as error:
            tell(str(error))
    return tuple(found)


def check_providers(policy: Policy) -> None:
    """Raise PolicyError with every wrong argument of every provider."""
    from rescheduler.adapters.metrics.registration import check_provider

    problems: list[ReadingProblem] = []
    for at, entry in enumerate(policy.usage.providers):
        try:
            check_provider(entry, at)
        except PolicyError as error:
            problems += error.problems
    if problems:
        raise PolicyError(problems)


def provider_context(options: ClusterOptions, tell: Tell) -> ProviderContext:
    """What providers need of their surroundings; the cluster is connected to when one of them asks for it."""
    from rescheduler.adapters.metrics.provider_context import ProviderContext

    if options.filenames:
        return ProviderContext(warn=tell)
    connection = _once(options)
    return ProviderContext(lambda name: _secret(connection(), name), connection, warn=tell)


def check_store(usage: UsagePolicy) -> None:
    """Raise PolicyError for a file that can never be written; what may pass, as a full disk does, is no such fault."""
    if usage.store is None:
        return
    path = Path(usage.store.path)
    folder, name = path.resolve().parent, printable(str(path))
    if not folder.is_dir():
        text = f"the folder {printable(str(folder))} does not exist; make it, or name another"
    elif path.is_dir():
        text = f"{name} is a folder; wanted the name of a file, such as {name}/usage.sqlite"
    elif not os.access(path if path.exists() else folder, os.W_OK):
        text = f"{name} cannot be written here; name a file that can"
    else:
        return
    raise PolicyError([ReadingProblem("", 0, 0, "usage.store.path", text)])


def make_store(usage: UsagePolicy, clock: Clock, tell: Tell) -> UsageStore | None:
    """The file that keeps samples, opened when it is first needed; None where the policy names none."""
    if usage.store is None:
        return None
    from rescheduler.adapters.files.sqlite.reopening_usage_store import ReopeningUsageStore
    from rescheduler.adapters.files.sqlite.usage_store import SqliteUsageStore

    path, keep = Path(usage.store.path), usage.store.keep
    return ReopeningUsageStore(
        lambda: SqliteUsageStore(path, keep_seconds=keep, interval_seconds=usage.interval, now=clock.now(), tell=tell)
    )


def token_reader(credential: Credential, options: ClusterOptions) -> Callable[[], str]:
    """Reads a token anew each time (a Secret's at most once a minute). It raises MetricsError."""
    from rescheduler.adapters.metrics.http.credentials import Secrets

    connection = None if options.filenames else _once(options)
    secrets = Secrets(None if connection is None else lambda name: _secret(connection(), name), Path())
    return lambda: secrets.text(credential)


def _once(options: ClusterOptions) -> Callable[[], Connection]:
    return cache(lambda: connected(options, read_only=True))


def _secret(connection: Connection, name: str) -> str:
    from rescheduler.adapters.kubernetes.reading.single_entries import read_secret

    return read_secret(connection, name)
