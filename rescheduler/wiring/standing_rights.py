"""What a daemon is told about its rights when it starts, and where it refuses to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rescheduler.adapters.kubernetes.connection import Connection
from rescheduler.adapters.kubernetes.daemon_rights import daemon_rights
from rescheduler.adapters.kubernetes.needed_rights import MOST_TOLD, LackingRight, rights_table
from rescheduler.adapters.kubernetes.needs import Need
from rescheduler.extension_points import ClusterError
from rescheduler.policy.models import Mode, Policy

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
        what = f"mode: {policy.mode.value} with guidance: {policy.guidance.value}"
        raise ClusterError(f"this account lacks rights that {what} needs; {GRANTS}:\n{_table(vital)}")
    warnings = [f"this account lacks rights; {GRANTS}:\n{_table(missing)}"] if missing else []
    return (*warnings, *([_excess_warning(excess)] if excess else []))


def _excess_warning(excess: Sequence[str]) -> str:
    more = f" and {len(excess) - MOST_TOLD} more" if len(excess) > MOST_TOLD else ""
    return (
        f"this account may do more than its policy needs: {', '.join(excess[:MOST_TOLD])}{more}; docs/rights.md lists "
        "what each mode needs"
    )


def _table(needs: Sequence[Need]) -> str:
    """Each right once, however many purposes it has."""
    return rights_table(dict.fromkeys(LackingRight(need.right, need.namespace) for need in needs))
