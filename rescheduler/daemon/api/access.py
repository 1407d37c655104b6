"""Whether the account of a request has the right that it needs."""

from __future__ import annotations

from dataclasses import dataclass

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request

from rescheduler.daemon.api.refusals import RefusedError
from rescheduler.daemon.api.request_guard import unauthorized
from rescheduler.extension_points import AccessReviewer, ClusterError
from rescheduler.model.daemon.account import Account, ApiRight
from rescheduler.model.printable import printable


@dataclass(frozen=True)
class Access:
    """Asks the cluster, some questions at a time."""

    reviewer: AccessReviewer
    limiter: CapacityLimiter

    async def require(
        self, request: Request, verb: str, resource: str, subresource: str = "", *, namespace: str = "", name: str = ""
    ) -> Account:
        """The account, if it has the right. Raises RefusedError: 403 names verb and resource, 503 if nobody can say."""
        account = _account(request)
        right = ApiRight(verb, resource, subresource, namespace, name)
        if not await self.has(request, right):
            raise RefusedError(403, f"{printable(account.name, 300)} may not {right}")
        return account

    async def has(self, request: Request, right: ApiRight) -> bool:
        """Whether the account has the right. Raises RefusedError, 503, if nobody can say."""
        account = _account(request)
        try:
            return await to_thread.run_sync(self.reviewer.allows, account, right, limiter=self.limiter)
        except ClusterError:
            raise RefusedError(503, "authorization unavailable", {"Retry-After": "5"}) from None


def _account(request: Request) -> Account:
    account = getattr(request.state, "account", None)
    if not isinstance(account, Account):  # nobody has asked for a token: a fault of ours, and no way in
        raise unauthorized()
    return account
