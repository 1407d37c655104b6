"""Whether the account that carries out a plan may do what it needs, and whether it may do far more."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.reading.network_policies import ReaderForSurges, completed
from rescheduler.adapters.kubernetes.rights.daemon_rights import daemon_rights
from rescheduler.adapters.kubernetes.rights.needed_rights import (
    MOST_TOLD,
    LackingRight,
    refuse_without_rights,
    refuse_without_surge_rights,
    rights_table,
    service_account,
    surplus_rights,
    surplus_warning,
)
from rescheduler.adapters.kubernetes.rights.rights import NeededRight
from rescheduler.extension_points import ClusterError, ClusterReader
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.policy import Mode, Policy, may_surge

# What a daemon is told about its rights when it starts, and where it refuses to.

GRANTS: Final = "deploy/ and the chart grant them; docs/rights.md lists what each mode needs"


def checked_daemon_rights(connection: Connection, policy: Policy) -> tuple[str, ...]:
    """Warnings about rights that are missing or not needed.

    Raises ClusterError, with a table, where a daemon that evicts lacks what it cannot do without, or where the API
    server cannot be asked. One that only shows its plans begins all the same: watching tells what it may not see.
    A person's dry run asks nothing at all.
    """
    if policy.mode is Mode.DRY_RUN and not connection.has_token:
        return ()
    missing, excess = daemon_rights(connection, policy)
    vital = [need for need in missing if need.is_vital]
    if vital and policy.mode is not Mode.DRY_RUN:
        surges = " and moves by surge" if may_surge(policy) else ""
        what = f"mode: {policy.mode.value} with guidance: {policy.guidance.value}{surges}"
        raise ClusterError(f"this account lacks rights that {what} needs; {GRANTS}:\n{_table(vital)}")
    warnings = [f"this account lacks rights; {GRANTS}:\n{_table(missing)}"] if missing else []
    return (*warnings, *([_excess_warning(excess)] if excess else []))


def _excess_warning(excess: Sequence[str]) -> str:
    more = f" and {len(excess) - MOST_TOLD} more" if len(excess) > MOST_TOLD else ""
    return (
        f"this account may do more than its policy needs: {', '.join(excess[:MOST_TOLD])}{more}; docs/rights.md lists "
        "what each mode needs"
    )


def _table(needs: Sequence[NeededRight]) -> str:
    """Each right once, however many purposes it has."""
    return rights_table(dict.fromkeys(LackingRight(need.right, need.namespace) for need in needs))


def surging_in(plan: Plan) -> tuple[str, ...]:
    """Namespaces of the pods that a plan moves by surge."""
    return tuple(sorted({move.pod.namespace for move in plan.moves if move.method is MoveMethod.SURGE}))


def reader_for(reader: ClusterReader, connection: Connection, plan: Plan) -> ClusterReader:
    """What reads the cluster while a plan is carried out: NetworkPolicies too, where pods are to move by surge."""
    namespaces = surging_in(plan)
    return ReaderForSurges(reader, partial(completed, connection, namespaces)) if namespaces else reader


ELSEWHERE: Final = "kube-system"
"""A namespace in which we have no role of our own."""


def checked_rights(connection: Connection, plan: Plan) -> tuple[str, ...]:
    """Warnings about rights beyond all need; raises ClusterError with a table of those that are missing.

    People often act with an administrator's rights: only service accounts, which are made for us, are told.
    """
    if not plan.moves:
        return ()
    refuse_without_rights(connection, (move.pod.namespace for move in plan.moves))
    refuse_without_surge_rights(connection, surging_in(plan))
    if service_account(connection) is None:
        return ()
    found = surplus_rights(connection, ELSEWHERE)
    return (surplus_warning(found),) if found else ()
