"""Events in words, one line each: the same for the same event, so that two traces can be compared."""

from __future__ import annotations

from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Refusal
from tests.soak.trace import (
    Answer,
    Effect,
    Event,
    GateEvent,
    LedgerWrite,
    LookEvent,
    NodeChanged,
    PlanEvent,
    PodChanged,
    PolicyEvent,
    ProcessEvent,
    Request,
    RoundEvent,
    WorldEvent,
)


def line_of(event: Event) -> str:
    """One line with the time in front."""
    return f"{event.t:10.3f} {_words(event)}"


def _words(event: Event) -> str:
    if isinstance(event, Request):
        return f"{event.process} -> {_request(event)} {event.fault and f'[{event.fault}]'}".rstrip()
    if isinstance(event, Effect):
        standing = f", of {event.ready} ready and {event.desired} wanted" if event.workload else ""
        return f"{event.request.process} => {_request(event.request)} takes effect{standing}"
    if isinstance(event, Answer):
        request = event.request
        return f"{request.process} <- {request.verb} {request.resource}: {request.answer} {event.message}".rstrip()
    if isinstance(event, PodChanged):
        return f"pod {_pod(event.old)} -> {_pod(event.new)}"
    if isinstance(event, NodeChanged):
        node = event.new or event.old
        assert node is not None
        return f"node {node.name} {'gone' if event.new is None else f'ready {node.is_ready} taints {len(node.taints)}'}"
    if isinstance(event, WorldEvent):
        return f"WORLD {event.kind}: {event.object} {event.detail}".rstrip()
    if isinstance(event, ProcessEvent):
        return f"{event.process} ** {event.kind} {event.detail}".rstrip()
    if isinstance(event, PolicyEvent):
        return f"{event.process} policy {event.detail}"
    if isinstance(event, PlanEvent):
        moves = ", ".join(f"{move.pod.key}>{move.to_node}/{move.wave}" for move in event.plan.moves)
        return f"{event.process} plan of the {event.planner} planner: {moves or 'nothing'}"
    if isinstance(event, LookEvent | GateEvent):
        return _judging(event)
    if isinstance(event, RoundEvent):
        return f"{event.process} round: {event.message or 'done'}"
    assert isinstance(event, LedgerWrite)
    states = " ".join(f"{entry.number}:{entry.pod.name}:{entry.state.value}" for entry in event.ledger.entries[-8:])
    step = f"{event.base}>{event.version}{'' if event.ok else ' CONFLICT'}"
    return f"{event.process} ledger {step} plan {event.ledger.plan} {states}"


def _judging(event: LookEvent | GateEvent) -> str:
    if isinstance(event, LookEvent):
        return f"{event.process} looked around {event.move.pod.key} for {event.t - event.asked_at:.3f} s"
    said = [
        f"{move.pod.key} {verdict.rule if isinstance(verdict, Refusal) else 'may go'}"
        for move, verdict in zip(event.moves, event.verdicts, strict=True)
    ]
    return f"{event.process} gate: {', '.join(said)}"


def _request(request: Request) -> str:
    what = f"{request.namespace}/{request.name}" if request.name else request.namespace
    extra = f" {request.body}" if request.resource in ("jobs", "nodes", "configmaps") else ""
    return f"{request.verb} {request.resource}{' (dry run)' if request.dry_run else ''} {what}{extra}".rstrip()


def _pod(pod: Pod | None) -> str:
    if pod is None:
        return "nothing"
    state = "terminating" if pod.is_terminating else "ready" if pod.is_ready else pod.phase
    return f"{pod.key} {pod.uid[:8]} on {pod.node_name} {state} v{pod.resource_version}"
