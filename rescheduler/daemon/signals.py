"""What a daemon observes beside snapshots, for the judgement of the cluster's health."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rescheduler.daemon.scheduler_watch import SchedulerWatch
from rescheduler.disruption.health import Signals
from rescheduler.model.cluster import Cluster


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
