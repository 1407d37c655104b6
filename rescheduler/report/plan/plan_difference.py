"""What differs between two plans: objectives, moves, places and refusals, as data and as lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from rescheduler.model.plan.plan import API_VERSION, Plan, Status
from rescheduler.report.cells import cell, number, plural

UNTOLD: Final = frozenset({"seconds"})
"""Fields that differ between equal plans."""

Item = dict[str, Any]


class FieldChange(Struct, frozen=True):
    """One thing that stands in both plans, but otherwise."""

    before: Item
    after: Item


class PlanChanges(Struct, frozen=True):
    """What stands in one plan only, and what stands in both, but otherwise."""

    added: tuple[Item, ...] = ()
    removed: tuple[Item, ...] = ()
    changed: tuple[FieldChange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


class PlanDifference(Struct, frozen=True, rename="camel"):
    """Two plans beside each other. ``equal``: nothing differs but the snapshot's own time and source."""

    equal: bool
    before: Item
    after: Item
    objectives: PlanChanges
    moves: PlanChanges
    placements: PlanChanges
    refusals: PlanChanges
    warnings: PlanChanges
    api_version: str = API_VERSION
    kind: str = "PlanDifference"


def difference_of(before: Plan, after: Plan) -> PlanDifference:
    """What ``after`` has otherwise than ``before``; pods are the same by namespace and name."""
    one, other = _data(before), _data(after)
    parts: dict[str, Any] = {name: _changes(one[name], other[name], key) for name, key in _PARTS.items()}
    return PlanDifference(not any(parts.values()), one["snapshot"], other["snapshot"], **parts)


def _data(plan: Plan) -> Item:
    data: Item = msgspec.to_builtins(plan)
    return {**data, "warnings": [{"message": text} for text in plan.warnings]}


def _pod(item: Item) -> str:
    return f"{item['pod']['namespace']}/{item['pod']['name']}"


_PARTS: Final[Mapping[str, Callable[[Item], Any]]] = {
    "objectives": lambda item: item["name"],
    "moves": _pod,
    "placements": _pod,
    "refusals": lambda item: (item["rule"], _pod(item) if "pod" in item else item.get("node")),
    "warnings": lambda item: item["message"],
}
"""By what a thing of one plan is found in the other."""


def _changes(before: Iterable[Item], after: Iterable[Item], key: Callable[[Item], Any]) -> PlanChanges:
    one, other = ({key(item): item for item in items} for items in (before, after))
    return PlanChanges(
        added=tuple(item for name, item in other.items() if name not in one),
        removed=tuple(item for name, item in one.items() if name not in other),
        changed=tuple(
            FieldChange(one[name], item)
            for name, item in other.items()
            if name in one and _told(one[name]) != _told(item)
        ),
    )


def _told(item: Item) -> Item:
    return {name: value for name, value in item.items() if name not in UNTOLD}


def difference_report(found: PlanDifference) -> Iterator[Any]:
    """Lines for people: what came with +, what went with -, what changed with ~."""
    if found.equal:
        yield cell("The plans are the same.")
        return
    for title, changes, tell in (
        ("Objectives", found.objectives, _objective),
        ("Moves", found.moves, _move),
        ("Places for pending pods", found.placements, _placement),
        ("Left alone", found.refusals, _refusal),
        ("Warnings", found.warnings, lambda item: item["message"]),
    ):
        if changes:
            counts = (("more", changes.added), ("fewer", changes.removed), ("other", changes.changed))
            yield cell(f"{title}: {', '.join(f'{len(items)} {word}' for word, items in counts if items)}", "bold")
            yield from _lines(changes, tell)


def _lines(changes: PlanChanges, tell: Callable[[Item], str]) -> Iterator[Any]:
    for item in changes.removed:
        yield cell(f"- {tell(item)}", "red")
    for item in changes.added:
        yield cell(f"+ {tell(item)}", "green")
    for change in changes.changed:
        one, other = tell(change.before), tell(change.after)
        yield cell(f"~ {one} => {other}" if one != other else f"~ {one}: {_fields(change)}", "yellow")


def _fields(change: FieldChange) -> str:
    """The fields that a line does not show."""
    names = [name for name in {**change.before, **change.after} if name not in UNTOLD]
    found = [name for name in names if change.before.get(name) != change.after.get(name)]
    return f"{', '.join(found)} {'differs' if len(found) == 1 else 'differ'}"


def _objective(item: Item) -> str:
    helped = f"{item['helped']} of {plural(item['wanted'], 'pod')}, " if "helped" in item else ""
    value = "no answer" if item["value"] is None else f"{number(item['value'])} {item['unit']}".strip()
    is_open = item["status"] == Status.FEASIBLE and item["bound"] is not None
    proven = f" (no plan does better than {number(item['bound'])})" if is_open else ""
    return f"{item['name']}: {item['status']}, {helped}{value}{proven}"


def _move(item: Item) -> str:
    marks: Sequence[str] = [text for name, text in (("needsGuidance", "needs guidance"), ("evictFirst", "leaves first"))
                            if item.get(name)]  # fmt: skip
    marks = [*marks, *([f"by {item['method'].lower()}"] if item.get("method", "Evict") != "Evict" else [])]
    return ", ".join([f"{_pod(item)} from {item['fromNode']} to {item['toNode']} in wave {item['wave']}", *marks])


def _placement(item: Item) -> str:
    when = f"after wave {item['wave']}" if item["wave"] else "already"
    return f"{_pod(item)} on {item['node']}, {when}"


def _refusal(item: Item) -> str:
    subject = f"pod {_pod(item)}" if "pod" in item else f"node {item['node']}" if "node" in item else "the plan"
    return f"{item['rule']}: {subject}: {item['message']}"
