"""Fields of a ResourceQuota."""

from __future__ import annotations

from typing import Any

from rescheduler.adapters.kubernetes.decoding.metadata import Decoded, ObjectMeta


class ScopeRequirement(Decoded):
    """One scope by name; its operator and values only narrow further."""

    scope_name: str | None = None


class ScopeSelector(Decoded):
    """Scopes with operators."""

    match_expressions: list[ScopeRequirement] | None = None


class ResourceQuotaSpec(Decoded):
    """Which pods the quota counts."""

    scopes: list[str] | None = None
    scope_selector: ScopeSelector | None = None


class ResourceQuotaStatus(Decoded):
    """What is in force, and what is used of it; the quota controller writes both."""

    hard: dict[str, Any] | None = None
    used: dict[str, Any] | None = None


class ResourceQuotaObject(Decoded):
    """A ResourceQuota."""

    metadata: ObjectMeta | None = None
    spec: ResourceQuotaSpec | None = None
    status: ResourceQuotaStatus | None = None
