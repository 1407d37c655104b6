"""The lease of a live cluster by which daemons agree on a leader, and what each of them is called in it."""

from __future__ import annotations

import os
import platform
from secrets import token_hex

from rescheduler.composition.live.cluster_source import ClusterOptions, connected
from rescheduler.extension_points import LeaseStore
from rescheduler.policy.fields.daemon.leader_election import LeaderElectionPolicy


def lease_store(options: ClusterOptions, rules: LeaderElectionPolicy) -> LeaseStore:
    """The lease that a policy names. Raises ClusterError for a cluster that cannot be named.

    It has a connection of its own, so that it is renewed whatever else is waited for, and without the fence that it is
    itself.
    """
    from rescheduler.adapters.kubernetes.leases import KubernetesLease

    seconds = request_seconds(rules)
    return KubernetesLease(connected(options, read_only=False), rules.namespace, rules.name, timeout_seconds=seconds)


def request_seconds(rules: LeaderElectionPolicy) -> float:
    """How long one request for the lease may take: a leader has time for several before it has to stop."""
    return max(rules.renew_deadline / 4, 0.5)


def own_identity() -> str:
    """Who we are, for people; and another one in each process, so that nobody takes an earlier one's lease for his."""
    return f"{platform.node() or 'unnamed'}_{os.getpid()}_{token_hex(8)}"
