"""``leaderElection`` of a policy: how several instances of ``run`` agree on the one that may act."""

from __future__ import annotations

from typing import Final

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from rescheduler.policy.fields.daemon.ledger import ObjectName
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import NamespaceName, PositiveDurationSeconds, format_duration

SHORTEST_LEASE_SECONDS: Final = 2.0
"""A lease of one second is the sign of one that was given up."""
LONGEST_LEASE_SECONDS: Final = 3600.0
JITTER: Final = 1.2
"""A renewal may be so much later than ``retryPeriod`` says, and must still come in time."""


class LeaderElectionPolicy(PolicyModel):
    """A Lease by which several instances of ``run`` agree on the one that may act; docs/leader-election.md."""

    enabled: bool | None = None
    """Left out: wherever ``run`` may write, that is, unless ``mode`` is DryRun or ``guidance`` is Predict."""
    lease_duration: PositiveDurationSeconds = 15.0
    """How long the others wait, after the last renewal that they have seen, before one of them takes over."""
    renew_deadline: PositiveDurationSeconds = 10.0
    """How long the leader goes on after it began its last successful renewal; shorter than ``leaseDuration``."""
    retry_period: PositiveDurationSeconds = 2.0
    """How often the leader renews the lease, and how often at least the others look at it."""
    name: ObjectName = "rescheduler"
    """The Lease; all instances that are to take turns must name the same one."""
    namespace: NamespaceName = "rescheduler-system"
    """Namespace of the Lease."""

    @model_validator(mode="after")
    def _in_order(self) -> LeaderElectionPolicy:
        lease, renew, retry = self.lease_duration, self.renew_deadline, self.retry_period
        found = {
            "lease": format_duration(lease), "renew": format_duration(renew), "retry": format_duration(retry),
            "most": format_duration(LONGEST_LEASE_SECONDS),
        }  # fmt: skip
        if not SHORTEST_LEASE_SECONDS <= lease <= LONGEST_LEASE_SECONDS:
            raise PydanticCustomError("lease", "leaseDuration {lease} is out of range; write 2s to {most}", found)
        if renew >= lease:
            text = "renewDeadline {renew} must be shorter than leaseDuration {lease}: two would lead at once"
            raise PydanticCustomError("lease", text, found)
        if retry * JITTER >= renew:
            text = "retryPeriod {retry}, a fifth longer, must be shorter than renewDeadline {renew}: one failed renewal"
            raise PydanticCustomError("lease", text + " would be the last", found)
        return self
