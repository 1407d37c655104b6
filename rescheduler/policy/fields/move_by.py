"""How pods are moved, by rule: by eviction, by surge, or by the migration of who owns them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.budgets import PodSelector
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import DurationSeconds, NamespaceName, PositiveDurationSeconds


class Otherwise(StrEnum):
    """What becomes of a pod that cannot be moved by the method that its rule names."""

    REFUSE = "Refuse"
    EVICT = "Evict"


class MoveRule(PolicyModel):
    """How the pods are moved that it names. Without namespaces and selector it names all."""

    namespaces: Annotated[tuple[NamespaceName, ...], Field(min_length=1)] | None = None
    """Only pods of these namespaces; left out: of all."""
    label_selector: PodSelector | None = None
    """Only pods with these labels; left out: all."""
    method: MoveMethod
    """Evict; Surge: the replacement is Ready before the pod goes; Migrate: only pods that whoever owns them moves
    himself when he is asked (annotation ``descheduler.alpha.kubernetes.io/request-evict-only``)."""
    otherwise: Otherwise = Otherwise.REFUSE
    """Where the method is not possible: Refuse leaves the pod alone, Evict evicts it, under all rules of evictions."""


class SurgePolicy(PolicyModel):
    """How long moves by surge take."""

    ready_within: PositiveDurationSeconds = 300.0
    """For how long a replacement may take to be Ready; after that the move is undone."""
    settle: DurationSeconds = 5.0
    """How long the old pod stays once the new one is Ready and listed in every EndpointSlice that lists the old one."""


class MigrationPolicy(PolicyModel):
    """How long moves by migration take."""

    within: PositiveDurationSeconds = 600.0
    """For how long a migration may take."""
