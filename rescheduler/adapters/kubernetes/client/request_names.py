"""What a request is about, in the few words that metrics and limits go by: a verb, and a kind without any name."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import urlsplit

EVICTION: Final = "pods/eviction"
LEASE: Final = "leases.coordination.k8s.io"
_VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_READS: Final = ("GET", "HEAD")


class RequestName(NamedTuple):
    """As RBAC names it. ``kind``: ``pods``, ``pods/eviction``, ``jobs.batch``, or the path's first part (``version``).

    Neither namespaces nor names of objects stand in it, so there are as many as there are kinds.
    """

    verb: str
    kind: str

    @property
    def is_read(self) -> bool:
        """Whether it changes nothing."""
        return self.verb in ("get", "list", "watch")


def request_name(method: str, path: str, *, is_stream: bool = False) -> RequestName:
    """Name a request by its HTTP method and its path; ``is_stream``: a watch."""
    parts = [part for part in urlsplit(path).path.split("/") if part]
    group, rest = _split(parts)
    if len(rest) > 2 and rest[0] == "namespaces":
        rest = rest[2:]
    kind = rest[0] if rest else (parts[0] if parts else "")
    if len(rest) > 2:
        kind += f"/{rest[2]}"
    if rest and group:
        kind += f".{group}"
    if is_stream:
        return RequestName("watch", kind)
    if method in _READS:
        return RequestName("get" if len(rest) != 1 else "list", kind)
    return RequestName(_VERBS.get(method, method.lower()), kind)


def _split(parts: list[str]) -> tuple[str, list[str]]:
    """The API group ("" for the core) and what comes after its version; nothing for other paths and for discovery."""
    if parts[:1] == ["apis"]:
        return (parts[1], parts[3:]) if len(parts) > 3 else ("", [])
    return ("", parts[2:]) if parts[:1] == ["api"] else ("", [])
