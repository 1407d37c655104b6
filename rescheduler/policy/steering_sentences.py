"""Who steers ``run`` under a policy, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from rescheduler.policy.models import Mode, Policy
from rescheduler.policy.values import format_duration


def steering_sentences(policy: Policy) -> Iterator[str]:
    """Approval, where plans wait for it, and the REST API, where there is one."""
    if policy.mode is Mode.APPROVE:
        yield f"run carries a plan out once a person has approved it, within {format_duration(policy.approval.expires)}"
    if policy.api is not None:
        over = "HTTP" if policy.api.tls is None else "HTTPS"
        yield f"run answers over {over} on {policy.api.address} whoever shows a token for {policy.api.audience}"
