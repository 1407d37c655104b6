"""The first lines of a report: what gets better, at which price, and how far from the proven best."""

from __future__ import annotations

from collections.abc import Iterator

from rescheduler.model.plan import ObjectiveResult, Plan, PlanResult, Status
from rescheduler.report.cells import plural


def headlines(plan: Plan | PlanResult) -> Iterator[tuple[str, str]]:
    """For each objective its status and a sentence, and the planner's own message where it has one."""
    for objective in plan.objectives:
        yield objective.status.value, _sentence(objective)
        if objective.message:
            yield "", objective.message


def snapshot_line(plan: Plan | PlanResult) -> str:
    """What the plan was made from."""
    snapshot = plan.snapshot
    taken = f", taken at {snapshot.taken_at}" if snapshot.taken_at else ""
    source = f", from {snapshot.source}" if snapshot.source else ""
    nodes, pods = plural(snapshot.nodes, "node"), plural(snapshot.pods, "pod")
    return f"{nodes}, {pods}, {snapshot.pending_pods} of them pending{source}{taken}"


def _sentence(objective: ObjectiveResult) -> str:
    reached = _reached(objective)
    proof = _proof(objective)
    return f"{objective.name}: {reached}" + (f" ({proof})" if proof else "")


def _reached(objective: ObjectiveResult) -> str:
    value = "" if objective.value is None else plural(objective.value, objective.unit.removesuffix("s"))
    if not isinstance(objective.wanted, int):
        return value or "no answer"
    if objective.wanted == 0:
        return "no pending pod waits for room"
    helped = objective.helped if isinstance(objective.helped, int) else 0
    pods = "pending pod gets" if objective.wanted == 1 else "pending pods get"
    reached = f"{helped} of {objective.wanted} {pods} a place"
    return f"{reached}, by {value}" if helped and value else reached


def _proof(objective: ObjectiveResult) -> str:
    spent = f"{objective.seconds:.2f} s"
    if objective.value is None or objective.bound is None or objective.wanted == 0:
        return spent
    if objective.status is Status.OPTIMAL:
        return f"proven: no plan needs fewer; {spent}" if objective.value else f"proven; {spent}"
    gap = "" if objective.gap is None else f", gap {objective.gap:.0%}"
    return f"proven: at least {objective.bound:g}{gap}; {spent}"
