"""A decoded ResourceQuota as the model's, as far as it counts pods and what they ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rescheduler.adapters.kubernetes.objects.decoding.amounts import amounts, at_most
from rescheduler.adapters.kubernetes.objects.decoding.decode import ObjectError
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ApiStruct, ObjectMeta, name_of, namespace_of
from rescheduler.model.objects.resources import CPU, requested_amount
from rescheduler.model.objects.workload import ResourceQuota

# Fields of a ResourceQuota.


class ScopeRequirement(ApiStruct):
    """One scope by name; its operator and values only narrow further."""

    scope_name: str | None = None


class ScopeSelector(ApiStruct):
    """Scopes with operators."""

    match_expressions: list[ScopeRequirement] | None = None


class ResourceQuotaSpec(ApiStruct):
    """Which pods the quota counts."""

    scopes: list[str] | None = None
    scope_selector: ScopeSelector | None = None


class ResourceQuotaStatus(ApiStruct):
    """What is in force, and what is used of it; the quota controller writes both."""

    hard: dict[str, Any] | None = None
    used: dict[str, Any] | None = None


class ResourceQuotaObject(ApiStruct):
    """A ResourceQuota."""

    metadata: ObjectMeta | None = None
    spec: ResourceQuotaSpec | None = None
    status: ResourceQuotaStatus | None = None


_PLAIN = frozenset({"pods", "count/pods", "cpu", "memory", "ephemeral-storage"})
_REQUESTS = "requests."


def resource_quota(found: ResourceQuotaObject, warn: Callable[[str], None]) -> ResourceQuota:
    """One quota; what cannot be read of it counts nothing, and ``warn`` is told. Raises ObjectError without a name."""
    meta, spec, status = found.metadata, found.spec or ResourceQuotaSpec(), found.status or ResourceQuotaStatus()
    name = name_of(meta)
    assert meta is not None  # it has a name
    namespace = namespace_of(meta)
    selected = spec.scope_selector.match_expressions if spec.scope_selector is not None else None
    try:
        hard = amounts(_counted(status.hard), at_most(_amount), "status.hard")
        used = amounts(_counted(status.used), at_most(_amount), "status.used")
    except ObjectError as error:
        warn(f"ResourceQuota {namespace}/{name}: {error.path}: {error.problem}; it counts as if it were not there")
        hard, used = {}, {}
    scopes = (*(spec.scopes or ()), *(item.scope_name or "" for item in selected or ()))
    return ResourceQuota(namespace, name, tuple(sorted(hard.items())), tuple(sorted(used.items())), scopes)


def _counted(quantities: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Without limits, volumes, and counts of other objects."""
    return {name: value for name, value in (quantities or {}).items() if name in _PLAIN or name.startswith(_REQUESTS)}


def _amount(name: str, quantity: str) -> int:
    return requested_amount(CPU if name.removeprefix(_REQUESTS) == CPU else name, quantity)
