"""Asks a daemon's API with a token, for whoever opens its page through ``rescheduler ui``."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from rescheduler.extension_points import ClusterError

SECONDS: Final = 40.0
"""Longer than the daemon takes to say that it is busy."""
LARGEST_ANSWER: Final = 16 * 2**20
PASSED_ON: Final = ("content-type", "content-security-policy", "etag", "retry-after")


class UpstreamAnswer(NamedTuple):
    """Status, the headers that are passed on, and the body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class PageUpstream:
    """One daemon. ``read_token`` is asked for each request, and raises ClusterError."""

    def __init__(self, url: str, read_token: Callable[[], str], ca_file: str | None = None) -> None:
        place = urlsplit(url)
        self._is_tls = place.scheme == "https"
        self._host, self._port = place.hostname or "", place.port
        self._context = ssl.create_default_context(cafile=ca_file) if self._is_tls else None
        self._read_token = read_token

    def ask(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> UpstreamAnswer:
        """The answer to one request, which gets the token besides. Raises ClusterError."""
        sent = {**headers, "Authorization": f"Bearer {self._read_token()}"}
        connection = self._connection()
        try:
            connection.request(method, target, body, sent)
            answer = connection.getresponse()
            data = answer.read(LARGEST_ANSWER + 1)
            if len(data) > LARGEST_ANSWER:
                raise ClusterError("the daemon's answer is too large")
            found = {name.lower(): value for name, value in answer.getheaders()}
            return UpstreamAnswer(answer.status, {name: found[name] for name in PASSED_ON if name in found}, data)
        except (OSError, http.client.HTTPException) as error:
            raise ClusterError(f"the daemon does not answer: {type(error).__name__}") from None
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        if self._context is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=SECONDS)
        return http.client.HTTPSConnection(self._host, self._port, timeout=SECONDS, context=self._context)
