"""One HTTP request as the API server wants it, and what the head of its answer says about time."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import isnan
from typing import Any, Final
from urllib.parse import urlencode

from rescheduler import __version__
from rescheduler.adapters.kubernetes.client.credentials import Endpoint

_LONGEST_WAIT: Final = 10.0


def begin_request(
    endpoint: Endpoint,
    method: str,
    path: str,
    params: Mapping[str, str] | None,
    headers: Mapping[str, str] | None,
    body: bytes | None,
    timeout: tuple[float, float],
) -> Any:
    """Send, and wait until the answer begins: urllib3's, its body not read. ``timeout``: to connect, and of silence."""
    import urllib3

    url = endpoint.server.rstrip("/") + path + ("?" + urlencode(params) if params else "")
    sent = {"Accept": "application/json", "User-Agent": f"rescheduler/{__version__}", **(headers or {})}
    authorization = endpoint.authorization()
    if authorization:
        sent["Authorization"] = authorization
    waiting = urllib3.Timeout(connect=timeout[0], read=timeout[1])
    return endpoint.pool.request(
        method, url, body=body, headers=sent, timeout=waiting, retries=False, redirect=False, preload_content=False
    )


def wait_seconds(headers: Mapping[str, str], otherwise: float = 1.0) -> float:
    """What the server asks us to wait, no more than 10 s. ``headers``: their names in lower case."""
    try:
        asked = float(headers.get("retry-after", otherwise))
    except ValueError:
        return otherwise
    return otherwise if isnan(asked) else min(max(asked, 0.0), _LONGEST_WAIT)


def server_date(text: str | None) -> float | None:
    """The server's clock, seconds since the epoch; None where it does not tell."""
    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except ValueError:
        return None
