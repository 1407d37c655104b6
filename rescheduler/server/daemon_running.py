"""Runs a daemon with all that stands round it: log, metrics, probes, audit log, Events, traces and the REST API."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.access_reviews import AccessReviews
from rescheduler.adapters.telemetry.audit_file import AuditFile
from rescheduler.adapters.telemetry.cluster_events import ClusterEvents
from rescheduler.adapters.telemetry.log import DecisionLog
from rescheduler.adapters.telemetry.metrics import CONTENT_TYPE, Metrics
from rescheduler.adapters.telemetry.queued import QueuedListener
from rescheduler.adapters.telemetry.sources import Sources
from rescheduler.adapters.telemetry.traces import make_traces
from rescheduler.daemon.assembly import Daemon, DaemonOptions
from rescheduler.daemon.explaining import Basis, Explaining
from rescheduler.extension_points import Clock, LedgerReading
from rescheduler.extension_points import Listener as Hearer
from rescheduler.model.ledger import EMPTY_LEDGER
from rescheduler.model.notices import Fault
from rescheduler.policy.models import Mode
from rescheduler.server.daemon_serving import daemon_listener
from rescheduler.server.listening import Listener
from rescheduler.server.probes import DOOR, Heartbeat, Readiness, create_probes
from rescheduler.wiring.cluster_source import connected


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
        readiness = _readiness(daemon)
        probes = create_probes(heartbeat, readiness, metrics.text, CONTENT_TYPE)
        listeners = [Listener(probes, daemon.policy.telemetry.address, DOOR), *_api(daemon, clock)]
        for listener in listeners:
            stack.callback(listener.stop)
            listener.start()
            log.write("info", "listening", url=listener.url)
        daemon.run()
    return 0


def _slow_listeners(daemon: Daemon, clock: Clock, log: DecisionLog, stack: ExitStack) -> list[Hearer]:
    """Listeners that wait for a disk, for the API server, or for whoever collects traces."""
    audit = AuditFile(
        lambda: None if daemon.policy.audit.file is None else Path(daemon.policy.audit.file),
        clock,
        daemon.hear,
        hide=log.hide,
    )
    audit.check()
    stack.callback(audit.close)
    access = daemon.access
    events = ClusterEvents(access.connection(is_dry=False), clock, lambda: daemon.policy, access.known, hide=log.hide)
    traces = make_traces(hide=log.hide)
    named: list[tuple[str, Hearer]] = [("audit log", audit), ("events", events)]
    if traces is not None:
        stack.callback(traces.close)
        named.append(("traces", traces))
    queued = [QueuedListener(listener, name, clock, daemon.hear) for name, listener in named]
    for one in queued:
        one.start()
        stack.callback(one.stop)
    return list(queued)


def _api(daemon: Daemon, clock: Clock) -> list[Listener]:
    """The REST API, where the policy has one."""
    api = daemon.policy.api
    if api is None:
        return []

    def basis() -> Basis:
        loop = daemon.loop
        if loop is None:
            return Basis(daemon.policy)
        reading = LedgerReading(daemon.ledger or EMPTY_LEDGER, "")
        return Basis(loop.engine.policy, schedulers=loop.engine.schedulers, earlier=reading)

    # A connection of its own: whoever asks must be answered also where we do not lead, or queue up to evict.
    reviews = AccessReviews(connected(daemon.options.where, read_only=False), api.audience, clock)
    explains = Explaining(daemon.controls.state, basis)
    tell = lambda text: daemon.hear(Fault(clock.now(), "api", text))  # noqa: E731
    return [daemon_listener(api, daemon.controls.people, explains, reviews, clock, tell)]


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
    )
