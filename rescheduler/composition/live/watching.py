"""Opens watches for the time in which one plan is carried out, so that nothing is listed meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import ForbiddenError, InvalidRequestError, NotServedError
from rescheduler.adapters.kubernetes.eviction.vicinity import ServerReads
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.adapters.kubernetes.watch.freshness import FRESH_SECONDS, Freshness, shown_by
from rescheduler.adapters.kubernetes.watch.mirror import Mirror
from rescheduler.adapters.kubernetes.watch.proven_reader import ProvenReader, scopes_of
from rescheduler.adapters.kubernetes.watch.watched_reads import WatchedReads
from rescheduler.adapters.kubernetes.watch.watched_scope import WatchedScope
from rescheduler.extension_points import Clock, ClusterError, ClusterReader
from rescheduler.model.plan.plan import Plan

PROBES: Final = 2
"""The first may take long for reasons of its own: a connection is opened, credentials are fetched."""
SYNC_SECONDS: Final = 120.0
"""So long the first reading may take: about twice what 150,000 pods take."""
LOOK_SECONDS: Final = 0.2
STOP_SECONDS: Final = 2.0
"""How long the end waits for watches that nobody needs any more; a program that ends does not wait for them either."""


class PlanSight(NamedTuple):
    """What sees the cluster while a plan runs: whole, and narrowly; ``reads``: None, the server is asked each time."""

    reader: ClusterReader
    reads: ServerReads | None = None


@contextmanager
def sight_of(
    plan: Plan,
    connection: Connection,
    own_namespace: str,
    clock: Clock,
    tell: Callable[[str], None],
) -> Iterator[PlanSight]:
    """Watches of ``connection``, which may be one that only reads, until the end, however that comes.

    Where there can be none, which ``tell`` is told once, the cluster is listed. Nothing is opened for a plan
    without moves and placements.
    """
    live = LiveReader(connection)
    if not plan.moves and not plan.placements:
        yield PlanSight(live)
        return
    mirror = Mirror(connection, clock)
    try:
        objection = _why_no_watches(connection, clock) or _unsynced(mirror, clock)
        if objection is not None:
            mirror.stop(STOP_SECONDS)
            tell(f"{objection}; instead the cluster is listed again and again while the plan is carried out")
            yield PlanSight(live)
            return
        scopes, freshness = scopes_of(plan, own_namespace), Freshness(connection, mirror, clock)
        yield PlanSight(
            ProvenReader(mirror, freshness, live, lambda: scopes, clock),
            WatchedReads(connection, mirror, freshness, clock, lambda: scopes),
        )
    finally:
        mirror.stop(STOP_SECONDS)


def _why_no_watches(connection: Connection, clock: Clock) -> str | None:
    """Ask for the least that shows it: one pod, which need not exist, streamed from all of the cluster.

    What stands between may hold a stream back until it is over: then no proof comes in time, and no watch tells.
    """
    took = 0.0
    for _ in range(PROBES):
        began = clock.monotonic()
        try:
            shown_by(connection, WatchedScope("Pod", name="rescheduler"))
        except ForbiddenError as error:
            return f"watches are denied: {error}"
        except InvalidRequestError as error:
            return f"this API server does not stream lists (Kubernetes 1.32 and newer do): {error}"
        except ClusterError as error:
            return f"watches do not work here: {error}"
        took = clock.monotonic() - began
        if took <= FRESH_SECONDS:
            return None
    return (
        f"a stream of nothing took {took:.1f} s, and {FRESH_SECONDS:g} s is the most: a proxy may hold streams back, "
        "or the API server has much to do"
    )


def _unsynced(mirror: Mirror, clock: Clock) -> str | None:
    """Begin, and wait until everything has been read; in words why that does not come about."""
    mirror.start()
    ends_at = clock.monotonic() + SYNC_SECONDS
    while not mirror.wait_synced(LOOK_SECONDS):
        problems = {kind: found.problem for kind, found in mirror.reflectors.items()}
        for kind, why in mirror.kinds_out_of_sync().items():
            if isinstance(problems.get(kind), ForbiddenError | NotServedError):
                return f"watches are denied: {why}"
        if clock.monotonic() > ends_at:
            return f"watches did not show everything within {SYNC_SECONDS:.0f} s"
    return None
