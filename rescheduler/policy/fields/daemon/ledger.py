"""The ledger: where evictions are written down, and for how long."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import StringConstraints

from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import PositiveDurationSeconds

ObjectName: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", max_length=253)
]
"""The name of one object, as Kubernetes takes it."""


class LedgerPolicy(PolicyModel):
    """The record of every eviction, by which several runs together keep the budgets."""

    name: Annotated[ObjectName, StringConstraints(max_length=250)] = "rescheduler-ledger"
    """ConfigMap in ``hold.namespace``; all who move pods in one cluster must name the same one. Closed entries move to
    others: this name, a hyphen and two hexadecimal digits."""
    keep: PositiveDurationSeconds = 86400.0
    """How long an eviction is kept after it is over; never less than it counts in a rate, a back-off or the breaker."""
