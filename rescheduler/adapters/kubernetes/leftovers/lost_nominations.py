"""Pods that are nominated to room which was to be made for them, found by the ledger, where that was written first."""

from __future__ import annotations

from collections.abc import Iterator

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.guidance.nominations import stands, withdraw
from rescheduler.adapters.kubernetes.ledger.ledger_objects import ConfigMaps
from rescheduler.adapters.kubernetes.ledger.sharded_ledger import ShardedLedger
from rescheduler.model.daemon.ledger import Nomination

_ONLY_READ: float = 0.0
"""How long closed entries count does not matter to whoever writes none."""


def find_nominations(connection: Connection, namespace: str, ledger: str) -> Iterator[Nomination]:
    """Those of any run that stand. Raises ClusterError."""
    objects = ConfigMaps(connection, namespace, keep_seconds=_ONLY_READ)
    reading = ShardedLedger(objects, ledger, counted_seconds=_ONLY_READ).read()
    for item in reading.ledger.nominations:
        if stands(connection, item.pod.namespace, item.pod.name, item.pod.uid, item.node):
            yield item


def withdraw_nominations(connection: Connection, namespace: str, ledger: str, run: str) -> int:
    """Take off those of one run; how many stood. Raises ClusterError.

    The ledger is left as it is: what stands no more is struck from it by whoever writes there.
    """
    found = [item for item in find_nominations(connection, namespace, ledger) if item.run == run]
    return sum(withdraw(connection, item.pod.namespace, item.pod.name, item.pod.uid, item.node) for item in found)
