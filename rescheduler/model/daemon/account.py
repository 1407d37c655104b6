"""Who asks us over the network, and for what: accounts and rights as Kubernetes' own authorisation knows them."""

from __future__ import annotations

from typing import NamedTuple

GROUP = "rescheduler.dev"
"""API group of the rights; no object of it exists, roles grant verbs on its resources all the same."""


class Account(NamedTuple):
    """Somebody whose token was accepted. ``extra``: what else is known, by key."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()


class ApiRight(NamedTuple):
    """One verb on one resource of our API group; ``namespace`` "": in all of them, ``name`` "": any."""

    verb: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        below = f"/{self.subresource}" if self.subresource else ""
        where = f" in namespace {self.namespace}" if self.namespace else ""
        return f"{self.verb} {self.resource}{below} in API group {GROUP}{where}"
