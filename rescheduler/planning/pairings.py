"""The other ways to name the pods of a solution: which of several alike ones goes where can decide about the order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, permutations, product

from rescheduler.planning.draft import Draft
from rescheduler.planning.instance import Instance

MOST_PAIRINGS = 24
MOST_ALIKE = 6


def pairings(instance: Instance, draft: Draft) -> tuple[list[Draft], bool]:
    """Drafts with the same counts, the given one first, and whether these are all of them."""
    kind_of = {pod: group.kind for group in instance.groups for pod in group.pods}
    home_of = {pod: instance.nodes[group.node] for group in instance.groups for pod in group.pods}
    by_kind: dict[int, list[int]] = {}
    for pod in draft.moves:
        by_kind.setdefault(kind_of[pod], []).append(pod)
    is_all = all(len(pods) <= MOST_ALIKE for pods in by_kind.values())
    options = [list(_ways(pods, draft, home_of)) for pods in by_kind.values()]
    found = [draft]
    for choice in islice(product(*options), MOST_PAIRINGS + 1):
        moves = dict(draft.moves)
        for way in choice:
            moves.update(way)
        if moves != draft.moves:
            found.append(Draft(moves, draft.places))
    total = 1
    for ways in options:
        total *= len(ways)
    return found[:MOST_PAIRINGS], is_all and total <= MOST_PAIRINGS


def _ways(pods: list[int], draft: Draft, home_of: dict[int, int]) -> Iterator[dict[int, int]]:
    """Different ways to give the pods each other's targets; pods from one node are alike, none goes home."""
    targets = [draft.moves[pod] for pod in pods]
    if len(pods) > MOST_ALIKE:
        yield dict(zip(pods, targets, strict=True))
        return
    seen = set()
    for order in permutations(targets):
        key = tuple(sorted((home_of[pod], target) for pod, target in zip(pods, order, strict=True)))
        if key not in seen and all(home_of[pod] != target for pod, target in zip(pods, order, strict=True)):
            seen.add(key)
            yield dict(zip(pods, order, strict=True))
