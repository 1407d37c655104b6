"""The leader election on a live cluster that a policy wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from rescheduler.daemon.leadership import Leadership, NoElection
from rescheduler.extension_points import Clock
from rescheduler.model.notices import Notice
from rescheduler.policy.electing import elects_leader
from rescheduler.policy.models import Policy
from rescheduler.wiring.cluster_source import ClusterOptions
from rescheduler.wiring.leases import lease_store, own_identity

AnyLeadership: TypeAlias = Leadership | NoElection


def leadership_of(
    options: ClusterOptions, policy: Policy, clock: Clock, hear: Callable[[Notice], None] = lambda _: None
) -> AnyLeadership:
    """What tells whether we may act; not started yet. Raises ClusterError for a cluster that cannot be named."""
    if not elects_leader(policy):
        return NoElection()
    rules = policy.leader_election
    return Leadership(lease_store(options, rules), rules, clock, own_identity(), hear)
