"""A process that outlives a killed run: it waits for the run's end, and tidies up where that came without a word.

Started by ``guarding.py`` as ``python -m rescheduler.composition.live.guardian``, in a session of its own. Its orders
are one line of JSON on standard input; then it reads until the run says ``done``, or is dead and closed the pipe.
How to prove who it is, it finds where the run itself does.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from rescheduler.extension_points import Clock, ClusterError

READY: Final = b"ready\n"
DONE: Final = b"done"
LONGEST_SECONDS: Final = 240.0
"""For so long it tries to reach the API server; after five minutes nothing may be left of a killed run."""
QUIET_SECONDS: Final = 15.0
"""So long nothing more may be found before it ends: what was on its way when the run was killed still arrives."""
PAUSE_SECONDS: Final = 2.0


class GuardianOrders(NamedTuple):
    """Where the cluster is, and what to look after there.

    ``has_taints``: nodes too; ``has_surges``: pods that were taken out of their ReplicaSets; ``ledger``: where pods are
    written that were nominated to room which was to be made ("": none were). ``request``: what an autoscaler was asked
    for ("": nothing).
    """

    kubeconfig: str | None
    context: str | None
    namespace: str
    plan_id: str
    has_taints: bool = False
    has_surges: bool = False
    ledger: str = ""
    request: str = ""

    def written(self) -> bytes:
        """As one line."""
        return json.dumps(self._asdict()).encode() + b"\n"


def read_orders(line: bytes) -> GuardianOrders:
    """What ``written`` wrote. Raises ValueError, TypeError."""
    return GuardianOrders(**json.loads(line))


def main() -> int:
    """Wait, and tidy up if need be; exit code 0 unless something had to be left."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        orders = read_orders(sys.stdin.buffer.readline())
    except (ValueError, TypeError):
        return 2
    _tell_ready()
    said = sys.stdin.buffer.read()
    if said.strip() == DONE:
        return 0
    from rescheduler.adapters.clock import SystemClock

    return 0 if tidy_patiently(lambda: _tidied(orders), SystemClock()) else 1


def tidy_patiently(tidy_up: Callable[[], int], clock: Clock) -> bool:
    """Tidy up until nothing is found for a while; False if that could not be reached in time.

    ``tidy_up`` returns how much it found, and raises ClusterError.
    """
    began = quiet_since = clock.monotonic()
    while clock.monotonic() - began < LONGEST_SECONDS:
        try:
            is_quiet = tidy_up() == 0
        except ClusterError:
            is_quiet = False
        now = clock.monotonic()
        if not is_quiet:
            quiet_since = now
        elif now - quiet_since >= QUIET_SECONDS:
            return True
        clock.sleep(PAUSE_SECONDS)
    return False


def _tidied(orders: GuardianOrders) -> int:
    from rescheduler.adapters.kubernetes.client.connection import connect

    return tidied(connect(orders.kubeconfig, orders.context, read_only=False), orders)


def tidied(connection: Any, orders: GuardianOrders) -> int:
    """Take away what the orders name; how much that was. Raises ClusterError, when all of it was tried."""
    from rescheduler.adapters.kubernetes.leftovers.orphans import tidy_up

    return tidy_up(
        connection, orders.namespace, orders.plan_id, has_taints=orders.has_taints, has_surges=orders.has_surges,
        ledger=orders.ledger, request=orders.request,
    )  # fmt: skip


def _tell_ready() -> None:
    """Say that the orders are understood, and let go of the run's pipe."""
    pipe = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    os.write(pipe, READY)
    os.close(pipe)


if __name__ == "__main__":
    sys.exit(main())
