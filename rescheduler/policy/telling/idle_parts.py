"""Parts of a policy that do nothing as it stands, so that their defaults bind nobody."""

from __future__ import annotations

from collections.abc import Iterator

from rescheduler.policy.fields.daemon.autoscaler import FirstTry, ScaleDown
from rescheduler.policy.fields.policy import Guidance, Mode, Policy, elects_leader, may_migrate, may_surge
from rescheduler.policy.reading.document import Path


def idle_parts(policy: Policy) -> Iterator[Path]:
    """Where each begins. What a file writes there is told all the same: whoever wrote it meant something by it."""
    idle: tuple[tuple[Path, bool], ...] = (
        (("usage",), not policy.usage.providers),
        (("disruption", "surge"), not may_surge(policy)),
        (("disruption", "migration"), not may_migrate(policy)),
        (("hold", "deadline"), policy.guidance is Guidance.PREDICT),
        (("leaderElection",), not elects_leader(policy)),
        (("approval",), policy.mode is not Mode.APPROVE),
        (("autoscaler", "firstTryEvictions"), policy.autoscaler.first_try is FirstTry.OFF),
        (("autoscaler", "offer"), policy.autoscaler.scale_down is ScaleDown.LEAVE),
    )
    yield from (path for path, is_idle in idle if is_idle)
