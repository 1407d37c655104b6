"""What the budgets of a policy would do, in sentences, and what is odd about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from rescheduler.model.columns.selectors import describe, read_selector
from rescheduler.policy.fields.budgets import Budget, Per, names_of
from rescheduler.policy.fields.values import format_duration
from rescheduler.policy.fields.windows import Window, WindowType


def budget_sentences(budgets: tuple[Budget, ...]) -> Iterator[str]:
    """One sentence a budget, then warnings."""
    names = names_of(budgets)
    for name, budget in zip(names, budgets, strict=True):
        yield f"budget {name}: of {_pods(budget)}{_PER[budget.per]} {'; '.join(_limits(budget))}"
    for name, budget in zip(names, budgets, strict=True):
        yield from _stops(name, budget)
    for (first, one), (second, other) in combinations(zip(names, budgets, strict=True), 2):
        if (one.namespaces, one.label_selector, one.per) == (other.namespaces, other.label_selector, other.per):
            yield from _smaller(f"budgets {first} and {second}", one, other)


_PER = {
    Per.CLUSTER: "",
    Per.NODE: ", on each node",
    Per.ZONE: ", in each zone",
    Per.NAMESPACE: ", in each namespace",
    Per.WORKLOAD: ", for each workload",
}


def _pods(budget: Budget) -> str:
    pods = (
        "all pods" if budget.label_selector is None else f"pods with {describe(read_selector(budget.label_selector))}"
    )
    return pods + (f" in {_listed(budget.namespaces)}" if budget.namespaces is not None else "")


def _limits(budget: Budget) -> Iterator[str]:
    if budget.max_unavailable is not None:
        yield f"at most {budget.max_unavailable} unready at a time{_rounded(budget.max_unavailable)}"
    if budget.max_moving is not None:
        yield f"at most {budget.max_moving} on the move at a time{_rounded(budget.max_moving)}"
    if budget.rate is not None:
        yield f"at most {budget.rate.max_evictions} evictions in any {format_duration(budget.rate.window)}"
    for window in budget.all_windows:
        yield f"{_TYPE[window.type]} for {format_duration(window.duration)} from {written(window)}"


_TYPE = {WindowType.ALLOW: "only", WindowType.FREEZE: "not"}


def written(window: Window) -> str:
    """When a window opens, as the policy says it."""
    return f"{window.schedule} ({window.time_zone})"


def _rounded(limit: int | str) -> str:
    return " (rounded down, so none of a few pods)" if isinstance(limit, str) else ""


def _stops(name: str, budget: Budget) -> Iterator[str]:
    """Numbers that let none of the pods be moved, ever."""
    numbers = {"maxUnavailable": budget.max_unavailable, "maxMoving": budget.max_moving}
    numbers["rate.maxEvictions"] = None if budget.rate is None else budget.rate.max_evictions
    for field, number in numbers.items():
        if number is not None and int(str(number).removesuffix("%")) == 0:
            whom = "no eviction is possible" if _is_about_all(budget) else f"none of {_pods(budget)} can be moved"
            yield f"warning: {whom} because {field} of budget {name} is {number}"


def _is_about_all(budget: Budget) -> bool:
    return budget.namespaces is None and budget.label_selector is None


def _smaller(names: str, one: Budget, other: Budget) -> Iterator[str]:
    """Limits that two budgets set for the same pods."""
    for field, first, second in (
        ("maxUnavailable", one.max_unavailable, other.max_unavailable),
        ("maxMoving", one.max_moving, other.max_moving),
    ):
        if isinstance(first, int) and isinstance(second, int) and first != second:
            least = min(first, second)
            yield f"warning: {names} cover the same pods with different {field}; the smaller applies: {least}"
    if one.rate is not None and other.rate is not None and one.rate.window == other.rate.window:
        least, most = sorted((one.rate.max_evictions, other.rate.max_evictions))
        if least != most:
            yield f"warning: {names} cover the same pods with different rates; the smaller applies: {least}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
