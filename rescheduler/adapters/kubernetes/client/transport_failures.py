"""Failures of the transport, told as errors of the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rescheduler.adapters.kubernetes.client.failures import OutcomeUnknownError, unreachable
from rescheduler.extension_points import ClusterError


@contextmanager
def transport_failures(server: str, method: str, path: str) -> Iterator[None]:
    """Raises OutcomeUnknownError where the server may have got the request, ClusterError where it cannot have."""
    import urllib3

    try:
        yield
    except (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError) as error:
        raise ClusterError(unreachable(server, method, path, error)) from error
    except (urllib3.exceptions.HTTPError, OSError) as error:
        text = unreachable(server, method, path, error)
        if isinstance(error, urllib3.exceptions.SSLError | urllib3.exceptions.ProxyError):
            raise ClusterError(text) from error
        raise OutcomeUnknownError(text, is_timeout="Timeout" in type(error).__name__) from error
