"""Runs a daemon with all that stands round it: log, metrics, probes, audit log, Events, traces and the REST API."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.rights.access_reviews import AccessReviews
from rescheduler.adapters.telemetry.audit import AuditFile
from rescheduler.adapters.telemetry.cluster_events import ClusterEvents
from rescheduler.adapters.telemetry.listeners import QueuedListener
from rescheduler.adapters.telemetry.log import DecisionLog
from rescheduler.adapters.telemetry.metrics.metrics import CONTENT_TYPE, Metrics
from rescheduler.adapters.telemetry.metrics.sources import Sources
from rescheduler.adapters.telemetry.past_rounds import WHERE as ROUNDS
from rescheduler.adapters.telemetry.past_rounds import RoundsFile, read_past_rounds
from rescheduler.adapters.telemetry.traces import make_traces
from rescheduler.composition.live.cluster_source import connected
from rescheduler.daemon.api.daemon_app import create_daemon_app
from rescheduler.daemon.api.probes import DOOR, Heartbeat, Readiness, create_probes
from rescheduler.daemon.assembly import Daemon, DaemonOptions
from rescheduler.daemon.page.outlook import PageBasis
from rescheduler.daemon.serving.call_names import CallNames
from rescheduler.daemon.serving.listening import ApplicationServer, Door, resolve
from rescheduler.daemon.serving.protection import is_loopback
from rescheduler.daemon.steering.explaining import Basis, Explaining, Explains
from rescheduler.daemon.steering.people import People
from rescheduler.extension_points import AccessReviewer, Clock, LedgerReading, Listener
from rescheduler.model.daemon.ledger import EMPTY_LEDGER
from rescheduler.model.daemon.notices import Fault
from rescheduler.policy.fields.daemon.api import ApiPolicy
from rescheduler.policy.fields.policy import Mode, Policy
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem

# The daemon's REST API on its address, as the policy wants it.

LARGEST_HEAD: Final = 131072
"""A token that is much too long is answered as any wrong one."""


def daemon_listener(
    api: ApiPolicy,
    people: People,
    explains: Explains,
    reviewer: AccessReviewer,
    clock: Clock,
    tell: Callable[[str], None] = lambda _: None,
    basis: Callable[[], PageBasis] = lambda: PageBasis(Policy()),
) -> ApplicationServer:
    """A server that is bound and not yet started. ``tell`` hears of faults. Raises ListenError and PolicyError.

    ``basis``: what the page tells beside the state.
    """
    host = api.address.rpartition(":")[0].strip("[]").lower()
    names = CallNames(
        frozenset(name.lower().removesuffix(".") for name in (*api.hosts, host) if name),
        is_loopback(resolve(api.address).host),
    )
    app = create_daemon_app(people, explains, reviewer, clock, names=names, tell=tell, basis=basis)
    return ApplicationServer(app, api.address, _door(api))


def _door(api: ApiPolicy) -> Door:
    def require(address: str, host: str) -> None:
        if api.tls is None and not is_loopback(host):
            text = f"{address} can be reached from elsewhere, and tokens would travel in clear text; write tls"
            raise PolicyError([ReadingProblem("", 0, 0, "api.address", text)])

    return Door("daemon-api", "api", api.tls, require, LARGEST_HEAD)


def run_daemon(options: DaemonOptions, log: DecisionLog) -> int:
    """Run until asked to stop; 0. Raises PolicyError, ListenError and other ReschedulerErrors."""
    clock = SystemClock()
    heartbeat = Heartbeat(clock)
    daemon = Daemon(options, clock, beat=heartbeat.beat, progress=heartbeat.progress)
    log.is_dry_run = daemon.policy.mode is Mode.DRY_RUN
    log.hide.add(daemon.access.without_credentials)
    metrics = Metrics(clock, _sources(daemon, heartbeat), hide=log.hide)
    with ExitStack() as stack:
        daemon.listen([log, metrics, *_slow_listeners(daemon, clock, log, stack)])
        _remember(daemon, clock)
        readiness = _readiness(daemon)
        probes = create_probes(heartbeat, readiness, metrics.text, CONTENT_TYPE)
        listeners = [ApplicationServer(probes, daemon.policy.telemetry.address, DOOR), *_api(daemon, clock, heartbeat)]
        for listener in listeners:
            stack.callback(listener.stop)
            listener.start()
            log.write("info", "listening", url=listener.url)
        daemon.run()
    return 0


def _remember(daemon: Daemon, clock: Clock) -> None:
    """The rounds of processes before, for the page."""
    audit = _audit_file(daemon)
    if daemon.policy.api is None or audit is None:
        return
    past = read_past_rounds(audit)
    daemon.controls.remember(past.rounds)
    if past.problem:
        daemon.hear(Fault(clock.now(), ROUNDS, past.problem))


def _audit_file(daemon: Daemon) -> Path | None:
    """As the policy in force names it."""
    file = daemon.policy.audit.file
    return None if file is None else Path(file)


def _slow_listeners(daemon: Daemon, clock: Clock, log: DecisionLog, stack: ExitStack) -> list[Listener]:
    """Listeners that wait for a disk, for the API server, or for whoever collects traces."""
    audit_file = lambda: _audit_file(daemon)  # noqa: E731
    audit = AuditFile(audit_file, clock, daemon.hear, hide=log.hide)
    audit.check()
    stack.callback(audit.close)
    access = daemon.access
    events = ClusterEvents(access.connection(is_dry=False), clock, lambda: daemon.policy, access.known, hide=log.hide)
    traces = make_traces(hide=log.hide)
    named: list[tuple[str, Listener]] = [("audit log", audit), ("events", events)]
    if daemon.policy.api is not None:
        named.append((ROUNDS, RoundsFile(audit_file, clock, daemon.hear, log.hide)))
    if traces is not None:
        stack.callback(traces.close)
        named.append(("traces", traces))
    queued = [QueuedListener(listener, name, clock, daemon.hear) for name, listener in named]
    for one in queued:
        one.start()
        stack.callback(one.stop)
    return list(queued)


def _api(daemon: Daemon, clock: Clock, heartbeat: Heartbeat) -> list[ApplicationServer]:
    """The REST API, where the policy has one."""
    api = daemon.policy.api
    if api is None:
        return []

    def basis() -> Basis:
        loop = daemon.loop
        if loop is None:
            return Basis(daemon.policy, daemon.selection)
        reading = LedgerReading(daemon.ledger or EMPTY_LEDGER, "")
        return Basis(loop.runtime.policy, daemon.selection, schedulers=loop.runtime.schedulers, earlier=reading)

    # A connection of its own: whoever asks must be answered also where we do not lead, or queue up to evict.
    reviews = AccessReviews(connected(daemon.options.where, read_only=False), api.audience, clock)
    explains = Explaining(daemon.controls.state, basis)
    tell = lambda text: daemon.hear(Fault(clock.now(), "api", text))  # noqa: E731
    return [
        daemon_listener(
            api, daemon.controls.people, explains, reviews, clock, tell, lambda: _page_basis(daemon, heartbeat)
        )
    ]


def _page_basis(daemon: Daemon, heartbeat: Heartbeat) -> PageBasis:
    """What the page tells beside the state; before the loop has begun only what is written in the policy."""
    loop, silent = daemon.loop, heartbeat.age_seconds
    if loop is None:
        return PageBasis(daemon.policy, daemon.selection, silent=silent)
    runtime = loop.runtime
    return PageBasis(
        runtime.policy,
        daemon.selection,
        runtime.rounds.ledger,
        daemon.load_trust(),
        daemon.usage_age(),
        runtime.rounds.freeze,
        silent,
    )


def _readiness(daemon: Daemon) -> Readiness:
    usage = daemon.policy.usage
    if not usage.providers:
        return Readiness(lambda: daemon.access.mirror.has_synced)
    return Readiness(lambda: daemon.access.mirror.has_synced, daemon.usage_age, usage.trust.maximum_age)


def _sources(daemon: Daemon, heartbeat: Heartbeat) -> Sources:
    return Sources(
        ledger=lambda: daemon.ledger,
        snapshot=lambda: daemon.controls.state().cluster,
        watch_age=daemon.access.mirror.age_seconds,
        usage_age=daemon.usage_age,
        heartbeat_age=lambda: heartbeat.age_seconds,
        requests=daemon.access.record.counts,
        leads=lambda: daemon.leading.is_leader,
        out_of_sync=lambda: tuple(daemon.access.mirror.kinds_out_of_sync()),
        frozen=lambda: None if daemon.loop is None else daemon.loop.runtime.rounds.freeze is not None,
        triggers=lambda: tuple(dict.fromkeys(entry.name for entry in daemon.policy.triggers)),
    )
