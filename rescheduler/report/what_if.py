"""What is said of nodes that are to go, and of nodes that were added in thought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import node_mark
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Plan, Refusal
from rescheduler.model.plan.what_if import NodeReplacement, Reached, WhatIf
from rescheduler.model.printable import first_few
from rescheduler.report.cells import plural

NO_ROOM = "NoRoom"
MOST_NAMED = 5


def removal_told(
    plan: Plan, cluster: Cluster, busy: Sequence[str], refusals: Sequence[Refusal], *, is_proven: bool
) -> str:
    """Of each node whether it could go. ``busy``: those that could not; ``refusals``: pods that stay, and why."""
    question = plan.what_if
    assert isinstance(question, WhatIf)
    parts = [
        _cannot_go(name, cluster, refusals, is_proven=is_proven) if name in busy else _can_go(name, plan)
        for name in question.removed_nodes
    ]
    parts += _without(question)
    planned = plan.objectives[0].message
    return "; ".join([*parts, *([planned] if planned else [])])


def _can_go(name: str, plan: Plan) -> str:
    leaving = sum(move.from_node == name for move in plan.moves)
    moves = "moves" if leaving == 1 else "move"
    return f"{name} could go: " + (f"{plural(leaving, 'pod')} {moves} elsewhere" if leaving else "it is empty already")


def _cannot_go(name: str, cluster: Cluster, refusals: Sequence[Refusal], *, is_proven: bool) -> str:
    node = cluster.node_by_name[name]
    pods = cluster.pods_by_node.get(name, ())
    on_it = {pod.key for pod in pods if not pod.belongs_to_its_node and not pod.is_terminating}
    rules = Counter(item.rule for item in refusals if item.pod is not UNSET and item.pod.key in on_it)
    homeless = rules.pop(NO_ROOM, 0)
    told = []
    mark = node_mark(node)
    if mark is not None:
        told.append(f"it {mark}")
    if rules:
        told.append(_must_stay(rules, len(on_it)))
    if homeless:
        fit = "fits" if homeless == 1 else "fit"
        told.append(f"{homeless} of {plural(len(on_it), 'pod')} {fit} on no other node")
    if not told:
        told.append("its pods do not all leave within room and limits")
    verdict = "could not go" if is_proven else "was not shown to be able to go"
    return f"{name} {verdict}: {' and '.join(told)}"


def must_stay_told(pods: Sequence[Pod], refusals: Sequence[Refusal]) -> str:
    """How many of a node's pods may not be moved, and by which rules."""
    return _must_stay(Counter(refusal.rule for refusal in refusals), len(pods))


def _must_stay(rules: Counter[str], pods: int) -> str:
    named = ", ".join(f"{count} by {rule}" for rule, count in rules.most_common(3))
    return f"{rules.total()} of {plural(pods, 'pod')} must stay ({named})"


def _without(question: WhatIf) -> Iterator[str]:
    if isinstance(question.without_added, Reached) and isinstance(question.without_added.emptied, int):
        emptied = question.without_added.emptied
        yield f"without {_names(question)} {emptied} of {plural(len(question.removed_nodes), 'node')} would be emptied"


def help_told(plan: Plan) -> str:
    """Whether the added nodes help, against what is reached without them and by scheduling alone."""
    question, objective = plan.what_if, plan.objectives[0]
    assert isinstance(question, WhatIf)
    without, alone = question.without_added, question.without_moves
    assert isinstance(without, Reached)
    assert isinstance(alone, Reached)
    helped, before = _number(objective.helped), _number(without.helped)
    spared = without.evictions - len(plan.moves)
    if helped > before:
        verdict = f"would help {plural(helped - before, 'more pending pod')}"
    elif helped == before and spared > 0:
        verdict = f"would spare {plural(spared, 'eviction')}"
    else:
        verdict = "would not help"
    return (
        f"{_names(question)} {verdict}: {helped} of {_number(objective.wanted)} get a place by "
        f"{plural(len(plan.moves), 'eviction')}, {_number(alone.helped)} by scheduling alone; "
        f"without {'it' if len(question.added_nodes) == 1 else 'them'} {before} by "
        f"{plural(without.evictions, 'eviction')}"
    )


@dataclass(frozen=True)
class ReplacementTold:
    """What is said of nodes that machines were sought for. ``machines``: those that were found, by their names.

    ``is_proven``: nothing is cheaper.
    """

    nodes: Sequence[str]
    pods: int
    machines: Sequence[str]
    currency: str
    figures: NodeReplacement
    is_proven: bool

    def found(self) -> str:
        """There is a set that is cheaper."""
        count = Counter(self.machines)
        bought = ", ".join(f"{number} {name}" for name, number in count.items()) or "the room that there is, alone"
        new, least = self.figures.new_cost or 0.0, self.figures.least_cost
        bound = "nothing cheaper takes" if self.is_proven else f"proven is that nothing below {least:.2f} takes"
        return (
            f"{self._nodes()} could be replaced by {bought}: {new:.2f} {self.currency} a month in place of "
            f"{self.figures.old_cost:.2f}; {bound} {plural(self.pods, 'pod')} while those of other nodes stay"
        )

    def not_found(self, why: str) -> str:
        """There is none, or none was found."""
        is_told = "; " if why else ""
        return (
            f"no cheaper machines found for {self._nodes()}, {self.figures.old_cost:.2f} {self.currency} a month with "
            f"{plural(self.pods, 'pod')}; proven is that nothing below {self.figures.least_cost:.2f} takes them while "
            f"those of other nodes stay{is_told}{why}"
        )

    def _nodes(self) -> str:
        return first_few(self.nodes, MOST_NAMED)


def _names(question: WhatIf) -> str:
    return first_few([node.name for node in question.added_nodes], MOST_NAMED)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
