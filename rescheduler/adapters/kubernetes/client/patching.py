"""Patches of single objects, and when one comes too late to matter."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.decoded_answers import require_done

MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"


def patch_unless_late(
    connection: Connection, path: str, body: Mapping[str, Any], content_type: str, too_late: Collection[int]
) -> bool:
    """Patch one object; False for an answer of ``too_late`` (gone, another by now). Raises ClusterError."""
    answer = connection.send("PATCH", path, body, content_type=content_type)
    if answer.status in too_late:
        return False
    require_done(connection, "PATCH", path, answer)
    return True
