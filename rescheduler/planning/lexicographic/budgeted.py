"""Plans of which each budget of pods is kept: plan as if there were none, and where that takes too many, choose.

What no plan without budgets exceeds, none with them does: only that bound is ever claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from msgspec.structs import replace as with_changes

from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Refusal, Status, reference_to
from rescheduler.planning.lexicographic.guarding import plan_guarded, restricted, without
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.objective import PlanningObjective
from rescheduler.planning.problem.plan_budgets import PlanBudget, left_of
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlannedMove, PlanRequest

CHOICES = 4
"""Plans made at most with some choice of pods, after the first."""
FIRST_SHARE = 0.4


def plan_within_budgets(
    objective: PlanningObjective,
    request: PlanRequest,
    earlier: Sequence[PlanningObjective],
    budgets: Sequence[PlanBudget],
) -> ObjectivePlan:
    """The answer of an objective within all budgets; ``earlier``: see ``plan_guarded``."""
    left = left_of(budgets, request.placement)
    movable = frozenset(request.eligibility.movable)
    spent = [budget for budget in left if budget.allowed <= 0 and movable & budget.pods]
    request = _leaving_out(request, {pod for budget in spent for pod in budget.pods}, spent)
    movable = frozenset(request.eligibility.movable)
    scarce = [budget for budget in left if 0 < budget.allowed < len(movable & budget.pods)]
    if not scarce:
        return _noted(plan_guarded(objective, request, earlier), spent)
    deadline = request.deadline()
    first = plan_guarded(objective, request.within(deadline, FIRST_SHARE), earlier)
    if not exceeded(first.moves, scarce):
        return _noted(first, spent)
    answer = _best(objective, request, earlier, scarce, first, deadline)
    answer = _restricted(objective, answer, first, exceeded(first.moves, scarce))
    return _noted(answer, spent)


def exceeded(moves: Sequence[PlannedMove], budgets: Sequence[PlanBudget]) -> list[PlanBudget]:
    """Budgets of which the moves take more than is allowed."""
    moved = {move.pod for move in moves}
    return [budget for budget in budgets if len(moved & budget.pods) > budget.allowed]


def _best(
    objective: PlanningObjective,
    request: PlanRequest,
    earlier: Sequence[PlanningObjective],
    budgets: Sequence[PlanBudget],
    first: ObjectivePlan,
    deadline: Deadline,
) -> ObjectivePlan:
    """The best of some choices of pods, each of which keeps every budget whatever is planned with it."""
    movable, calls = set(request.eligibility.movable), CHOICES + 1

    def planned(pods: set[int]) -> ObjectivePlan:
        nonlocal calls
        calls -= 1
        asked = replace(request, deadline_seconds=deadline.remaining() / (calls + 1), nominal_seconds=None)
        return plan_guarded(objective, _leaving_out(asked, movable - pods, budgets), earlier)

    chosen = keeping(budgets, _by_plan(request, first.moves, budgets))
    best = planned(chosen)
    if not _is_final(best, first) and not deadline.is_over():
        best = _better(objective, planned(keeping(budgets, _by_node(request, budgets))), best)
    if not _is_final(best, first) and not deadline.is_over():
        again = planned(movable - ({move.pod for move in first.moves} - chosen))
        if exceeded(again.moves, budgets):
            again = planned(keeping(budgets, _by_plan(request, again.moves, budgets)))
        best = _better(objective, again, best)
    return best


def _leaving_out(request: PlanRequest, pods: set[int], budgets: Sequence[PlanBudget]) -> PlanRequest:
    """The same question where these pods stay, and why."""
    if not pods:
        return request
    budgets_with, cluster = _budgets_with(budgets), request.prediction.columns.cluster
    reasons = {
        pod: _left_to_later(cluster.pods[pod], budgets[budgets_with[pod][0]]) for pod in pods & budgets_with.keys()
    }
    eligibility = request.eligibility
    told = with_changes(eligibility, refusals={**eligibility.refusals, **reasons})
    return without(replace(request, eligibility=told), pods)


def _left_to_later(pod: Pod, budget: PlanBudget) -> Refusal:
    reference = reference_to(pod)
    return Refusal(budget.rule, f"{pod.key} is left to later by {budget}", pod=reference)


def keeping(budgets: Sequence[PlanBudget], units: Iterable[Sequence[int]]) -> set[int]:
    """Pods of as many units as budgets allow, the first first; a unit is granted whole or not at all.

    Whatever is planned with these pods keeps every budget.
    """
    budgets_with = _budgets_with(budgets)
    left = [budget.allowed for budget in budgets]
    kept: set[int] = set()
    for unit in units:
        pods = [pod for pod in unit if pod not in kept]
        needed = Counter(number for pod in pods for number in budgets_with.get(pod, ()))
        if all(count <= left[number] for number, count in needed.items()):
            kept.update(pods)
            for number, count in needed.items():
                left[number] -= count
    return kept


def _budgets_with(budgets: Sequence[PlanBudget]) -> dict[int, list[int]]:
    """Numbers of the budgets that hold a pod."""
    found: dict[int, list[int]] = {}
    for number, budget in enumerate(budgets):
        for pod in budget.pods:
            found.setdefault(pod, []).append(number)
    return found


def _by_plan(request: PlanRequest, moves: Sequence[PlannedMove], budgets: Sequence[PlanBudget]) -> Iterator[list[int]]:
    """What a plan moves: first all that leaves one node, where that takes few of the budgets; then pod by pod."""
    leaving = _on_nodes(request, [move.pod for move in moves])
    yield from _cheapest_first(leaving, budgets)
    yield from ([move.pod] for move in moves)
    node_of = request.placement.node_of
    rest = sorted(request.eligibility.movable, key=lambda pod: int(node_of[pod]) not in leaving)
    yield from ([pod] for pod in rest)


def _by_node(request: PlanRequest, budgets: Sequence[PlanBudget]) -> Iterator[list[int]]:
    """All pods of a node, where that takes few of the budgets; then pod by pod."""
    yield from _cheapest_first(_on_nodes(request, request.eligibility.movable), budgets)
    yield from ([pod] for pod in request.eligibility.movable)


def _on_nodes(request: PlanRequest, pods: Iterable[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for pod in pods:
        found.setdefault(int(request.placement.node_of[pod]), []).append(pod)
    return found


def _cheapest_first(on_nodes: dict[int, list[int]], budgets: Sequence[PlanBudget]) -> list[list[int]]:
    budgets_with = _budgets_with(budgets)

    def cost(pods: list[int]) -> tuple[int, int]:
        return sum(len(budgets_with.get(pod, ())) for pod in pods), -len(pods)

    return sorted(on_nodes.values(), key=cost)


def _is_final(answer: ObjectivePlan, first: ObjectivePlan) -> bool:
    """Whether no choice can be better."""
    return answer.value == first.bound and answer.helped == first.helped


def _better(objective: PlanningObjective, answer: ObjectivePlan, other: ObjectivePlan) -> ObjectivePlan:
    return answer if _is_better(objective, answer, other) else other


def _is_better(objective: PlanningObjective, answer: ObjectivePlan, other: ObjectivePlan) -> bool:
    if answer.helped is not None and other.helped is not None and answer.helped != other.helped:
        return answer.helped > other.helped
    if answer.value != other.value:
        return (answer.value > other.value) == objective.is_better_higher
    return len(answer.moves) < len(other.moves)


def _restricted(
    objective: PlanningObjective, answer: ObjectivePlan, first: ObjectivePlan, binding: Sequence[PlanBudget]
) -> ObjectivePlan:
    """An answer within budgets, against the bound of the plan without them."""
    names = " and ".join(map(str, binding))
    note = f"held back by {names}; another choice of pods within that may reach more"
    if _is_final(answer, first):
        note = f"{names} {'holds' if len(binding) == 1 else 'hold'}, and costs nothing here"
    for claim in () if _is_final(answer, first) else ("proven: ", "proven by "):
        answer = replace(
            answer, message=answer.message.replace(claim, claim.replace("proven", "proven for these pods"))
        )
    told = restricted(objective, answer, first, note)
    if first.status is Status.INFEASIBLE:  # what no plan without budgets can do, none with them can
        return replace(told, status=Status.INFEASIBLE, certificate=first.certificate)
    return told


def _noted(answer: ObjectivePlan, spent: Sequence[PlanBudget]) -> ObjectivePlan:
    """Name budgets that earlier objectives have used up."""
    if not spent:
        return answer
    names = " and ".join(str(budget) for budget in spent)
    return replace(answer, message=f"{answer.message}; earlier objectives leave nothing of {names}")
