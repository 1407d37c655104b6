"""Whether one selector, or one choice of namespaces, surely selects nothing that another does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class _Demand(NamedTuple):
    key: str
    operator: str
    values: frozenset[str]


def is_narrower_selector(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Every demand of the old selector follows from one of the new; both as a dumped policy has them."""
    return all(any(_implies(mine, demand) for mine in _demands(new)) for demand in _demands(old))


def is_narrower_scope(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Every namespace that the new choice lets through was let through by the old one."""
    if new["include"] is None:
        return old["include"] is None and set(old["exclude"]) <= set(new["exclude"])
    chosen = set(new["include"]) - set(new["exclude"])
    return (old["include"] is None or chosen <= set(old["include"])) and not chosen & set(old["exclude"])


def _demands(selector: Mapping[str, Any]) -> Iterator[_Demand]:
    for key, value in selector["matchLabels"].items():
        yield _Demand(key, "In", frozenset([value]))
    for rule in selector["matchExpressions"]:
        yield _Demand(rule["key"], rule["operator"], frozenset(rule["values"]))


def _implies(mine: _Demand, wanted: _Demand) -> bool:
    if mine.key != wanted.key:
        return False
    if wanted.operator == "Exists":
        return mine.operator in ("Exists", "In")
    if wanted.operator == "NotIn" and mine.operator == "In":
        return not mine.values & wanted.values
    if wanted.operator == "NotIn" and mine.operator == "DoesNotExist":
        return True
    if mine.operator != wanted.operator:
        return False
    return mine.values >= wanted.values if wanted.operator == "NotIn" else mine.values <= wanted.values
