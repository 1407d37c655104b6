"""Whether a new policy may reach further than the one in force: by what it says, and on this cluster. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from rescheduler.daemon.policies.directions import DIRECTIONS
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.disruption.eligibility_context import DEFAULT_SCHEDULERS
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.printable import first_few, printable
from rescheduler.policy.fields.budgets import Rates
from rescheduler.policy.fields.policy import Mode, Policy
from rescheduler.policy.reading.named_files import named_files

MOST_NAMESPACES_TOLD: Final = 5
_NO_RATES: Final = Rates.model_construct(per_hour=None, per_day=None, per_workload_per_hour=None)
_NO_FILES: Final[Mapping[str, bytes]] = MappingProxyType({})


def widenings(
    old: Policy,
    new: Policy,
    *,
    files: tuple[Mapping[str, bytes], Mapping[str, bytes]] = (_NO_FILES, _NO_FILES),
    cluster: Cluster | None = None,
    schedulers: frozenset[str] = DEFAULT_SCHEDULERS,
) -> tuple[str, ...]:
    """In words, what may reach further under the new policy; empty: surely nothing.

    ``files``: the content of those that the old and the new policy name. ``cluster``: to count pods in; None: it is not
    known. ``schedulers``: names of those that can be predicted. A change that is not known to be harmless is told.
    """
    if new.mode is Mode.DRY_RUN:
        return ()
    words = [
        f"{'.'.join(path)} from {_shown(old, path)} to {_shown(new, path)}"
        for path in _differences(_dump(old), _dump(new), ())
    ]
    changed = [name for name, content in files[1].items() if files[0].get(name, content) != content]
    schedulers_own = named_files(new)
    words += [
        f"{'schedulers: ' if name in schedulers_own else ''}the content of {printable(name)} has changed"
        for name in changed
    ]
    if cluster is not None:
        words = [*_more_pods(old, new, cluster, schedulers), *words]
    return tuple(words)


def more_movable(old: Policy, new: Policy, cluster: Cluster, schedulers: frozenset[str]) -> Counter[str]:
    """By namespace, how many pods the new policy lets go that the old one does not.

    Budgets and rates are left out of both: they say when and how many, and are compared by themselves.
    """
    before = set() if old.mode is Mode.DRY_RUN else _movable(old, cluster, schedulers)
    return Counter(cluster.pods[index].namespace for index in _movable(new, cluster, schedulers) - before)


def _movable(policy: Policy, cluster: Cluster, schedulers: frozenset[str]) -> set[int]:
    without = {"budgets": (), "rates": _NO_RATES}
    unbounded = policy.model_copy(update={"disruption": policy.disruption.model_copy(update=without)})
    return set(decide_eligibility(cluster, unbounded, schedulers=schedulers, is_daemon=True).movable)


def _more_pods(old: Policy, new: Policy, cluster: Cluster, schedulers: frozenset[str]) -> Iterator[str]:
    more = more_movable(old, new, cluster, schedulers)
    if not more:
        return
    largest = sorted(more.items(), key=lambda item: (-item[1], item[0]))
    told = first_few([f"{count} in {name}" for name, count in largest], MOST_NAMESPACES_TOLD, last=", and ")
    pods, namespaces = more.total(), len(more)
    what = f"+{pods} pod{'' if pods == 1 else 's'} in {namespaces} namespace{'' if namespaces == 1 else 's'}"
    yield f"{what} ({told})"


def _differences(old: Any, new: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Fields that may reach further, by their paths."""
    if old == new:
        return
    rule = DIRECTIONS.get(".".join(path))
    if rule is not None:
        if not rule(old, new):
            yield path
    elif isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        for key in new:
            yield from _differences(old[key], new[key], (*path, key))
    else:
        yield path


def _dump(policy: Policy) -> dict[str, Any]:
    return policy.model_dump(by_alias=True)


def _shown(policy: Policy, path: tuple[str, ...]) -> str:
    """A field as a file would have it, shortened."""
    value: Any = policy.model_dump(mode="json", by_alias=True)
    for name in path:
        value = value[name]
    return printable(value if isinstance(value, str) else "none" if value is None else json.dumps(value), 80)
