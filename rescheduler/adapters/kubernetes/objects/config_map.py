"""Fields of a ConfigMap."""

from __future__ import annotations

from collections.abc import Mapping

from rescheduler.adapters.kubernetes.objects.decoding.decode import decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ApiStruct, ObjectMeta


class ConfigMapObject(ApiStruct):
    """A ConfigMap; binary entries are left out."""

    metadata: ObjectMeta | None = None
    data: dict[str, str] | None = None


def key_of(found: ConfigMapObject) -> str:
    """``NAMESPACE/NAME``."""
    metadata = found.metadata or ObjectMeta()
    return f"{metadata.namespace or 'default'}/{metadata.name or ''}"


def entries_of(raw: bytes) -> Mapping[str, str]:
    """The text entries of a ConfigMap. Raises ObjectError, BrokenTextError."""
    return decode(raw, ConfigMapObject).data or {}
