"""What a run needs to be allowed, asked before anything is evicted, and what it is allowed beyond all need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.decoded_answers import decoded, decoded_whole
from rescheduler.adapters.kubernetes.rights.parts import EVICT, PARTS, SURGE
from rescheduler.adapters.kubernetes.rights.rights import Right, may
from rescheduler.extension_points import ClusterError
from rescheduler.model.printable import first_few, shortened

READING: Final = ("get", "list", "watch")
_RULES: Final = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
_REVIEWS: Final = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
MOST_TOLD: Final = 10


class LackingRight(NamedTuple):
    """A right that we do not have in a namespace (empty: in all)."""

    right: Right
    namespace: str


def refuse_without_rights(connection: Connection, namespaces: Iterable[str]) -> None:
    """Raise ClusterError with a table of what is missing for evictions in these namespaces."""
    lacking = _lacking(connection, (EVICT,), namespaces)
    if lacking:
        raise ClusterError(
            "this account lacks rights that the plan needs, so nothing was done; deploy/acting.yaml grants them:\n"
            + rights_table(lacking)
        )


def refuse_without_surge_rights(connection: Connection, namespaces: Iterable[str]) -> None:
    """Raise ClusterError with a table of what is missing for moves by surge in these namespaces."""
    lacking = _lacking(connection, SURGE.rights, namespaces)
    if lacking:
        raise ClusterError(
            "this account lacks rights that moves by surge need, so nothing was done; deploy/surge.yaml grants them, "
            "bound by deploy/surge-binding.yaml:\n" + rights_table(lacking)
        )


def _lacking(connection: Connection, rights: Iterable[Right], namespaces: Iterable[str]) -> list[LackingRight]:
    """Those of these rights that we do not have; one question is enough where a right is given for all namespaces."""
    wanted = sorted(set(namespaces))
    return [
        LackingRight(here, namespace)
        for right in rights
        if wanted and not may(connection, right._replace(is_local=False), "")
        for here in [right._replace(is_local=True)]
        for namespace in wanted
        if not may(connection, here, namespace)
    ]


def rights_table(lacking: Iterable[LackingRight]) -> str:
    """Verb, resource and namespace of each, in columns."""
    head = ("VERB", "RESOURCE", "NAMESPACE")
    rows = [
        head,
        *dict.fromkeys((item.right.verb, item.right.name, shortened(item.namespace) or "(all)") for item in lacking),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


class _User(msgspec.Struct, gc=False):
    username: str = ""


class _Known(msgspec.Struct, gc=False):
    user: _User = msgspec.field(name="userInfo", default_factory=_User)


class _Reviewed(msgspec.Struct, gc=False):
    status: _Known


class _Rule(msgspec.Struct, gc=False):
    groups: list[str] | None = msgspec.field(name="apiGroups", default=None)
    resources: list[str] | None = None
    verbs: list[str] | None = None
    names: list[str] | None = msgspec.field(name="resourceNames", default=None)


class _Rules(msgspec.Struct, gc=False):
    rules: list[_Rule] | None = msgspec.field(name="resourceRules", default=None)


class _OwnRules(msgspec.Struct, gc=False):
    status: _Rules


def own_rules(connection: Connection, body: bytes) -> list[dict[str, Any]]:
    """What a SelfSubjectRulesReview was answered. Raises ClusterError."""
    return decoded_whole(connection, f"POST {_RULES}", body, _OwnRules)["status"].get("resourceRules") or []


def service_account(connection: Connection) -> str | None:
    """The service account that we act as; None for a person, or where the server does not tell."""
    if not connection.has_token:
        return None
    kind = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    answer = connection.send("POST", _REVIEWS, kind)
    if answer.status >= 300:
        return None
    name = decoded(connection, f"POST {_REVIEWS}", answer.body, _Reviewed).status.user.username
    return name if name.startswith("system:serviceaccount:") else None


def surplus_rights(connection: Connection, namespace: str) -> list[str]:
    """What this account may do in a namespace and no part of us ever does, for people; empty where that is not told.

    ``namespace``: one in which we have no role of our own, so that what is found is given for all, or is a mistake.
    Raises ClusterError if the server cannot be reached.
    """
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview"}
    answer = connection.send("POST", _RULES, {**kind, "spec": {"namespace": namespace}})
    if answer.status >= 300:
        return []
    rules = own_rules(connection, answer.body)
    return sorted({text for rule in rules for text in _surplus_of(rule)})


EXPECTED: Final = frozenset(
    (right.group, right.name, right.verb) for part in PARTS for right in part.rights if not right.is_local
)
"""What ``deploy`` grants for all namespaces besides reading; the parts that are not bound by default included."""
_OF_EVERYBODY: Final = ("authorization.k8s.io", "authentication.k8s.io")
"""Questions about oneself, which every account may ask."""


def _surplus_of(rule: Mapping[str, Any]) -> Iterable[str]:
    for group in rule.get("apiGroups") or ():
        if group in _OF_EVERYBODY:
            continue
        for resource in rule.get("resources") or ():
            verbs = [verb for verb in rule.get("verbs") or () if verb not in READING]
            too_much = [verb for verb in verbs if (group, resource, verb) not in EXPECTED]
            if resource in ("secrets", "*") and not too_much:
                too_much = list(rule.get("verbs") or ())
            if too_much:
                name = shortened(resource) + (f" ({shortened(group)})" if group else "")
                yield f"{'/'.join(map(shortened, too_much))} {name}"


def surplus_warning(found: list[str]) -> str:
    """The warning about rights beyond all need."""
    told = first_few(found, MOST_TOLD)
    return f"this account may do more than is ever needed: {told}; docs/rights.md lists what each mode needs"
