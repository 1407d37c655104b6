"""Which addresses Go's ``url.Parse`` takes, as descheduler asks it before it starts."""

from __future__ import annotations

import re
from typing import Final

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):", re.ASCII)
_PORT: Final = re.compile(r"(?::[0-9]*)?", re.ASCII)
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})", re.ASCII)
_NOT_IN_HOSTS: Final = re.compile(r"[\x00-\x20\"<>\\^`{|}]")


def url_problem(text: str) -> str | None:
    """What is wrong with an address; None: it can be parsed, which does not say that anybody answers there."""
    if re.search(r"[\x00-\x1f\x7f]", text):
        return "holds a control character"
    if text.startswith(":"):
        return "begins with a colon; write http:// before it"
    text = text.partition("#")[0]
    scheme = _SCHEME.match(text)
    rest = (text[scheme.end() :] if scheme else text).partition("?")[0]
    if not rest.startswith("/"):
        if scheme:
            return None
        return "has no scheme; write http:// before it" if ":" in rest.partition("/")[0] else _path_problem(rest)
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        host, slash, path = rest[2:].partition("/")
        return _host_problem(host.rpartition("@")[2]) or _path_problem(slash + path)
    return _path_problem(rest)


def _path_problem(path: str) -> str | None:
    return "holds a % without two hexadecimal digits" if _BAD_ESCAPE.search(path) else None


def _host_problem(host: str) -> str | None:
    if host.startswith("["):
        name, bracket, port = host.rpartition("]")
        if not bracket:
            return "lacks the bracket ] behind its host"
    else:
        at = host.rfind(":")
        name, port = (host, "") if at < 0 else (host[:at], host[at:])
    if not _PORT.fullmatch(port):
        return f"{port[:20]!r} is no port"
    return "holds a character that no host has" if _NOT_IN_HOSTS.search(name) else _path_problem(name)
