"""Plans of which each ration of pods is kept: plan as if there were none, and where that takes too many, choose.

What no plan without rations exceeds, none with them does: only that bound is ever claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from msgspec.structs import replace as with_changes

from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import PodReference, Refusal, Status
from rescheduler.planning.lexicographic.goal import Goal
from rescheduler.planning.lexicographic.guarding import plan_guarded, restricted, without
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.plan_budgets import Ration, left_of
from rescheduler.planning.problem.plan_request import Answer, PlannedMove, Question

CHOICES = 4
"""Plans made at most with some choice of pods, after the first."""
FIRST_SHARE = 0.4


def plan_rationed(goal: Goal, question: Question, earlier: Sequence[Goal], rations: Sequence[Ration]) -> Answer:
    """The answer of a goal within all rations; ``earlier``: see ``plan_guarded``."""
    left = left_of(rations, question.placement)
    movable = frozenset(question.eligibility.movable)
    spent = [ration for ration in left if ration.allowed <= 0 and movable & ration.pods]
    question = _leaving_out(question, {pod for ration in spent for pod in ration.pods}, spent)
    movable = frozenset(question.eligibility.movable)
    scarce = [ration for ration in left if 0 < ration.allowed < len(movable & ration.pods)]
    if not scarce:
        return _noted(plan_guarded(goal, question, earlier), spent)
    deadline = Deadline(question.clock, question.deadline_seconds)
    first = plan_guarded(goal, replace(question, deadline_seconds=deadline.remaining() * FIRST_SHARE), earlier)
    if not exceeded(first.moves, scarce):
        return _noted(first, spent)
    answer = _best(goal, question, earlier, scarce, first, deadline)
    answer = _restricted(goal, answer, first, exceeded(first.moves, scarce))
    return _noted(answer, spent)


def exceeded(moves: Sequence[PlannedMove], rations: Sequence[Ration]) -> list[Ration]:
    """Rations of which the moves take more than is allowed."""
    moved = {move.pod for move in moves}
    return [ration for ration in rations if len(moved & ration.pods) > ration.allowed]


def _best(
    goal: Goal,
    question: Question,
    earlier: Sequence[Goal],
    rations: Sequence[Ration],
    first: Answer,
    deadline: Deadline,
) -> Answer:
    """The best of some choices of pods, each of which keeps every ration whatever is planned with it."""
    movable, calls = set(question.eligibility.movable), CHOICES + 1

    def planned(pods: set[int]) -> Answer:
        nonlocal calls
        calls -= 1
        asked = replace(question, deadline_seconds=deadline.remaining() / (calls + 1))
        return plan_guarded(goal, _leaving_out(asked, movable - pods, rations), earlier)

    chosen = keeping(rations, _by_plan(question, first.moves, rations))
    best = planned(chosen)
    if not _is_final(best, first) and not deadline.is_over():
        best = _better(goal, planned(keeping(rations, _by_node(question, rations))), best)
    if not _is_final(best, first) and not deadline.is_over():
        again = planned(movable - ({move.pod for move in first.moves} - chosen))
        if exceeded(again.moves, rations):
            again = planned(keeping(rations, _by_plan(question, again.moves, rations)))
        best = _better(goal, again, best)
    return best


def _leaving_out(question: Question, pods: set[int], rations: Sequence[Ration]) -> Question:
    """The same question where these pods stay, and why."""
    if not pods:
        return question
    rations_with, cluster = _rations_with(rations), question.prediction.columns.cluster
    reasons = {
        pod: _left_to_later(cluster.pods[pod], rations[rations_with[pod][0]]) for pod in pods & rations_with.keys()
    }
    eligibility = question.eligibility
    told = with_changes(eligibility, refusals={**eligibility.refusals, **reasons})
    return without(replace(question, eligibility=told), pods)


def _left_to_later(pod: Pod, ration: Ration) -> Refusal:
    reference = PodReference(pod.namespace, pod.name, pod.uid)
    return Refusal(ration.rule, f"{pod.key} is left to later by {ration}", pod=reference)


def keeping(rations: Sequence[Ration], wishes: Iterable[Sequence[int]]) -> set[int]:
    """Pods of as many wishes as rations allow, the first first; a wish is granted whole or not at all.

    Whatever is planned with these pods keeps every ration.
    """
    rations_with = _rations_with(rations)
    left = [ration.allowed for ration in rations]
    kept: set[int] = set()
    for wish in wishes:
        pods = [pod for pod in wish if pod not in kept]
        needed = Counter(number for pod in pods for number in rations_with.get(pod, ()))
        if all(count <= left[number] for number, count in needed.items()):
            kept.update(pods)
            for number, count in needed.items():
                left[number] -= count
    return kept


def _rations_with(rations: Sequence[Ration]) -> dict[int, list[int]]:
    """Numbers of the rations that hold a pod."""
    found: dict[int, list[int]] = {}
    for number, ration in enumerate(rations):
        for pod in ration.pods:
            found.setdefault(pod, []).append(number)
    return found


def _by_plan(question: Question, moves: Sequence[PlannedMove], rations: Sequence[Ration]) -> Iterator[list[int]]:
    """What a plan moves: first all that leaves one node, where that takes few of the rations; then pod by pod."""
    leaving = _on_nodes(question, [move.pod for move in moves])
    yield from _cheapest_first(leaving, rations)
    yield from ([move.pod] for move in moves)
    node_of = question.placement.node_of
    rest = sorted(question.eligibility.movable, key=lambda pod: int(node_of[pod]) not in leaving)
    yield from ([pod] for pod in rest)


def _by_node(question: Question, rations: Sequence[Ration]) -> Iterator[list[int]]:
    """All pods of a node, where that takes few of the rations; then pod by pod."""
    yield from _cheapest_first(_on_nodes(question, question.eligibility.movable), rations)
    yield from ([pod] for pod in question.eligibility.movable)


def _on_nodes(question: Question, pods: Iterable[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for pod in pods:
        found.setdefault(int(question.placement.node_of[pod]), []).append(pod)
    return found


def _cheapest_first(on_nodes: dict[int, list[int]], rations: Sequence[Ration]) -> list[list[int]]:
    rations_with = _rations_with(rations)

    def cost(pods: list[int]) -> tuple[int, int]:
        return sum(len(rations_with.get(pod, ())) for pod in pods), -len(pods)

    return sorted(on_nodes.values(), key=cost)


def _is_final(answer: Answer, first: Answer) -> bool:
    """Whether no choice can be better."""
    return answer.value == first.bound and answer.helped == first.helped


def _better(goal: Goal, answer: Answer, other: Answer) -> Answer:
    return answer if _is_better(goal, answer, other) else other


def _is_better(goal: Goal, answer: Answer, other: Answer) -> bool:
    if answer.helped is not None and other.helped is not None and answer.helped != other.helped:
        return answer.helped > other.helped
    if answer.value != other.value:
        return (answer.value > other.value) == goal.is_better_higher
    return len(answer.moves) < len(other.moves)


def _restricted(goal: Goal, answer: Answer, first: Answer, binding: Sequence[Ration]) -> Answer:
    """An answer within rations, against the bound of the plan without them."""
    names = " and ".join(map(str, binding))
    note = f"held back by {names}; another choice of pods within that may reach more"
    if _is_final(answer, first):
        note = f"{names} {'holds' if len(binding) == 1 else 'hold'}, and costs nothing here"
    for claim in () if _is_final(answer, first) else ("proven: ", "proven by "):
        answer = replace(
            answer, message=answer.message.replace(claim, claim.replace("proven", "proven for these pods"))
        )
    told = restricted(goal, answer, first, note)
    if first.status is Status.INFEASIBLE:  # what no plan without rations can do, none with them can
        return replace(told, status=Status.INFEASIBLE, certificate=first.certificate)
    return told


def _noted(answer: Answer, spent: Sequence[Ration]) -> Answer:
    """Name rations that earlier objectives have used up."""
    if not spent:
        return answer
    names = " and ".join(str(ration) for ration in spent)
    return replace(answer, message=f"{answer.message}; earlier objectives leave nothing of {names}")
