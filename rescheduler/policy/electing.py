"""Whether a daemon under a policy takes part in leader election."""

from __future__ import annotations

from rescheduler.policy.models import Guidance, Mode, Policy


def elects_leader(policy: Policy) -> bool:
    """As the policy says; where it does not, a lease is written only where other things may be written too."""
    if policy.mode is Mode.DRY_RUN:
        return False  # writes nothing, so that any number of them may run
    if policy.leader_election.enabled is not None:
        return policy.leader_election.enabled
    return policy.guidance is not Guidance.PREDICT
