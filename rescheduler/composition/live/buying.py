"""Has the machines of a plan made on a live cluster, under a guardian, before any of its pods is moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace as with_changes

from rescheduler.adapters.files.stop_file import stop_file
from rescheduler.composition.live.cluster_source import ClusterOptions, connected
from rescheduler.composition.live.ledgers import earlier_evictions
from rescheduler.composition.replacing import NOT_YET
from rescheduler.execution.buying.buyer import Bought, Buyer, BuyingSettings
from rescheduler.execution.buying.orders import machines_of, objection, told
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import Clock, MachineMarket, Progress
from rescheduler.model.daemon.capacity import BUYING
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan, PlanResult
from rescheduler.policy.fields.policy import Policy

if TYPE_CHECKING:
    from rescheduler.adapters.kubernetes.client.connection import Connection

SHARE_OF_TIME: Final = 0.5
"""Of the time that a plan has, machines are awaited for this part at most: their pods need the rest to move."""


def bought(
    plan: Plan,
    cluster: Cluster,
    options: ClusterOptions,
    policy: Policy,
    run_id: str,
    *,
    seconds: float,
    clock: Clock,
    progress: Progress,
    tell: Callable[[str], None],
) -> Bought:
    """Have each machine of a plan made. Raises PlanStoppedError, ClusterError: then nothing was moved.

    ``seconds``: what carrying out may take in all.
    """
    from rescheduler.adapters.kubernetes.autoscalers.machine_market import KubernetesMarket
    from rescheduler.adapters.kubernetes.reading.reader import LiveReader
    from rescheduler.composition.live.standing_rights import checked_rights, reader_for

    refuse_to_buy(plan, cluster)
    stop = earlier_evictions(options, policy, cluster, tell).stop
    stopped = _stopped(policy, stop)
    if (reason := stopped()) is not None:
        raise PlanStoppedError(f"stopped: {reason}; no machine was asked for, and nothing was moved")
    connection = connected(options, read_only=False)
    checked_rights(connection, plan)
    market = KubernetesMarket(connection, policy.hold.namespace, clock)
    refuse_without_market(market)
    settings = BuyingSettings(
        run_id, patience(policy, seconds), max(1, int(policy.hold.deadline)), stopped=stopped, progress=progress
    )
    with _guarded(options, policy, run_id, connection):
        return Buyer(market, reader_for(LiveReader(connection), connection, plan).read, clock, settings).buy(
            plan, cluster
        )


def patience(policy: Policy, seconds: float) -> float:
    """How long machines are waited for, where carrying out may take so long in all."""
    return min(policy.autoscaler.wait, seconds * SHARE_OF_TIME)


def refuse_to_buy(plan: Plan, cluster: Cluster) -> None:
    """Raise PlanStoppedError where the cluster is not what the plan was made for, before anything is asked for."""
    problem = objection(plan, cluster)
    if problem is not None:
        raise PlanStoppedError(f"no machine was asked for, and nothing was moved: {problem}")


def refuse_without_market(market: MachineMarket) -> None:
    """Raise PlanStoppedError where no machine can be asked for here."""
    reason = market.cannot()
    if reason is not None:
        raise PlanStoppedError(f"no machine can be asked for here, and nothing was moved: {reason}")


def not_bought(plan: Plan, why: str) -> PlanResult:
    """What came of a plan whose machines did not: no move was attempted."""
    outcomes = Outcomes(plan)
    outcomes.message = why
    return outcomes.result()


def told_of_machines(result: PlanResult, plan: Plan, found: Bought) -> PlanResult:
    """The result with what came for each machine that the plan names."""
    lines = (f"{told(machine)} is node {found.nodes[machine.name]}" for machine in machines_of(plan))
    others = (text for text in result.warnings if not text.endswith(NOT_YET))
    return with_changes(result, warnings=(*lines, *others))


def _stopped(policy: Policy, stop: str | None) -> Callable[[], str | None]:
    """``stop``: what the ledger says, as it was read."""
    on_this_machine = partial(stop_file, policy.stop.file)
    return lambda: on_this_machine() or stop


@contextmanager
def _guarded(options: ClusterOptions, policy: Policy, run_id: str, connection: Connection) -> Iterator[None]:
    """With somebody who takes back what was asked for if this process is killed. Raises PlanStoppedError."""
    from rescheduler.composition.live.guarding import Guard

    guard = Guard(options, policy, run_id, request=BUYING + run_id)
    reason = guard.start()
    if reason is not None:
        raise PlanStoppedError(f"no machine was asked for, and nothing was moved: {reason}")
    try:
        yield
    finally:
        guard.end(connection)
