"""Failures of the transport, told as errors of the cluster: whether the server may have got the request."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rescheduler.adapters.kubernetes.client.failures import OutcomeUnknownError, broken_tls, unreachable
from rescheduler.adapters.kubernetes.client.tls import SharedContext
from rescheduler.extension_points import ClusterError


@contextmanager
def transport_failures(server: str, method: str, path: str) -> Iterator[None]:
    """Raises ClusterError where no byte of the request can have been written, else OutcomeUnknownError.

    Only what ``telling_vain_connects`` or urllib3 itself says of making a connection is proof of the former: a TLS or
    proxy error may as well come after the request.
    """
    import urllib3

    in_vain = (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError)
    try:
        yield
    except (urllib3.exceptions.HTTPError, OSError) as error:
        first = error.original_error if isinstance(error, urllib3.exceptions.ProxyError) else error
        if isinstance(first, in_vain):
            why = first.__cause__ if isinstance(first.__cause__, ssl.SSLError) else error
            raise ClusterError(unreachable(server, method, path, why)) from error
        is_tls = isinstance(first, urllib3.exceptions.SSLError)
        text = broken_tls(server, method, path, error) if is_tls else unreachable(server, method, path, error)
        raise OutcomeUnknownError(text, is_timeout="Timeout" in type(error).__name__) from error


def telling_vain_connects(pool: Any) -> Any:
    """A pool manager of urllib3 whose connections raise one sort of error for all that goes wrong while they are made.

    As it comes a handshake that failed and an answer that was cut off are the same error. They share one TLS context.
    """
    shared = {"tls": SharedContext()}
    pool.pool_classes_by_scheme = {
        scheme: type(kind.__name__, (kind,), {"ConnectionCls": type("Telling", (_Telling, kind.ConnectionCls), shared)})
        for scheme, kind in pool.pool_classes_by_scheme.items()
    }
    return pool


class _Telling:
    """Goes before a connection class."""

    tls: SharedContext

    def connect(self) -> None:
        """Connect: with a proxy's tunnel and with TLS, where there are to be."""
        import urllib3

        try:
            self.tls.lend(self)
            super().connect()  # type: ignore[misc]
        except (urllib3.exceptions.HTTPError, OSError) as error:
            if isinstance(error, urllib3.exceptions.ConnectTimeoutError):
                raise
            raise urllib3.exceptions.NewConnectionError(self, str(error)) from error  # type: ignore[arg-type]
