"""The first lines of a report: what gets better, at which price, and how far from the proven best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rescheduler.model.plan import ObjectiveResult, Plan, PlanResult, Status
from rescheduler.report.achievements import achievement
from rescheduler.report.cells import plural
from rescheduler.report.numbers import number, percent
from rescheduler.report.outcomes import is_as_planned


def headlines(plan: Plan | PlanResult) -> Iterator[tuple[str, str]]:
    """For each objective its status and a sentence, and the planner's own message where it has one."""
    moves = Counter(move.objective for move in plan.moves)
    # What a plan promised is no fact once it was not carried out as planned.
    planned = "planned: " if isinstance(plan, PlanResult) and not is_as_planned(plan) else ""
    named = Counter(objective.name for objective in plan.objectives)
    for objective in plan.objectives:
        # Two objectives of one name share their moves: no count is right for either.
        evictions = moves[objective.name] if named[objective.name] == 1 else None
        yield objective.status.value, _sentence(objective, evictions, planned)
        if objective.message:
            yield "", objective.message


def snapshot_line(plan: Plan | PlanResult) -> str:
    """What the plan was made from."""
    snapshot = plan.snapshot
    taken = f", taken at {snapshot.taken_at}" if snapshot.taken_at else ""
    source = f", from {snapshot.source}" if snapshot.source else ""
    nodes, pods = plural(snapshot.nodes, "node"), plural(snapshot.pods, "pod")
    return f"{nodes}, {pods}, {snapshot.pending_pods} of them pending{source}{taken}"


def proof(objective: ObjectiveResult) -> str:
    """What is proven about the value: that no plan does better, or how much better one might; "" if nothing is."""
    if objective.value is None or objective.bound is None or objective.wanted == 0:
        return ""
    if objective.status is Status.OPTIMAL or (not _counts_evictions(objective) and objective.value == objective.bound):
        if not _counts_evictions(objective):
            return "proven: no plan does better"
        return "proven: no plan needs fewer" if objective.value else "proven"
    distance = _distance(objective, objective.value, objective.bound)
    if objective.status is not Status.INFEASIBLE or not _counts_evictions(objective):
        return f"proven: {distance}"
    return "proven: not all can be helped" + (f"; {distance}" if objective.helped else "")


def _distance(objective: ObjectiveResult, value: float, bound: float) -> str:
    """The bound is on the side on which better plans would be."""
    gap = "" if objective.gap is None else f", gap {percent(objective.gap)}"
    return f"{'at most' if bound > value else 'at least'} {number(bound)}{gap}"


def _sentence(objective: ObjectiveResult, evictions: int | None, planned: str) -> str:
    spent = f"{objective.seconds:.2f} s"
    proven = proof(objective)
    aside = f"{proven}; {spent}" if proven else spent
    return f"{objective.name}: {planned}{achievement(objective)}{_at_the_price(objective, evictions)} ({aside})"


def _at_the_price(objective: ObjectiveResult, evictions: int | None) -> str:
    """What the plan pays for this objective. Where evictions are its value, they stand even without a list of moves."""
    if _counts_evictions(objective):
        is_helpful = objective.wanted and objective.helped and objective.value is not None
        return f", by {plural(objective.value or 0, 'eviction')}" if is_helpful else ""
    return f", by {plural(evictions, 'eviction')}" if evictions else ""


def _counts_evictions(objective: ObjectiveResult) -> bool:
    return isinstance(objective.wanted, int)
