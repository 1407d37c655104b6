"""Whether the account that carries out a plan may do what it needs, and whether it may do far more."""

from __future__ import annotations

from typing import Final

from rescheduler.adapters.kubernetes.connection import Connection
from rescheduler.adapters.kubernetes.needed_rights import (
    refuse_without_rights,
    service_account,
    surplus_rights,
    surplus_warning,
)
from rescheduler.model.plan import Plan

ELSEWHERE: Final = "kube-system"
"""A namespace in which we have no role of our own."""


def checked_rights(connection: Connection, plan: Plan) -> tuple[str, ...]:
    """Warnings about rights beyond all need; raises ClusterError with a table of those that are missing.

    People often act with an administrator's rights: only service accounts, which are made for us, are told.
    """
    if not plan.moves:
        return ()
    refuse_without_rights(connection, (move.pod.namespace for move in plan.moves))
    if service_account(connection) is None:
        return ()
    found = surplus_rights(connection, ELSEWHERE)
    return (surplus_warning(found),) if found else ()
