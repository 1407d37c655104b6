"""What rounds act on and through in a live cluster, under one policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from secrets import token_hex

from rescheduler.adapters.files.stop_file import stop_file
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.eviction.target import KubernetesTarget
from rescheduler.adapters.kubernetes.reading.network_policies import ReaderForSurges
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.adapters.kubernetes.rights.surge_rights import why_no_surges
from rescheduler.adapters.kubernetes.watch.freshness import Freshness
from rescheduler.adapters.kubernetes.watch.mirror import Mirror
from rescheduler.adapters.kubernetes.watch.proven_reader import ProvenReader, scopes_of
from rescheduler.adapters.kubernetes.watch.watched_reads import WatchedReads
from rescheduler.adapters.kubernetes.watch.watched_scope import WatchedScope
from rescheduler.adapters.telemetry.eviction_news import EvictionNews, ToldLedgerStore
from rescheduler.composition.live.cluster_source import ClusterOptions, with_network_policies
from rescheduler.composition.live.guarding import Guard, guarded
from rescheduler.composition.live.ledgers import Ledgers, book_rules, earlier_evictions, ledgers_of
from rescheduler.composition.load.daemon_load import DaemonLoad
from rescheduler.daemon.rounds.world import RoundContext
from rescheduler.disruption.gate.health import Signals
from rescheduler.execution.ledger.told_audit_log import ToldAuditLog
from rescheduler.execution.run.executor import plan_id_of
from rescheduler.extension_points import Clock, ClusterError, LedgerReading, LedgerStore, Progress, no_progress
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.daemon.notices import MoveChanged, Notice
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.policy import Mode, Policy, elects_leader, may_surge


@dataclass(frozen=True)
class Ground:
    """What rounds need of the daemon, whatever the policy.

    ``connection_for``: for reading only, or for writing too; ``stopped``: why nothing more may be carried out;
    ``ending``: why what is being carried out ends; ``asked``: requests that we sent within the last minute.
    """

    where: ClusterOptions
    clock: Clock
    connection_for: Callable[[bool], Connection]
    mirror: Mirror
    signals: Callable[[Cluster], Signals]
    fence: Callable[[], str | None]
    stopped: Callable[[], str | None]
    news: EvictionNews
    tell: Callable[[str], None]
    hear: Callable[[Notice], None] = lambda _: None
    progress: Progress = no_progress
    ending: Callable[[], str | None] = lambda: None
    asked: Callable[[], int] = lambda: 0

    def snapshot(self) -> Cluster:
        """The cluster as the watches have told it. Raises ClusterError."""
        return self.mirror.snapshot()


def live_world(ground: Ground, policy: Policy, load: DaemonLoad | None) -> RoundContext:
    """The live cluster under a policy. A dry run's connection refuses every write. Raises ClusterError.

    ``load``: None where nothing is measured.
    """
    connection = ground.connection_for(policy.mode is Mode.DRY_RUN)
    runs = _Runs(ground.where, policy, connection)
    ledger, audit = _ledgers(ground, policy, connection)
    complete = partial(with_network_policies, connection, policy) if may_surge(policy) else _as_it_is
    return RoundContext(
        _target(ground, policy, connection, runs, complete),
        ToldLedgerStore(ledger, ground.news),
        ground.clock,
        audit=ToldAuditLog(audit, ground.news.learn),
        stopped=lambda: ground.stopped() or stop_file(policy.stop.file),
        signals=ground.signals,
        trust=None if load is None else load.trust,
        learn=(lambda _: None) if load is None else load.own_moves.learn,
        holder=book_rules(policy).holder,
        progress=ground.progress,
        snapshot=lambda: complete(ground.snapshot()),
        fence=ground.fence,
        running=runs.running,
        ending=ground.ending,
        asked=ground.asked,
        moved=lambda run_id, change: ground.hear(MoveChanged(ground.clock.now(), run_id, change)),
        surges_under=_lease_of(policy),
        why_no_surges=lambda: why_no_surges(connection, policy.scope.namespaces.include or ()),
    )


def _target(
    ground: Ground, policy: Policy, connection: Connection, runs: _Runs, complete: Callable[[Cluster], Cluster]
) -> KubernetesTarget:
    """Reads from the watches what they prove, and lists all else; ``complete``: what a snapshot is to hold besides."""
    live, freshness = LiveReader(connection, clock=ground.clock), Freshness(connection, ground.mirror, ground.clock)
    return KubernetesTarget(
        connection,
        ReaderForSurges(ProvenReader(ground.mirror, freshness, live, runs.scopes, ground.clock), complete),
        clock=ground.clock,
        hold_namespace=policy.hold.namespace,
        scope=policy.scope.namespaces.include or (),
        guard=runs.start_guardian,
        reads=WatchedReads(connection, ground.mirror, freshness, ground.clock, runs.scopes),
    )


def _as_it_is(cluster: Cluster) -> Cluster:
    return cluster


def _lease_of(policy: Policy) -> str:
    """Whoever holds no Lease is the only one, as the policy says."""
    election = policy.leader_election
    return f"{election.namespace}/{election.name}" if elects_leader(policy) else "none"


def _ledgers(ground: Ground, policy: Policy, connection: Connection) -> Ledgers:
    """Where evictions are written down; a dry run only looks at what others have written. Raises ClusterError."""
    if policy.mode is Mode.DRY_RUN:
        return Ledgers(_SeenLedger(ground, policy), None)
    return ledgers_of(connection, policy, ground.clock, ground.tell, is_daemon=True)


@dataclass(frozen=True)
class _SeenLedger(LedgerStore):
    """The ledger as others keep it; what cannot be read is told of and counts as nothing."""

    ground: Ground
    policy: Policy

    def read(self) -> LedgerReading:
        """A live read. Raises ClusterError where there is no snapshot."""
        ground = self.ground
        return earlier_evictions(ground.where, self.policy, ground.snapshot(), ground.tell)

    def write(self, ledger: Ledger, version: str) -> str | None:  # noqa: ARG002 - nothing is ever written
        """Raises ClusterError."""
        raise ClusterError("a dry run writes nothing, the ledger included")


class _Runs:
    """Gives each run of a plan an id of its own, and a guardian from the moment it needs one."""

    def __init__(self, where: ClusterOptions, policy: Policy, connection: Connection) -> None:
        self._where = where
        self._policy = policy
        self._connection = connection
        self._guard: Guard | None = None
        self._scopes: tuple[WatchedScope, ...] = ()

    @contextmanager
    def running(self, plan: Plan) -> Iterator[str]:
        """For the time of a run."""
        run_id = plan_id_of(plan) + token_hex(2)
        with guarded(self._where, self._policy, run_id, self._connection, plan) as guard:
            self._guard, self._scopes = guard, scopes_of(plan, self._policy.hold.namespace)
            try:
                yield run_id
            finally:
                self._guard, self._scopes = None, ()

    def scopes(self) -> tuple[WatchedScope, ...]:
        """What the plan rests on that is being carried out; nothing where none is."""
        return self._scopes

    def start_guardian(self) -> str | None:
        """Start the guardian of the run that goes on; the reason why that cannot be done."""
        return "no plan is being carried out" if self._guard is None else self._guard.start()
