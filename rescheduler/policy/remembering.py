"""How long a policy needs to know of earlier evictions, and whether it rests on knowing them."""

from __future__ import annotations

from rescheduler.policy.models import Policy
from rescheduler.policy.safety import remembered_seconds


def counted_seconds(policy: Policy) -> float:
    """The longest window in which an eviction counts: of a rate, a back-off, the breaker or the ramp-up."""
    disruption = policy.disruption
    rates = [budget.rate.window for budget in disruption.budgets if budget.rate is not None]
    return max([remembered_seconds(disruption.back_off, disruption.breaker, disruption.ramp_up), *rates])


def keep_seconds(policy: Policy) -> float:
    """How long a ledger keeps an eviction that is over."""
    return max(policy.ledger.keep, counted_seconds(policy))


def needs_ledger(policy: Policy) -> bool:
    """Whether budgets can only be kept by all who evict together: those that count evictions, or open ones."""
    return any(budget.rate is not None or budget.max_moving is not None for budget in policy.disruption.budgets)
