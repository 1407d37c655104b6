"""Tells the trace what the gate was asked and what it said, whoever made it; and lets the proof be left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import greenlet

from rescheduler.checker.violation import Violation
from rescheduler.composition.live import executors
from rescheduler.disruption.gate.policy_gate import PolicyGate
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, Plan, PodReference, Refusal
from tests.soak.line.wire import Wire
from tests.soak.trace import GateEvent, Trace


@contextmanager
def watched_gates(trace: Trace, wires: Callable[[], Sequence[Wire]]) -> Iterator[None]:
    """While this lasts, every answer of every PolicyGate is told, by the process that runs at the time."""
    original = PolicyGate.permit

    def permit(
        self: PolicyGate,
        moves: Sequence[Move],
        cluster: Cluster,
        sent: Sequence[PodReference],
        ledger: Ledger = EMPTY_LEDGER,
    ) -> Sequence[Permit | Refusal]:
        verdicts = original(self, moves, cluster, sent, ledger)
        running = greenlet.getcurrent()
        for wire in wires():
            if wire.greenlet is running:
                now = wire.clock.monotonic()
                trace.tell(GateEvent(now, wire.name, tuple(moves), tuple(verdicts), cluster, ledger))
        return verdicts

    PolicyGate.permit = permit  # type: ignore[method-assign]
    try:
        yield
    finally:
        PolicyGate.permit = original  # type: ignore[method-assign]


@contextmanager
def proofs(*, has_proof: bool) -> Iterator[None]:
    """While this lasts, rounds prove the rest of a plan, or take nearly every plan for proven."""
    original = executors.prove_rest
    if not has_proof:
        executors.prove_rest = _blind_proof
    try:
        yield
    finally:
        executors.prove_rest = original


def _blind_proof(cluster: Cluster, rest: Plan, *_: object) -> Sequence[Violation]:
    """A checker that sees nothing but whether later destinations are there at all (room is kept on them early)."""
    later = [move for move in rest.moves if move.wave > 1 and move.to_node not in cluster.node_by_name]
    return [Violation("NodeExists", f"{move.to_node} is not there") for move in later]
