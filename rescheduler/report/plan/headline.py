"""The first lines of a report: what gets better, at which price, and how far from the proven best."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from rescheduler.model.plan.attempts import is_as_planned, last_attempt, newest
from rescheduler.model.plan.plan import EMPTY_NODES, ObjectiveResult, Plan, PlanResult, Status, Upstream
from rescheduler.report.cells import number, percent, plural

# What each objective has reached, in words.


def achievement(objective: ObjectiveResult) -> str:
    """What got better, without what it cost: "12 nodes emptied"; objectives that are not known by name as numbers."""
    if isinstance(objective.wanted, int):
        return _places(objective)
    if objective.value is None:
        return "no answer"
    words = _WORDS.get(objective.name)
    return _plain(objective.value, objective.unit) if words is None else words(objective.value, objective.unit)


def _places(objective: ObjectiveResult) -> str:
    if objective.wanted == 0:
        return "no pending pod waits for room"
    helped = objective.helped if isinstance(objective.helped, int) else 0
    pods = "pending pod gets" if objective.wanted == 1 else "pending pods get"
    return f"{helped} of {objective.wanted} {pods} a place"


def _emptied(value: float, unit: str) -> str:
    if value == 0:
        return "no node is emptied"
    if unit in ("node", "nodes", ""):
        return f"{plural(value, 'node')} emptied"
    if unit.endswith("/month"):
        return f"{value:.2f} {unit.removesuffix('/month')} a month saved by emptying nodes"
    return f"emptied nodes worth {number(value)} ({unit})"


def _overload(value: float, unit: str) -> str:
    if value == 0:
        return "no load above the target is left"
    amount = _plain(value, unit)
    return f"{amount} left" if "overload" in unit else f"{amount} of load above the target left"


def _antagonists(value: float, unit: str) -> str:
    if value == 0:
        return "no antagonists share a node"
    return f"{_plain(value, unit or 'pairs')} of antagonists left on one node"


def _shapes(value: float, unit: str) -> str:
    return f"room for {_plain(value, unit or 'shapes')}"


def _violations(value: float, unit: str) -> str:
    if value == 0:
        return "no spread, affinity or taint rule is violated"
    return f"{_plain(value, unit or 'violations')} of spread, affinity or taint rules left"


def _points(value: float, unit: str) -> str:
    if value == 0:
        return "no move raises the scheduler's score enough"
    return f"the scheduler's score rises by {_plain(value, unit.removeprefix('score ') or 'points')}"


def _plain(value: float, unit: str) -> str:
    """``3 pairs``, ``1 pair``; only units of one word have a singular."""
    single = unit.removesuffix("s") if unit.isalpha() else unit
    return f"{number(value)} {single if value == 1 else unit}".rstrip()


_WORDS: dict[str, Callable[[float, str], str]] = {
    EMPTY_NODES: _emptied,
    "SpreadLoad": _overload,
    "SeparateAntagonists": _antagonists,
    "Defragment": _shapes,
    "FaultDomains": _violations,
    "SchedulerScore": _points,
}


CLAUSES = "; "
"""Between the clauses of a planner's message."""
_REPEATED_PROOF = re.compile(
    r"proven: no plan [\w ]+$|(?:more|less|fewer evictions) (?:is|are) not ruled out: at (?:most|least) "
)


def headlines(plan: Plan | PlanResult) -> Iterator[tuple[str, str]]:
    """For each objective its status and a sentence, and the planner's own message where it has one."""
    tried = newest(plan.moves)
    moves = Counter(move.objective for move in tried)
    # What a plan promised is no fact once it was not carried out as planned.
    is_kept = not isinstance(plan, PlanResult) or (is_as_planned(plan) and last_attempt(plan) is None)
    planned = "" if is_kept else "planned: "
    named = Counter(objective.name for objective in plan.objectives)
    for objective in plan.objectives:
        # Two objectives of one name share their moves: no count is right for either.
        evictions = moves[objective.name] if named[objective.name] == 1 else None
        yield objective.status.value, _sentence(objective, evictions, planned)
        if news := untold(objective):
            yield "", news
        if told := beside(objective):
            yield "", told


def untold(objective: ObjectiveResult) -> str:
    """The planner's message without what the sentence above it says already: what was reached, its price, its proof.

    Nodes that are emptied are named below, with the price.
    """
    reached = achievement(objective)
    told = re.compile(rf"{re.escape(reached)}(?: (?:by \d+ evictions?|without evictions))?(?:: .*)?$")
    clauses = [told.sub("", clause) for clause in objective.message.split(CLAUSES)]
    is_proven = bool(proof(objective))
    return CLAUSES.join(clause for clause in clauses if clause and not (is_proven and _REPEATED_PROOF.match(clause)))


def beside(objective: ObjectiveResult) -> str:
    """What descheduler itself would come to; "" where nobody asked."""
    upstream = objective.upstream
    if not isinstance(upstream, Upstream):
        return ""
    ends = [
        f"{plural(count, 'pod')} {words}"
        for count, words in ((upstream.came_back, "back on their own node"), (upstream.waiting, "left waiting"))
        if count
    ]
    if isinstance(upstream.pushed_above, int):
        ends.append(f"{plural(upstream.pushed_above, 'node')} pushed above the target")
    told = f"descheduler itself: {plural(upstream.evictions, 'eviction')}"
    return f"{told}{''.join(f', {end}' for end in ends)}, and {_plain(upstream.goal, objective.unit)} in the end"


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
