"""What a budget says of itself: which limit binds, its numbers, and when it lets pods go again."""

from __future__ import annotations

from rescheduler.disruption.budgets.standing import Standing
from rescheduler.disruption.windows import told
from rescheduler.policy.budgets import Rate
from rescheduler.policy.values import format_duration


def called(standing: Standing, place: int) -> str:
    """A budget's name, with the instance that is meant."""
    instance = standing.instances[place]
    return f"budget {standing.name}" + (f" of {instance}" if instance else "")


def objection(standing: Standing, place: int, *, is_ready: bool) -> str | None:
    """Why the budget lets no pod of an instance go now, as the rest of a sentence; None if it does."""
    name = called(standing, place)
    if standing.closure is not None:
        opens = standing.closure.opens_at
        when = "" if opens is None else f"; it opens at {told(opens, standing.closure.time_zone)}"
        return f"is covered by {name}, which {standing.closure.reason}{when}"
    budget = standing.budget
    if budget.rate is not None and standing.left_of_rate[place] <= 0:
        return f"is covered by {name}, whose rate is used up: {_rate_numbers(standing, place, budget.rate)}"
    if standing.left_to_move[place] <= 0:
        limit = _limit(standing, budget.max_moving, int(standing.most_moving[place]), place)
        used = int(standing.on_the_move[place])
        return f"is covered by {name}, of which {limit} may be on the move at a time (maxMoving) and {used} are already"
    allowed = standing.lets_ready_go if is_ready else standing.lets_unready_go
    if not allowed[place]:
        limit = _limit(standing, budget.max_unavailable, int(standing.most_unavailable[place]), place)
        used = int(standing.unavailable[place])
        return (
            f"is covered by {name}, of which {limit} may be unready at a time (maxUnavailable) and {used} are already"
        )
    return None


def rate_detail(standing: Standing, place: int) -> str:
    """The numbers of a budget's rate; "" without one."""
    rate = standing.budget.rate
    return "" if rate is None else _rate_numbers(standing, place, rate)


def _rate_numbers(standing: Standing, place: int, rate: Rate) -> str:
    times = standing.sent.get(place, [])
    text = f"{len(times)} of {rate.max_evictions} evictions in {format_duration(rate.window)} are used"
    if times and len(times) >= rate.max_evictions > 0:
        frees = times[len(times) - rate.max_evictions] + rate.window
        text += f", and the next may be at {told(frees, standing.time_zone)}"
    return text


def _limit(standing: Standing, written: int | str | None, number: int, place: int) -> str:
    """The limit in pods, and of a share how it came to be."""
    if isinstance(written, str):
        return f"{number} of {int(standing.total[place])} pods ({written})"
    return f"{number} pod{'s' if number != 1 else ''}"
