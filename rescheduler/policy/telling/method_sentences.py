"""How pods are moved under a policy, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rescheduler.model.columns.selectors import describe, read_selector
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.move_by import MoveRule, Otherwise
from rescheduler.policy.fields.policy import Disruption
from rescheduler.policy.fields.values import format_duration

_WORDS: Final = (("surge", MoveMethod.SURGE), ("migration", MoveMethod.MIGRATE))


def method_sentences(disruption: Disruption) -> Iterator[str]:
    """One sentence a rule, in the order in which they are asked, then warnings; nothing where there are none."""
    for number, rule in enumerate(disruption.move_by, start=1):
        yield f"rule {number} of moveBy: {_pods(rule)} {_how(rule, disruption)}{_else(rule)}"
    methods = {rule.method for rule in disruption.move_by}
    ways = [word for word, method in _WORDS if method in methods]
    if ways:
        yield f"apply and run carry moves by {' and by '.join(ways)} out"
    for number, rule in enumerate(disruption.move_by, start=1):
        earlier = next((place for place, one in enumerate(disruption.move_by[: number - 1], 1) if _hides(one, rule)), 0)
        if earlier:
            yield f"warning: rule {number} of moveBy is never asked, since rule {earlier} names all its pods"


def _pods(rule: MoveRule) -> str:
    pods = "all pods" if rule.label_selector is None else f"pods with {describe(read_selector(rule.label_selector))}"
    return pods + (f" in {', '.join(rule.namespaces)}" if rule.namespaces is not None else "")


def _how(rule: MoveRule, disruption: Disruption) -> str:
    if rule.method is MoveMethod.SURGE:
        within, settle = map(format_duration, (disruption.surge.ready_within, disruption.surge.settle))
        return f"move by surge: a pod goes {settle} after its replacement is Ready, which may take {within}"
    if rule.method is MoveMethod.MIGRATE:
        within = format_duration(disruption.migration.within)
        return f"that their owner moves himself are moved by him, which may take {within}"
    return "are evicted"


def _else(rule: MoveRule) -> str:
    if rule.method is not MoveMethod.SURGE:
        return ""
    what = "it is left alone" if rule.otherwise is Otherwise.REFUSE else "it is evicted, under all rules of evictions"
    return f"; where that is not possible, {what}"


def _hides(one: MoveRule, other: MoveRule) -> bool:
    """Whether the first rule names every pod that the second does."""
    if one.method is MoveMethod.MIGRATE and other.method is not MoveMethod.MIGRATE:
        return False
    is_wider = one.namespaces is None or (other.namespaces is not None and set(other.namespaces) <= set(one.namespaces))
    return is_wider and (one.label_selector is None or one.label_selector == other.label_selector)
