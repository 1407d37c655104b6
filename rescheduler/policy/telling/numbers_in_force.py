"""Every number in force under a policy, and every argument that it sets: as written, and where it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rescheduler.model.printable import printable
from rescheduler.policy.fields.daemon.autoscaler import FirstTry, ScaleDown
from rescheduler.policy.fields.policy import (
    SYSTEM_NAMESPACES,
    Guidance,
    Mode,
    Policy,
    elects_leader,
    may_migrate,
    may_surge,
)
from rescheduler.policy.fields.values import UNLIMITED, format_duration
from rescheduler.policy.reading.document import Document, Path, written

# What a policy may do in its mode, in one sentence.

CAREFUL_SINCE: Final = "0.1.0"
"""The version since which these bind; builds before it had none of them (docs/upgrading.md)."""


def what_it_may_do(policy: Policy) -> str:
    """Begins with the mode; in Execute and Approve with all that bounds evictions in time."""
    if policy.mode is Mode.DRY_RUN:
        return "DryRun: evicts nothing"
    rates, age = policy.disruption.rates, policy.scope.minimum_age
    bounds = [
        "any number of pods an hour" if rates.per_hour is None else f"at most {rates.per_hour} pods an hour",
        "any number a day" if rates.per_day is None else f"{rates.per_day} a day",
        "any number of one workload"
        if rates.per_workload_per_hour is None
        else f"{rates.per_workload_per_hour} of one workload an hour",
    ]
    whom = f"of pods that are {format_duration(age)} old or older" if age else "of pods of any age"
    if policy.mode is Mode.APPROVE:
        return f"Approve: evicts what a person has approved, {', '.join(bounds)}, {whom}"
    ramp_up = policy.disruption.ramp_up
    start = "from the start" if ramp_up is None else (
        f"beginning with {ramp_up.start} in {format_duration(ramp_up.window)}, twice as many after each "
        f"{format_duration(ramp_up.double_every)} without a failure"
    )  # fmt: skip
    return f"Execute: evicts without asking, {', '.join(bounds)}, {whom}, {start}"


_NUMBER: Final = re.compile(rf"[0-9]+(\.[0-9]+)?%|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+|{UNLIMITED}")
_NO_LIMIT: Final = ("limits", "scope")
"""Levels whose numbers are limits, of which nothing is none."""
_TOLD: Final = "default"
_LISTS: Final = ("objectives", "triggers", "schedulers", "providers", "budgets")
_NOT_NUMBERS: Final = ("apiVersion", "kind", "metadata", "mode")


def numbers_in_force(policy: Policy, document: Document | None = None) -> Iterator[str]:
    """One line for each, without the defaults of parts that do nothing.

    ``document``: the policy as its files say it together; None: nothing is written anywhere.
    """
    idle = tuple(idle_parts(policy))
    for path, value in _leaves(policy.model_dump(mode="json", by_alias=True), ()):
        found = None if document is None else _at(document.data, path)
        is_left_out = found is None or (found == "" and value != "")
        place = None if document is None or is_left_out else document.values.get(path)
        is_name_of_an_item = path[-1] == "name" and any(step in _LISTS for step in path)
        if not (_is_number(path, value) or (place is not None and not is_name_of_an_item)):
            continue
        if place is None or document is None:
            if any(path[: len(part)] == part for part in idle):
                continue
            yield f"{written(path)}: {_shown(value)} ({_TOLD})"
        else:
            text = document.plain_texts.get(path, _shown(found))
            yield f"{written(path)}: {printable(text, 120)} ({printable(place[0])}:{place[1]})"


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, Mapping) and value:
        for key, below in value.items():
            if path or key not in _NOT_NUMBERS:
                yield from _leaves(below, (*path, key))
    elif isinstance(value, list) and value:
        for number, below in enumerate(value):
            yield from _leaves(below, (*path, number))
    else:
        yield path, value


def _is_number(path: Path, value: Any) -> bool:
    if value is None:
        return path[0] in _NO_LIMIT and path[-1] != "include"
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float) or (isinstance(value, str) and _NUMBER.fullmatch(value) is not None)


def _shown(value: Any) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _at(data: Any, path: Path) -> Any:
    """What a file says at a path; None where it says nothing."""
    for step in path:
        if isinstance(data, Mapping):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return None
    return data


# What binds ``run`` now where a policy says nothing, and did not in version 0.1.


def newly_binding(policy: Policy) -> Iterator[str]:
    """Of each such default, what it does, and how a policy turns it off."""
    rates, off = policy.disruption.rates, f"write {UNLIMITED} for none"
    if "minimum_age" not in policy.scope.model_fields_set:
        yield f"scope.minimumAge: pods younger than {format_duration(policy.scope.minimum_age)} stay; write 0s for none"
    for field, name, what in (
        ("per_hour", "perHour", "evictions an hour"),
        ("per_day", "perDay", "evictions a day"),
        ("per_workload_per_hour", "perWorkloadPerHour", "evictions an hour of one workload"),
    ):
        if field not in rates.model_fields_set:
            yield f"disruption.rates.{name}: at most {getattr(rates, field)} {what}; {off}"
    rules = policy.disruption.ramp_up
    if rules is not None and not rules.model_fields_set:
        begins = f"begins with {rules.start} eviction in {format_duration(rules.window)}"
        doubles = f"twice as many after each {format_duration(rules.double_every)} without a failure"
        yield f"disruption.rampUp: Execute {begins}, {doubles}; {off}"
    if "system_namespaces" not in policy.scope.model_fields_set:
        names = ", ".join((*sorted(SYSTEM_NAMESPACES), "the daemon's own namespace"))
        yield f"scope.systemNamespaces: pods of {names} stay; write Allow to let them move"
    if "owner_kinds" not in policy.disruption.model_fields_set:
        replaced = "a ReplicaSet, StatefulSet or ReplicationController"
        yield f"disruption.ownerKinds: only pods that {replaced} replaces move; name the kinds of others"
    if "not_ready" not in policy.disruption.model_fields_set:
        unready = "pods that are not Ready, or stand on a node that is not"
        yield f"disruption.notReady: {unready}, stay; write Allow to let them move"


def idle_parts(policy: Policy) -> Iterator[Path]:
    """Where parts begin that do nothing as the policy stands, so that their defaults bind nobody.

    What a file writes there is told all the same: whoever wrote it meant something by it.
    """
    idle: tuple[tuple[Path, bool], ...] = (
        (("usage",), not policy.usage.providers),
        (("disruption", "surge"), not may_surge(policy)),
        (("disruption", "migration"), not may_migrate(policy)),
        (("hold", "deadline"), policy.guidance is Guidance.PREDICT),
        (("leaderElection",), not elects_leader(policy)),
        (("approval",), policy.mode is not Mode.APPROVE),
        (("autoscaler", "firstTryEvictions"), policy.autoscaler.first_try is FirstTry.OFF),
        (("autoscaler", "offer"), policy.autoscaler.scale_down is ScaleDown.LEAVE),
    )
    yield from (path for path, is_idle in idle if is_idle)
