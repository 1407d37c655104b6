"""Whether the account of a daemon may do what its policy needs, and whether it may do more than that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.ledger.ledger_text import same_kind
from rescheduler.adapters.kubernetes.rights.daemon_needs import daemon_needs
from rescheduler.adapters.kubernetes.rights.needed_rights import READING, own_rules, service_account
from rescheduler.adapters.kubernetes.rights.rights import NeededRight, may
from rescheduler.model.printable import shortened
from rescheduler.policy.fields.policy import Policy

_RULES: Final = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
_ABOUT_ONESELF: Final = ("selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews")
"""Questions that every account may ask."""
ELSEWHERE: Final = "kube-system"
"""A namespace in which nothing is needed but what is needed everywhere."""


class DaemonRights(NamedTuple):
    """``missing``: what is needed and not allowed. ``excess``: what is allowed and not needed, for people."""

    missing: tuple[NeededRight, ...]
    excess: tuple[str, ...]


def daemon_rights(connection: Connection, policy: Policy) -> DaemonRights:
    """Ask the API server what we may do. Raises ClusterError where it cannot be asked.

    Excess is looked for with service accounts only, which are made for us; people often are administrators.
    """
    needs = daemon_needs(policy)
    lacking = tuple(need for need in needs if not may(connection, need.right, need.namespace))
    if service_account(connection) is None:
        return DaemonRights(lacking, ())
    places = sorted({ELSEWHERE, policy.hold.namespace, policy.leader_election.namespace})
    excess = {text: None for place in places for text in _excess(connection, place, needs)}
    return DaemonRights(lacking, tuple(excess))


def _excess(connection: Connection, place: str, needs: Iterable[NeededRight]) -> Iterator[str]:
    """What may be done in a namespace and is not needed there; nothing where the server does not tell."""
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": place}}
    answer = connection.send("POST", _RULES, kind)
    if answer.status >= 300:
        return
    needed = {
        (need.right.group, need.right.name, need.right.verb, name)
        for need in needs
        if need.namespace in ("", place)
        for name in same_kind(need.right.object_name)
    }
    where = "" if place == ELSEWHERE else f" in {place}"
    for rule in own_rules(connection, answer.body):
        for text in _not_needed(rule, needed):
            yield text + where


def _not_needed(rule: Mapping[str, Any], needed: set[tuple[str, str, str, str]]) -> Iterator[str]:
    names = rule.get("resourceNames") or ("",)
    for group in rule.get("apiGroups") or ():
        for resource in rule.get("resources") or ():
            if resource in _ABOUT_ONESELF:
                continue
            verbs = [
                verb
                for verb in rule.get("verbs") or ()
                if not _is_harmless(verb, resource)
                and not all((group, resource, verb, name) in needed for name in names)
                and (group, resource, verb, "") not in needed
            ]
            if verbs:
                name = shortened(resource) + (f" ({shortened(group)})" if group else "")
                yield f"{'/'.join(map(shortened, verbs))} {name}"


def _is_harmless(verb: str, resource: str) -> bool:
    """Reading, but for what is secret."""
    return verb in READING and resource not in ("secrets", "*")
