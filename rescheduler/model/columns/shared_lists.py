"""One list of pods in place of several: for all selectors of a namespace that the values of one label tell apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.pod import Pod

Question: TypeAlias = tuple[str, LabelSelector | None]
"""The pods of a namespace that a selector matches; None: all."""
MOST_TOGETHER: Final = 50
"""So many selectors share a list at most: the values stand in the address of a request."""


def read_shared(
    asked: Sequence[Question], read: Callable[[Sequence[Question]], Sequence[Sequence[Pod]]]
) -> list[Sequence[Pod]]:
    """The answer to each question, in their order, by as few lists as may be; ``read`` reads several."""
    shared = _shared(asked)
    lists = read([item.question for item in shared])
    found: list[Sequence[Pod]] = [()] * len(asked)
    for item, pods in zip(shared, lists, strict=True):
        if len(item.numbers) == 1:
            found[item.numbers[0]] = pods
            continue
        of_value: dict[str | None, list[Pod]] = defaultdict(list)
        for pod in pods:
            of_value[pod.labels.get(item.label)].append(pod)
        for number in item.numbers:
            own = asked[number]
            values = dict(_values(own[1])).get(item.label, ())
            near = of_value.get(values[0], ()) if len(values) == 1 else pods
            found[number] = [pod for pod in near if selects(own[1], pod.labels)]
    return found


class _Shared(NamedTuple):
    """A list to be read, and the numbers of the questions that it answers, which the values of a label tell apart."""

    question: Question
    label: str
    numbers: list[int]


def _shared(asked: Sequence[Question]) -> list[_Shared]:
    """The lists to be read."""
    left = {number: dict(_values(selector)) for number, (_, selector) in enumerate(asked)}
    found = []
    while left:
        first = next(iter(left))
        key, numbers = _company(first, left, asked)
        if len(numbers) == 1:
            found.append(_Shared(asked[first], key, numbers))
        else:
            values = tuple(sorted({value for number in numbers for value in left[number][key]}))
            question = asked[first][0], LabelSelector((Requirement(key, "In", values),))
            found.append(_Shared(question, key, numbers))
        for number in numbers:
            del left[number]
    return found


def _values(selector: LabelSelector | None) -> Iterable[tuple[str, tuple[str, ...]]]:
    """The values of labels that a selector asks for."""
    rules = () if selector is None else selector.requirements
    return ((rule.key, rule.values) for rule in rules if rule.operator == "In" and rule.values)


def _company(
    first: int, left: Mapping[int, Mapping[str, tuple[str, ...]]], asked: Sequence[Question]
) -> tuple[str, list[int]]:
    """The label by which most questions can be asked together with the first one, and the numbers of all of them.

    Equal values bring nobody together: what such selectors have in common may be very many pods.
    """
    groups: dict[str, dict[tuple[str, ...], int]] = defaultdict(dict)
    for number, labels in left.items():
        if asked[number][0] == asked[first][0]:
            for key in left[first].keys() & labels.keys():
                groups[key].setdefault(labels[key], number)
    key = max(sorted(groups), key=lambda key: len(groups[key]), default="")
    return key, list(groups[key].values())[:MOST_TOGETHER] if key else [first]
