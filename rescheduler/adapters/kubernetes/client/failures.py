"""What to tell people when the API server cannot be reached, refuses, or answers something unusable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec

from rescheduler.extension_points import ClusterError, NotSentError
from rescheduler.model.printable import shortened

Found = TypeVar("Found")


class NotServedError(ClusterError):
    """The server does not know this kind (404)."""


class ForbiddenError(ClusterError):
    """Our account may not do this (403)."""


class PagesExpiredError(ClusterError):
    """The list changed too much between two pages (410): start it again."""


class InvalidRequestError(ClusterError):
    """The server does not take a request of this form (400, 422)."""


class ServerBusyError(ClusterError):
    """The server has too much to do (429, 5xx). ``retry_after_seconds``: what it asks us to wait, 0 if it does not."""

    def __init__(self, message: str, retry_after_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class OutcomeUnknownError(ClusterError):
    """A request was sent, but no answer came: a write may or may not have been done."""

    def __init__(self, message: str, *, is_timeout: bool = False) -> None:
        """``is_timeout``: the server was silent, rather than that the connection broke."""
        super().__init__(message)
        self.is_timeout = is_timeout


class WriteRefusedError(NotSentError):
    """A write was asked of a read-only connection, or while we may not write; nothing was sent."""


class StatusMessage(msgspec.Struct, gc=False):
    """The message of a Kubernetes Status object."""

    message: str = ""
    reason: str = ""


_STATUS = msgspec.json.Decoder(StatusMessage)  # made here and not by the threads that read


def refusal(server: str, name: str, method: str, path: str, status: int, body: bytes) -> ClusterError:
    """The error for an answer that is not 2xx."""
    said = server_message(body)
    if status == 401:
        return ClusterError(
            f"{server} does not accept the credentials of {name!r} (401 Unauthorized{said}): the token or certificate "
            f"has expired or is not valid here; log in again and check with: kubectl --context {name} get nodes"
        )
    if status == 403:
        return ForbiddenError(
            f"{server} forbids us to {_verb(method, path)} {described(path)} (403 Forbidden{said}); "
            f"{_remedy(method, path, said)}"
        )
    if status == 404:
        return NotServedError(f"{server} does not serve {described(path)} (404 Not Found{said})")
    if status == 410:
        return PagesExpiredError(
            f"{server} let the list of {described(path)} expire between two pages (410 Gone{said})"
        )
    if status in (400, 422):
        return InvalidRequestError(f"{server} answered {method} {path} with status {status}{said}")
    if 300 <= status < 400:
        return ClusterError(f"{server} answered {method} {path} with a redirect ({status}); this is no API server")
    return ClusterError(f"{server} answered {method} {path} with status {status}{said}")


def _remedy(method: str, path: str, said: str) -> str:
    """Where the right to a request stands. What only some policies need is not in the roles that everybody binds."""
    if "ValidatingAdmissionPolicy" in said:
        return "docs/rights.md tells what the guards of deploy/ let through, and where names are written in them"
    resource = described(path).partition(" ")[0]
    if resource == "configmaps":
        return "deploy/scheduler-configuration.yaml grants it: write this namespace and name there, and apply it"
    if resource == "secrets":
        return "give this account a Role in that namespace that names the Secret, with the verb get"
    files = ("reading.yaml",) if method == "GET" else ("reading.yaml", "acting.yaml")
    typed = " ".join(f"-f deploy/{file}" for file in files)
    return f"deploy/{files[-1]} grants what is needed: kubectl apply {typed}, and bind it to this account"


def server_message(body: bytes) -> str:
    """The server's own words, escaped and short, with a leading colon; empty if it said nothing."""
    try:
        text = _STATUS.decode(body).message
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        text = body[:200].decode("utf-8", "replace").strip()
    return f": {shortened(text, 300)}" if text else ""


def broken_tls(server: str, method: str, path: str, error: Exception) -> str:
    """Words for a TLS connection that failed once it was made: with TLS 1.3 also for want of our certificate."""
    cause = _cause(str(error))
    return f"the TLS connection to {server} broke after {method} {path} was sent; its outcome is not known: {cause}"


def unreachable(server: str, method: str, path: str, error: BaseException) -> str:
    """Words for a connection that failed."""
    kind = type(error).__name__
    cause = _cause(str(error))
    if "Timeout" in kind:
        return f"{server} did not answer {method} {path} in time ({cause}); is it reachable from here?"
    if "SSL" in kind:
        return f"no trusted TLS connection to {server}: {cause}; check the certificates of this context"
    if "IncompleteRead" in cause or "ProtocolError" in kind or "IncompleteRead" in kind:
        return f"{server} broke off its answer to {method} {path}: {cause}"
    return f"{server} cannot be reached: {cause}; check the server's address in the kubeconfig and the network"


def described(path: str) -> str:
    """An API path in words: ``poddisruptionbudgets in API group policy``, ``pods/eviction in namespace a``."""
    parts = [part for part in urlsplit(path).path.split("/") if part]
    group = ""
    if parts[:1] == ["apis"] and len(parts) > 2:
        group, parts = parts[1], parts[3:]
    elif parts[:1] == ["api"]:
        parts = parts[2:]
    where = ""
    if parts[:1] == ["namespaces"] and len(parts) > 2:
        where, parts = f" in namespace {shortened(parts[1])}", parts[2:]
    resource = parts[0] if parts else path
    if len(parts) > 2:
        resource = f"{resource}/{parts[2]}"
    return shortened(resource) + (f" in API group {shortened(group)}" if group else "") + where


def _verb(method: str, path: str) -> str:
    parts = [part for part in urlsplit(path).path.split("/") if part]
    parts = parts[3:] if parts[:1] == ["apis"] else parts[2:]
    named = len(parts) > (3 if parts[:1] == ["namespaces"] and len(parts) > 2 else 1)
    verbs = {"GET": "get" if named else "list", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
    return verbs.get(method, method)


def _cause(text: str) -> str:
    """The innermost reason of a urllib3 message, without object addresses."""
    return shortened(text.rpartition("object at 0x")[2].partition(">: ")[2] or text, 300)


def all_tried(acts: Iterable[Callable[[], Found]]) -> list[Found]:
    """What each of them found. Raises ClusterError, of the last that failed, when each was tried."""
    found, failure = [], None
    for act in acts:
        try:
            found.append(act())
        except ClusterError as error:
            failure = error
    if failure is not None:
        raise failure
    return found
