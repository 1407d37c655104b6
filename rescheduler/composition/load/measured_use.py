"""Use of one moment for a DeschedulerPolicy that asks for it: recorded, or asked of its sources."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from msgspec.structs import replace as with_changes

from rescheduler.adapters.files.recording.sources import read_chunks
from rescheduler.composition.live.cluster_source import ClusterOptions, connected
from rescheduler.composition.load.metrics import Tell, provider_context
from rescheduler.descheduler.plugins.usage_sources import KUBERNETES_METRICS
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy, given_providers
from rescheduler.extension_points import MetricsError, SnapshotError, no_progress
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.usage.measured_use import QueryAnswer

_ENTRY: Final = "prometheusAuthToken"
_OWN_ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount/token"
_MOST_BYTES: Final = 64 * 2**20


def answer_in(file: str) -> QueryAnswer | None:
    """A Prometheus server's answer to an instant query, as its HTTP API gives it; None where the file is none.

    Raises SnapshotError for a file that cannot be read.
    """
    from rescheduler.adapters.metrics.prometheus.instant import is_answer, read_answer

    text = bytearray()
    for chunk in read_chunks(file, None, no_progress):
        text += chunk
        if len(text) > _MOST_BYTES:
            return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return read_answer(document) if is_answer(document) else None


def with_measured_use(
    cluster: Cluster, written: DeschedulerPolicy, options: ClusterOptions, recorded: QueryAnswer | None, tell: Tell
) -> Cluster:
    """The cluster with what the policy's plugins ask for; what cannot be had is said by the plugin that lacks it.

    ``recorded``: an answer that stands in for Prometheus'; the servers are asked only of a live cluster.
    """
    wanted = set(_wanted(written))
    measured = cluster.measured
    if any(source == KUBERNETES_METRICS for source, _ in wanted) and not options.filenames:
        from rescheduler.adapters.metrics.metrics_server import use_from_cluster

        measured = use_from_cluster(connected(options, read_only=True))
    answers = {}
    for query in sorted(query for source, query in wanted if source == "Prometheus"):
        if recorded is not None:
            answers[query] = recorded
        elif not options.filenames:
            answers[query] = _asked(written, query, options, tell)
    return replace(cluster, measured=with_changes(measured, answers=answers))


def reading_measured_use(
    read: Callable[[], Cluster], written: DeschedulerPolicy, where: ClusterOptions, tell: Tell
) -> Callable[[], Cluster]:
    """Readings of a live cluster, each with what the policy's plugins ask for as it is then; a warning is told once.

    An answer that fails is not the one before.
    """
    tell_once = cache(tell)
    return lambda: with_measured_use(read(), written, where, None, tell_once)


def wanted_sources(written: DeschedulerPolicy) -> frozenset[str]:
    """Sources of measured use that a plugin goes by and the policy gives."""
    return frozenset(source for source, _ in _wanted(written))


def _wanted(written: DeschedulerPolicy) -> Iterator[tuple[str, str]]:
    """Source and query of each plugin that goes by measured use, if its source is given."""
    given = given_providers(written.fields)
    for profile in written.profiles:
        for _, arguments in profile.balance:
            metrics = getattr(arguments, "metrics_utilization", None)
            if metrics is not None and metrics.provider in given:
                yield metrics.provider, "" if metrics.prometheus is None else metrics.prometheus.query


def _asked(written: DeschedulerPolicy, query: str, options: ClusterOptions, tell: Tell) -> QueryAnswer:
    """With the token of the secret that the policy names, else with that of the service account, if there is one."""
    from rescheduler.adapters.metrics.prometheus.instant import ask_now
    from rescheduler.policy.fields.metrics_access import Credential, HttpAccess

    server = next(one.prometheus for one in written.fields.metrics_providers if one.source == "Prometheus")
    if server is None:
        return QueryAnswer(problem="metricsProviders: Prometheus without url")
    reference = None if server.auth_token is None else server.auth_token.secret_reference
    token = None
    if reference is not None:
        token = Credential(secret=f"{reference.namespace}/{reference.name}/{_ENTRY}")
    elif Path(_OWN_ACCOUNT).is_file():
        token = Credential(file=_OWN_ACCOUNT)
    context = provider_context(options, tell)
    try:
        session = context.session("Prometheus", HttpAccess(bearer_token=token), server.url)
    except MetricsError as error:
        return QueryAnswer(problem=str(error))
    return ask_now(session, query)


def usage_file_of(file: str | None) -> tuple[str | None, QueryAnswer | None]:
    """``--usage`` as a recording of load, or as an answer of Prometheus. Raises SnapshotError."""
    if not file or file == "-":
        return file, None
    try:
        answer = answer_in(file)
    except SnapshotError:
        return file, None  # whoever reads it as load says what is wrong with it
    return (file, None) if answer is None else (None, answer)
