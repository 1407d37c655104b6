"""The daemon's REST API on its address, as the policy wants it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rescheduler.daemon.explaining import Explains
from rescheduler.daemon.people import People
from rescheduler.extension_points import AccessReviewer, Clock
from rescheduler.policy.api import ApiPolicy
from rescheduler.policy.errors import PolicyError, Problem
from rescheduler.server.call_names import CallNames
from rescheduler.server.daemon_app import create_daemon_app
from rescheduler.server.listening import Door, Listener, resolve
from rescheduler.server.protection import is_loopback

LARGEST_HEAD: Final = 131072
"""A token that is much too long is answered as any wrong one."""


def daemon_listener(
    api: ApiPolicy,
    people: People,
    explains: Explains,
    reviewer: AccessReviewer,
    clock: Clock,
    tell: Callable[[str], None] = lambda _: None,
) -> Listener:
    """A server that is bound and not yet started. ``tell`` hears of faults. Raises ListenError and PolicyError."""
    host = api.address.rpartition(":")[0].strip("[]").lower()
    names = CallNames(
        frozenset(name.lower().removesuffix(".") for name in (*api.hosts, host) if name),
        is_loopback(resolve(api.address).host),
    )
    app = create_daemon_app(people, explains, reviewer, clock, names=names, tell=tell)
    return Listener(app, api.address, _door(api))


def _door(api: ApiPolicy) -> Door:
    def require(address: str, host: str) -> None:
        if api.tls is None and not is_loopback(host):
            text = f"{address} can be reached from elsewhere, and tokens would travel in clear text; write tls"
            raise PolicyError([Problem("", 0, 0, "api.address", text)])

    return Door("daemon-api", "api", api.tls, require, LARGEST_HEAD)
