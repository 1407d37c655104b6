"""Whether we may take pods out of their ReplicaSets until their replacements are Ready."""

from __future__ import annotations

from collections.abc import Iterable

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.rights.parts import SURGE
from rescheduler.adapters.kubernetes.rights.rights import missing


def why_no_surges(connection: Connection, scope: Iterable[str] = ()) -> str | None:
    """The rights that are lacking, in words; None if we have all. Raises ClusterError if that cannot be found out.

    ``scope``: the only namespaces whose pods may be moved, none for all.
    """
    lacking = [right.text for right in missing(connection, SURGE.rights, "", scope)]
    return f"we may not {', '.join(lacking)}; deploy/surge.yaml grants it" if lacking else None
