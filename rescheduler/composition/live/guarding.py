"""Gives a run on a live cluster a guardian, which tidies up where the run is killed and leaves no process to do so."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.leftovers.orphans import free_stale, give_stale_back
from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.composition.live.guardian import DONE, READY, GuardianOrders, tidied
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.annotations import GUIDE_GATE, SURGE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.policy import Guidance, Policy, tries_first

START_SECONDS: Final = 30.0
END_SECONDS: Final = 5.0


class Guardian:
    """The process, from its start on. Raises OSError where it cannot be started or does not answer."""

    def __init__(self, orders: GuardianOrders) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rescheduler.composition.live.guardian"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            self._instruct(orders)
        except BaseException:
            self.process.kill()
            self._close()
            self.process.wait()
            raise

    def dismiss(self) -> None:
        """Let it end: nothing is left to look after."""
        assert self.process.stdin is not None
        with suppress(OSError):  # it may have been killed
            self.process.stdin.write(DONE)
        self.leave_alone()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(END_SECONDS)

    def leave_alone(self) -> None:
        """Go without a word: it tidies up, for as long as that takes."""
        self._close()

    def _close(self) -> None:
        with suppress(OSError):
            if self.process.stdin is not None:
                self.process.stdin.close()

    def _instruct(self, orders: GuardianOrders) -> None:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(orders.written())
        stdin.flush()
        answered, _, _ = select.select([stdout], [], [], START_SECONDS)
        said = os.read(stdout.fileno(), len(READY)) if answered else b""
        stdout.close()
        if said != READY:
            raise OSError("it did not start")


class Guard:
    """A guardian for one plan, started when something is to be written that does not go by itself.

    ``request``: the name of what an autoscaler is asked for ("": nothing).
    """

    def __init__(
        self, options: ClusterOptions, policy: Policy, plan_id: str, *, has_surges: bool = False, request: str = ""
    ) -> None:
        self._orders = GuardianOrders(
            options.kubeconfig, options.context, policy.hold.namespace, plan_id,
            has_taints=policy.guidance is Guidance.TAINT, has_surges=has_surges,
            ledger=policy.ledger.name if tries_first(policy) else "", request=request,
        )  # fmt: skip
        self._guardian: Guardian | None = None

    def start(self) -> str | None:
        """Start the guardian unless it is there; the reason why that cannot be done."""
        if self._guardian is None:
            try:
                self._guardian = Guardian(self._orders)
            except OSError as error:
                return f"no process could be started that tidies up if this one is killed: {error}"
        return None

    def end(self, connection: Connection) -> None:
        """Take away once more what may be left, and let the guardian go; where that fails, it goes on with it."""
        if self._guardian is None:
            return
        try:
            tidied(connection, self._orders)
        except (ClusterError, KeyboardInterrupt):
            self._guardian.leave_alone()
        else:
            self._guardian.dismiss()


@contextmanager
def guarded(
    options: ClusterOptions, policy: Policy, plan_id: str, connection: Connection, plan: Plan
) -> Iterator[Guard]:
    """A guard for the time of a run of this plan."""
    guard = Guard(options, policy, plan_id, has_surges=any(move.method is MoveMethod.SURGE for move in plan.moves))
    try:
        yield guard
    finally:
        guard.end(connection)


def freed_of_earlier_runs(connection: Connection, cluster: Cluster, policy: Policy) -> tuple[str, ...]:
    """Undo what a killed run has left at pods; told as warnings, as is a failure to do so.

    Those that it took out of their ReplicaSets are given back, and then those let go that wait at its gate.
    """
    return _given_back(connection, cluster, policy) + _let_go(connection, cluster, policy)


def _given_back(connection: Connection, cluster: Cluster, policy: Policy) -> tuple[str, ...]:
    if not any(SURGE in pod.annotations for pod in cluster.pods):
        return ()
    try:
        back = give_stale_back(connection, policy.hold.namespace)
    except ClusterError as error:
        return (f"pods that an earlier run took out of their ReplicaSets could not be given back: {error}",)
    return tuple(
        f"{pod.namespace}/{pod.name} was left out of its ReplicaSet by an earlier run and was given back"
        for pod in back
    )


def _let_go(connection: Connection, cluster: Cluster, policy: Policy) -> tuple[str, ...]:
    if not any(GUIDE_GATE in pod.scheduling_gates for pod in cluster.gated_pods):
        return ()
    try:
        freed = free_stale(connection, policy.hold.namespace)
    except ClusterError as error:
        return (f"pods that an earlier run left at its gate could not be let go: {error}",)
    return tuple(f"{pod.namespace}/{pod.name} was left at the gate of an earlier run and was let go" for pod in freed)
