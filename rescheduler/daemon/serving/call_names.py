"""By which names we may be called: whoever lets a browser call us by another name, or from a page, is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from starlette.types import Scope

from rescheduler.daemon.api.refusals import RefusedError

_PORT: Final = re.compile(r":[0-9]{1,5}$")
_CLUSTER_NAMES: Final = (".svc", ".svc.cluster.local")
"""Nobody outside of a cluster can own such a name."""


@dataclass(frozen=True)
class CallNames:
    """``hosts``: further names, in lower case. ``is_loopback``: only this machine reaches us."""

    hosts: frozenset[str] = frozenset()
    is_loopback: bool = True

    def require(self, scope: Scope, headers: list[tuple[bytes, bytes]]) -> None:
        """Raise RefusedError for a request that a page of another site may have made."""
        names = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(names) != 1 or not self._is_ours(names[0]):
            raise RefusedError(
                403, "called by a host name that is not the server's; the policy's api.hosts may name it"
            )
        origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
        if any(origin.lower() != f"{scope['scheme']}://{names[0]}".lower() for origin in origins):
            raise RefusedError(403, "pages of other sites may not ask here")
        if scope["method"] == "OPTIONS" and any(name == b"access-control-request-method" for name, _ in headers):
            raise RefusedError(403, "pages of other sites may not ask here")

    def _is_ours(self, host: str) -> bool:
        name = _PORT.sub("", host).lower().removesuffix(".")
        try:  # an address cannot be made to lead elsewhere, as a name can
            address = ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            is_of_cluster = not self.is_loopback and name.endswith(_CLUSTER_NAMES)
            return name == "localhost" or name in self.hosts or is_of_cluster
        return address.is_loopback or not self.is_loopback
