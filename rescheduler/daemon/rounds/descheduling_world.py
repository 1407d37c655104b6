"""What a daemon's cycles of a DeschedulerPolicy read, and through what its victims go."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from rescheduler.adapters.kubernetes.eviction.target import KubernetesTarget
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.adapters.metrics.metrics_server import use_of_nodes
from rescheduler.composition.load.measured_use import reading_measured_use
from rescheduler.composition.load.smoothed_use import SmoothedUse, is_smoothed
from rescheduler.daemon.rounds.live_world import Ground
from rescheduler.daemon.rounds.world import RoundContext
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy
from rescheduler.model.objects.cluster import Cluster
from rescheduler.policy.fields.policy import Mode, Policy


def smoothed_use(ground: Ground, written: DeschedulerPolicy, before: SmoothedUse | None) -> SmoothedUse | None:
    """What samples nodes' use between cycles; None where no plugin goes by it. It is not started yet."""
    if not is_smoothed(written):
        return None
    connection = ground.connection_for(True)
    return SmoothedUse(partial(use_of_nodes, connection), ground.clock, before=before)


def world_of_victims(
    world: RoundContext, ground: Ground, policy: Policy, written: DeschedulerPolicy, smoothed: SmoothedUse | None
) -> RoundContext:
    """The world with the file's grace period; each cycle is walked on a reading of its own.

    That holds what watches do not: states of pods, and measured use where a plugin goes by it.
    """
    connection = ground.connection_for(policy.mode is Mode.DRY_RUN)
    target = KubernetesTarget(
        connection,
        LiveReader(connection, clock=ground.clock),
        clock=ground.clock,
        hold_namespace=policy.hold.namespace,
        scope=policy.scope.namespaces.include or (),
        grace_seconds=written.fields.grace_period_seconds,
    )
    reader = LiveReader(connection, clock=ground.clock, with_details=True)
    measured = reading_measured_use(reader.read, written, ground.where, ground.tell)

    def snapshot() -> Cluster:
        found = measured()
        return found if smoothed is None else smoothed.over(found)

    return replace(world, target=target, snapshot=snapshot)
