"""Asks the cluster whose token it is, and what he may do: TokenReview and SubjectAccessReview."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Hashable
from typing import Any, Final, Generic, TypeVar

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import refusal
from rescheduler.extension_points import AccessReviewer, Clock, ClusterError
from rescheduler.model.daemon.account import GROUP, Account, ApiRight

# Answers of the cluster about tokens and rights, kept for a short time; safe to use from many threads.

YES_SECONDS: Final = 60.0
NO_SECONDS: Final = 10.0
MOST_KEPT: Final = 4096
T = TypeVar("T")


class ReviewCache(Generic[T]):
    """A yes is kept for a minute, a no (a false value) for ten seconds; of too many the oldest go first."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[Hashable, tuple[T, float]] = {}

    def get(self, key: Hashable, ask: Callable[[], T]) -> T:
        """The answer that is kept, or a new one; what ``ask`` raises is raised, and nothing is kept."""
        now = self._clock.monotonic()
        with self._lock:
            found = self._kept.get(key)
        if found is not None and now < found[1]:
            return found[0]
        answer = ask()
        ends_at = now + (YES_SECONDS if answer else NO_SECONDS)  # from before it was asked: never kept for longer
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = (answer, ends_at)
            while len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return answer


IDENTITY_PATH: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_PATH: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_TIMEOUT: Final = (3.0, 5.0)


class _User(msgspec.Struct, gc=False):
    username: str = ""
    uid: str = ""
    groups: list[str] | None = None
    extra: dict[str, list[str]] | None = None


class _TokenStatus(msgspec.Struct, gc=False):
    authenticated: bool = False
    user: _User = msgspec.field(default_factory=_User)
    audiences: list[str] | None = None


class _TokenReview(msgspec.Struct, gc=False):
    status: _TokenStatus


class _AccessStatus(msgspec.Struct, gc=False):
    allowed: bool
    denied: bool = False


class _AccessReview(msgspec.Struct, gc=False):
    status: _AccessStatus


_Review = TypeVar("_Review", _TokenReview, _AccessReview)


class AccessReviews(AccessReviewer):
    """Over one connection; answers are kept as ``ReviewCache`` says, tokens only by their hash.

    ``audience``: tokens must be made for it.
    """

    def __init__(self, connection: Connection, audience: str, clock: Clock) -> None:
        """Nothing is sent yet."""
        self._connection = connection
        self._audience = audience
        self._accounts: ReviewCache[Account | None] = ReviewCache(clock)
        self._rights: ReviewCache[bool] = ReviewCache(clock)

    def account_of(self, token: str) -> Account | None:
        """Whose token it is; None where it is not accepted, or was made for somebody else. Raises ClusterError."""
        key = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        return self._accounts.get(key, lambda: self._review_token(token))

    def allows(self, account: Account, right: ApiRight) -> bool:
        """Whether the account has a right. Raises ClusterError."""
        return self._rights.get((account, right), lambda: self._review_access(account, right))

    def _review_token(self, token: str) -> Account | None:
        spec = {"token": token, "audiences": [self._audience]}
        try:
            found = self._ask(IDENTITY_PATH, "authentication.k8s.io/v1", "TokenReview", spec, _TokenReview).status
        except ClusterError as error:
            raise ClusterError(str(error).replace(token, "***")) from None  # should a server have repeated it
        # An authenticator that knows no audiences answers without them: then the token was made for anybody.
        if not found.authenticated or not found.user.username or self._audience not in (found.audiences or ()):
            return None
        extra = tuple((key, tuple(values)) for key, values in sorted((found.user.extra or {}).items()))
        return Account(found.user.username, found.user.uid, tuple(found.user.groups or ()), extra)

    def _review_access(self, account: Account, right: ApiRight) -> bool:
        attributes = {"group": GROUP, **{key: value for key, value in right._asdict().items() if value}}
        spec = {
            "user": account.name,
            "uid": account.uid,
            "groups": list(account.groups),
            "extra": {key: list(values) for key, values in account.extra},
            "resourceAttributes": attributes,
        }
        kind = "SubjectAccessReview"
        found = self._ask(ACCESS_PATH, "authorization.k8s.io/v1", kind, spec, _AccessReview).status
        return found.allowed and not found.denied

    def _ask(self, path: str, version: str, kind: str, spec: dict[str, Any], form: type[_Review]) -> _Review:
        body = {"apiVersion": version, "kind": kind, "spec": spec}
        answer = self._connection.send("POST", path, body, timeout=_TIMEOUT)
        if answer.status not in (200, 201):
            raise refusal(self._connection.server, "", "POST", path, answer.status, answer.body)
        try:
            return msgspec.json.decode(answer.body, type=form)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise ClusterError(f"{self._connection.server} answered a {kind} in a form that cannot be read") from None
