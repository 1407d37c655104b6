"""A program that takes part in a leader election and says so, for tests that stop, kill and pause it.

``python -m tests.cluster.daemon.elector KUBECONFIG LEASE SECONDS`` prints a line for each change, ``TIME NAME
leads`` or ``follows``, with the time on the clock that all processes of one machine share. SIGTERM ends it as the
daemon ends.
"""

from __future__ import annotations

import signal
import sys
import threading
import time

from rescheduler.adapters.clock import SystemClock
from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.composition.live.leases import lease_store, own_identity
from rescheduler.daemon.leadership.leadership import Leadership
from rescheduler.model.daemon.notices import LeadershipChanged, Notice
from rescheduler.policy.fields.daemon.leader_election import LeaderElectionPolicy

NAMESPACE = "rescheduler-system"


def rules_for(seconds: float, name: str) -> LeaderElectionPolicy:
    """Rules in the proportions of the defaults, for a lease of so many seconds."""
    return LeaderElectionPolicy(
        lease_duration=seconds, renew_deadline=seconds * 2 / 3, retry_period=seconds / 7.5, name=name,
        namespace=NAMESPACE,
    )  # fmt: skip


def main() -> int:
    """Take part until told to stop."""
    kubeconfig, name, seconds = sys.argv[1:]
    rules, identity, stop = rules_for(float(seconds), name), own_identity(), threading.Event()

    def hear(notice: Notice) -> None:
        if isinstance(notice, LeadershipChanged):
            say("leads" if notice.is_leader else "follows")

    def say(what: str) -> None:
        sys.stdout.write(f"{time.monotonic()} {identity} {what}\n")
        sys.stdout.flush()

    store = lease_store(ClusterOptions(kubeconfig=kubeconfig), rules)
    leadership = Leadership(store, rules, SystemClock(), identity, hear)
    signal.signal(signal.SIGTERM, lambda _number, _frame: stop.set())
    leadership.start()
    while not stop.wait(0.05):
        pass
    leadership.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
