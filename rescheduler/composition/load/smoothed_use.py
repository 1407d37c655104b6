"""Samples of nodes' use that a daemon takes between the cycles of a DeschedulerPolicy, smoothed as descheduler does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from msgspec.structs import replace as with_changes

from rescheduler.adapters.background import BackgroundThread
from rescheduler.composition.load.measured_use import wanted_sources
from rescheduler.descheduler.plugins.usage_sources import KUBERNETES_METRICS
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy
from rescheduler.descheduler.smoothing import EVERY_SECONDS, NodeUse, smoothed
from rescheduler.extension_points import Clock, ReschedulerError
from rescheduler.model.objects.cluster import Cluster

END_SECONDS: Final = 2.0


class SmoothedUse:
    """Samples every five seconds from ``start`` to ``stop``; what is kept lasts from cycle to cycle.

    ``sample``: what the metrics API says of nodes now; raises ReschedulerError. ``before``: of the policy that was in
    force until now, whose samples still count.
    """

    def __init__(
        self,
        sample: Callable[[], NodeUse],
        clock: Clock,
        *,
        before: SmoothedUse | None = None,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        """``wait``: so many seconds, and whether it is over; None: until ``stop``."""
        self._sample = sample
        self._clock = clock
        self._kept: NodeUse = {} if before is None else before._kept
        self._thread = BackgroundThread(self._run, "smoothed-use")
        self._wait = wait or self._thread.stopping.wait

    def start(self) -> None:
        """Sample from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Sample no more; a request that is under way is not waited for long."""
        self._thread.stop()
        self._thread.join(END_SECONDS)

    def take_sample(self) -> None:
        """Let one more sample count. One that cannot be had changes nothing: the cycle says that the API fails."""
        try:
            self._kept = smoothed(self._kept, self._sample())
        except ReschedulerError:
            return

    def over(self, cluster: Cluster) -> Cluster:
        """A reading with the use that is kept in place of that of its moment; a node without any has its own.

        Where the metrics API told the reading nothing, nothing is put there: no pod's use is known.
        """
        measured = cluster.measured
        if measured.problem:
            return cluster
        return replace(cluster, measured=with_changes(measured, nodes={**measured.nodes, **self._kept}))

    def _run(self) -> None:
        while True:
            began_at = self._clock.monotonic()
            self.take_sample()
            if self._wait(max(0.0, EVERY_SECONDS - (self._clock.monotonic() - began_at))):
                return


def is_smoothed(written: DeschedulerPolicy) -> bool:
    """Whether a plugin goes by use that descheduler smooths."""
    return KUBERNETES_METRICS in wanted_sources(written)
