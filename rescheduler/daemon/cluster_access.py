"""The daemon's ways to its cluster: what is watched, what is observed beside, and the connections that may write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Final, Protocol

from rescheduler.adapters.kubernetes.autoscalers.autoscaler_notices import AutoscalerNotices
from rescheduler.adapters.kubernetes.autoscalers.capacity_target import KubernetesCapacity
from rescheduler.adapters.kubernetes.client.connection import Connection, connect
from rescheduler.adapters.kubernetes.client.request_record import RequestRecord
from rescheduler.adapters.kubernetes.client.traffic import RequestLimits, Traffic
from rescheduler.adapters.kubernetes.reading.single_entries import read_config_maps
from rescheduler.adapters.kubernetes.watch.mirror import Mirror
from rescheduler.composition.diagnosis.server_findings import version_findings
from rescheduler.composition.live.cluster_source import ClusterOptions, connected
from rescheduler.composition.live.ledgers import config_map_ledger
from rescheduler.composition.live.standing_rights import checked_daemon_rights
from rescheduler.daemon.rounds.scheduler_watch import SchedulerWatch
from rescheduler.disruption.gate.health import Signals
from rescheduler.extension_points import Clock, ClusterError
from rescheduler.model.daemon.notices import Notice
from rescheduler.model.objects.cluster import Cluster
from rescheduler.policy.fields.policy import Mode, Policy

# What a daemon observes beside snapshots, for the judgement of the cluster's health.


class Requests(Protocol):
    """What became of the last minute's requests to the API server; each None where too little is known."""

    def error_share(self) -> float | None:
        """Share of them that failed."""

    def slowest_percent_seconds(self) -> float | None:
        """What one in a hundred took longer than."""

    def clock_offset_seconds(self) -> float | None:
        """How far the server's clock is ahead of ours."""


def signals_of(
    requests: Requests,
    mirror_age: Callable[[], float | None],
    schedulers: SchedulerWatch,
    cluster: Cluster,
) -> Signals:
    """Everything that is observed now. ``mirror_age``: seconds since the API server told anything; None: not watched.

    ``cluster``: the newest snapshot.
    """
    return Signals(
        api_error_share=requests.error_share(),
        api_slowest_percent_seconds=requests.slowest_percent_seconds(),
        watch_age_seconds=mirror_age(),
        clock_offset_seconds=requests.clock_offset_seconds(),
        scheduler_silent_seconds=schedulers.silent_seconds(cluster),
    )


STOP_SECONDS: Final = 2.0
"""How long the end waits for watches that nobody needs any more."""


class ClusterAccess:
    """Nothing is sent before ``start``. ``fence`` is asked right before each write and says why it may not be sent."""

    def __init__(
        self,
        where: ClusterOptions,
        clock: Clock,
        hear: Callable[[Notice], None],
        *,
        stirred: Callable[[], None],
        fence: Callable[[], str | None],
    ) -> None:
        """``stirred`` is called for each change that a round may be wanted for, whatever an autoscaler says among them.

        Raises ClusterError for no usable kubeconfig."""
        self.where = where
        self.record = RequestRecord(clock)
        self._clock = clock
        self._fence = fence
        self._traffic = Traffic(self.record, RequestLimits(clock), clock)
        self._reading = self.connection(is_dry=True)
        self.mirror = Mirror(self._reading, clock, hear=hear, stirred=stirred)
        self.autoscaler = AutoscalerNotices(self._reading, clock, hear=hear, changed=stirred)
        self._schedulers = SchedulerWatch(())

    def start(self, stack: ExitStack) -> None:
        """Begin to watch, until the stack is closed."""
        self.mirror.start()
        stack.callback(self.mirror.stop)
        self.autoscaler.start()
        stack.callback(self.autoscaler.stop, STOP_SECONDS)

    def connection(self, *, is_dry: bool) -> Connection:
        """A dry one refuses every write, the other one where the fence says so."""
        where = self.where
        return connect(where.kubeconfig, where.context, read_only=is_dry, traffic=self._traffic, may_write=self._fence)

    def without_credentials(self, text: str) -> str:
        """The text without the token that we send."""
        return self._reading.without_credentials(text)

    def snapshot(self) -> Cluster:
        """The cluster as last heard. Raises ClusterError where it is not known well enough."""
        return self.mirror.snapshot()

    def known(self) -> Cluster | None:
        """The same, None where it is not known well enough."""
        try:
            return self.snapshot()
        except ClusterError:
            return None

    def config_maps(self, names: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """The data of ConfigMaps by NAMESPACE/NAME. Raises ClusterError."""
        return read_config_maps(self._reading, tuple(names))

    def rights_warnings(self, policy: Policy) -> tuple[str, ...]:
        """Rights that are missing, or beyond need. Raises ClusterError where the mode's own are missing.

        A dry run needs none that reading does not show, and asks for nothing that would be logged as a write.
        """
        if policy.mode is Mode.DRY_RUN:
            return ()
        return checked_daemon_rights(connected(self.where, read_only=False), policy)

    def server_lacks(self, policy: Policy) -> tuple[str, ...]:
        """What the API server does not have that the policy counts on, in sentences; none where it does not answer."""
        try:
            found = version_findings(self._reading, policy)
            return tuple(f"{one.object}: {one.message}; {one.fix}" for one in found)
        except ClusterError:
            return ()

    def approval_mark(self, policy: Policy) -> str:
        """The plan that somebody has approved by an annotation of the ledger, "" for none. Raises ClusterError."""
        return config_map_ledger(self._reading, policy).approved()

    def capacity(self, policy: Policy) -> KubernetesCapacity | None:
        """What asks an autoscaler for room; None where nothing may be written."""
        if policy.mode is not Mode.EXECUTE:
            return None
        return KubernetesCapacity(self.connection(is_dry=False), policy.hold.namespace, self._clock)

    def signals(self, cluster: Cluster) -> Signals:
        """What is observed beside a snapshot."""
        return signals_of(self.record, self.mirror.age_seconds, self._schedulers, cluster)

    def watch_schedulers(self, watch: SchedulerWatch) -> None:
        """From now on these schedulers are listened for."""
        self._schedulers = watch
