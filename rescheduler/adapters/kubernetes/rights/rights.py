"""What we may do on a cluster, asked of the API server itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.decoded_answers import decoded

_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_OBJECT: Final = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}


class Right(NamedTuple):
    """One thing that needs a permission. ``is_local``: in one namespace only; else in all, or of no namespace.

    ``object_name``: of one object only; else of all.
    """

    verb: str
    resource: str
    group: str = ""
    subresource: str = ""
    is_local: bool = True
    object_name: str = ""

    @property
    def name(self) -> str:
        """The resource as roles name it."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    @property
    def text(self) -> str:
        """As people write it."""
        return f"{self.verb} {self.name}"


def missing(connection: Connection, needed: Iterable[Right], namespace: str, scope: Iterable[str] = ()) -> list[Right]:
    """Those of these rights that we do not have; local ones in this namespace. Raises ClusterError.

    ``scope``: the only namespaces whose pods may be moved, none for all; a right may be given in each of them alone.
    """
    places = sorted(scope)
    return [right for right in needed if not _has(connection, right, namespace, places)]


def _has(connection: Connection, right: Right, namespace: str, scope: Sequence[str]) -> bool:
    if may(connection, right, namespace):
        return True
    here = right._replace(is_local=True)
    return not right.is_local and bool(scope) and all(may(connection, here, place) for place in scope)


class _Verdict(msgspec.Struct, gc=False):
    allowed: bool = False


class _Review(msgspec.Struct, gc=False):
    status: _Verdict


def may(connection: Connection, right: Right, namespace: str) -> bool:
    """Whether we have a right. True where the server does not tell: the act itself will. Raises ClusterError."""
    attributes = {
        "verb": right.verb,
        "group": right.group,
        "resource": right.resource,
        "subresource": right.subresource,
        "namespace": namespace if right.is_local else "",
        "name": right.object_name,
    }
    answer = connection.send("POST", _REVIEWS, {**_OBJECT, "spec": {"resourceAttributes": attributes}})
    if answer.status >= 300:
        return True
    return decoded(connection, f"POST {_REVIEWS}", answer.body, _Review).status.allowed


# A right that a daemon needs, and what for.


class NeededRight(NamedTuple):
    """A right that is needed, where (empty: everywhere), and for what.

    ``is_vital``: a daemon that evicts should not begin without it; else it gets along, and knows or tells less.
    """

    right: Right
    namespace: str
    purpose: str
    is_vital: bool = True
