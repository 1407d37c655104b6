"""Whether this instance may act: the leader election that the policy in force wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.composition.live.leases import lease_store, own_identity
from rescheduler.daemon.leadership.leadership import Leadership, NoElection
from rescheduler.extension_points import Clock
from rescheduler.model.daemon.notices import LeadershipChanged, Notice
from rescheduler.policy.fields.policy import Policy, elects_leader

# The leader election on a live cluster that a policy wants.

AnyLeadership: TypeAlias = Leadership | NoElection


def leadership_of(
    options: ClusterOptions, policy: Policy, clock: Clock, hear: Callable[[Notice], None] = lambda _: None
) -> AnyLeadership:
    """What tells whether we may act; not started yet. Raises ClusterError for a cluster that cannot be named."""
    if not elects_leader(policy):
        return NoElection()
    rules = policy.leader_election
    return Leadership(lease_store(options, rules), rules, clock, own_identity(), hear)


class Leading:
    """Goes over to another election when a policy asks for one; at no time does it lead by two of them."""

    def __init__(self, where: ClusterOptions, policy: Policy, clock: Clock, hear: Callable[[Notice], None]) -> None:
        """Nothing is sent yet. Raises ClusterError for a cluster that cannot be named."""
        self._where = where
        self._clock = clock
        self._hear = hear
        self._policy = policy
        self._leadership = leadership_of(where, policy, clock, hear)

    def start(self) -> None:
        """Take part from now on."""
        self._leadership.start()
        if isinstance(self._leadership, NoElection):
            self._hear(LeadershipChanged(self._clock.now(), True, "", "there is no election"))

    def under(self, policy: Policy) -> None:
        """Take part as another policy says. Raises ClusterError."""
        before, self._policy = self._policy, policy
        is_same = elects_leader(before) == elects_leader(policy) and before.leader_election == policy.leader_election
        if is_same:
            return
        self._leadership.stop()
        self._leadership = leadership_of(self._where, policy, self._clock, self._hear)
        self.start()

    @property
    def is_leader(self) -> bool:
        """Whether rounds are ours to run, at this moment."""
        return self._leadership.is_leader

    @property
    def is_elected(self) -> bool:
        """Whether there is an election at all."""
        return not isinstance(self._leadership, NoElection)

    def fence(self) -> str | None:
        """Why nothing may be written at this moment."""
        return self._leadership.fence()

    def stop(self) -> None:
        """Lead no more, and give the lease up; nothing may be written after it."""
        self._leadership.stop()
