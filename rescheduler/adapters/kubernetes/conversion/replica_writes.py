"""When the number of replicas of a workload was written, by the API server's own record of who wrote what."""

from __future__ import annotations

import re
from typing import Final

from msgspec import DecodeError, ValidationError, json

from rescheduler.adapters.kubernetes.conversion.metadata import NULL
from rescheduler.adapters.kubernetes.decoding.workload import ManagedFields
from rescheduler.model.moments import read_time

_REPLICAS: Final = re.compile(rb'"f:(replicas|parallelism)"')


def replica_writes(managed_fields: bytes) -> list[ManagedFields]:
    """Entries of ``metadata.managedFields`` of those who wrote the number of replicas that is wanted.

    None are where nobody says: an API server tells of it, a file seldom does. What cannot be read tells nothing either.
    """
    if managed_fields in NULL or not _REPLICAS.search(managed_fields):
        return []
    try:
        entries = json.decode(managed_fields, type=list[ManagedFields])
    except (DecodeError, ValidationError):
        return []
    return [entry for entry in entries if entry.subresource != "status" and _REPLICAS.search(bytes(entry.fields_v1))]


def scaled_at(managed_fields: bytes) -> float | None:
    """When whoever wrote the number of replicas last changed it, or anything else that is theirs; None: nobody says."""
    written = (read_time(entry.time) for entry in replica_writes(managed_fields))
    return max((time for time in written if time is not None), default=None)
