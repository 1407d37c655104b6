"""What metrics providers are made with, beside their own arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.metrics.http.credentials import ReadSecret, SecretHeader
from rescheduler.adapters.metrics.http.http_session import HttpSession, Warn, http_session, no_warning
from rescheduler.extension_points import MetricsError
from rescheduler.policy.fields.metrics_access import HttpAccess


class ProviderContext(NamedTuple):
    """What providers need of their surroundings."""

    read_secret: ReadSecret | None = None
    """Gives the text behind NAMESPACE/NAME/KEY; None where there is no cluster."""
    connection: Callable[[], Connection] | None = None
    """Opens the connection to the cluster; None where there is none (a recording is looked at, say)."""
    folder: Path = Path()
    """Where relative files stand: the policy's own folder."""
    warn: Warn = no_warning
    """Told, once, of what makes the load easy to forge."""

    def connected(self, provider: str) -> Connection:
        """The connection to the cluster. Raises MetricsError where there is none, ClusterError where it fails."""
        if self.connection is None:
            raise MetricsError(f"{provider} asks the cluster itself, and there is none here; use another provider")
        return self.connection()

    def session(
        self, provider: str, access: HttpAccess, address: str, secret_headers: Mapping[str, SecretHeader] | None = None
    ) -> HttpSession:
        """A session to an address with what ``access`` says of it; ``secret_headers``: those that carry credentials."""
        return http_session(
            access,
            self.read_secret,
            provider=provider,
            address=address,
            folder=self.folder,
            secret_headers=secret_headers,
            warn=self.warn,
        )
