"""What rounds of a daemon act on and through, and what one of them did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Final, NamedTuple

from rescheduler.disruption.gate.health import NO_SIGNALS, Signals
from rescheduler.disruption.gate.policy_gate import AskTrust
from rescheduler.extension_points import AuditLog, Clock, ExecutionTarget, LedgerStore, Progress, no_progress
from rescheduler.model.daemon.ledger import LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.move_change import MoveChange
from rescheduler.model.plan.plan import Plan, PlanResult

NOT_TIMED: Final[Mapping[str, float]] = {}


class RoundOutcome(NamedTuple):
    """What a round did. ``reason``: why nothing, or no more, was carried out; "" if the plan was carried out whole.

    ``cluster``: what was planned on; ``seconds``: what each step took. ``is_held``: what stood in the way may pass, and
    the same round is worth another try.
    """

    plan: Plan | None
    result: PlanResult | None
    reason: str
    cluster: Cluster | None = None
    seconds: Mapping[str, float] = NOT_TIMED
    is_held: bool = False


@dataclass(frozen=True)
class RoundContext:
    """What rounds act on and through. ``stopped``: the kill switch on this machine; ``holder``: who we are.

    ``snapshot``: what is planned on, where reading the target itself would take too long; what is carried out is
    always checked on the target. ``fence``: why nothing may be written (any more). ``running``: entered while a plan is
    carried out, gives the id of that run (None: the plan's own). ``ending``: why a plan is to end, not even waiting for
    what it has begun. ``learn`` is given the entries of the ledger before anything is judged by them. ``moved``: told,
    with the id of the run, how far each move has come. ``surges_under``: what stands on pods that are taken out of
    their ReplicaSets, the Lease by which we lead; whoever leads by it gives back at once what another leader took out
    ("": not at once). ``why_no_surges``: which right to move pods by surge is lacking; raises ClusterError.
    ``asked``: requests that we sent within the last minute.
    """

    target: ExecutionTarget
    ledger: LedgerStore
    clock: Clock
    audit: AuditLog | None = None
    stopped: Callable[[], str | None] = lambda: None
    signals: Callable[[Cluster], Signals] = lambda _: NO_SIGNALS
    trust: AskTrust | None = None
    holder: str = "rescheduler"
    progress: Progress = no_progress
    snapshot: Callable[[], Cluster] | None = None
    fence: Callable[[], str | None] = lambda: None
    running: Callable[[Plan], AbstractContextManager[str | None]] = lambda _: nullcontext()
    ending: Callable[[], str | None] = lambda: None
    learn: Callable[[Sequence[LedgerEntry]], None] = lambda _: None
    moved: Callable[[str, MoveChange], None] = lambda _run_id, _change: None
    surges_under: str = ""
    why_no_surges: Callable[[], str | None] = lambda: None
    asked: Callable[[], int] = lambda: 0
