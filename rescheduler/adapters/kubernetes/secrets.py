"""Reads one entry of a Secret of a live cluster: a credential of a metrics provider, or a token of our own server."""

from __future__ import annotations

import base64
import binascii

from rescheduler.adapters.kubernetes.connection import Connection
from rescheduler.adapters.kubernetes.decoding.decode import decode
from rescheduler.adapters.kubernetes.decoding.errors import BrokenTextError, ObjectError
from rescheduler.adapters.kubernetes.decoding.metadata import Decoded
from rescheduler.adapters.kubernetes.failures import NotServedError
from rescheduler.adapters.kubernetes.paths import secret_path
from rescheduler.extension_points import ClusterError


class _Secret(Decoded):
    data: dict[str, str] | None = None


def read_secret(connection: Connection, name: str) -> str:
    """The text behind NAMESPACE/NAME/KEY. Raises ClusterError, which never repeats anything of what stands there."""
    namespace, secret, key = name.split("/", 2)
    where = f"{connection.server}: Secret {namespace}/{secret}"
    try:
        found = decode(connection.get(secret_path(namespace, secret)), _Secret).data or {}
    except NotServedError as error:
        raise ClusterError(f"{where} does not exist") from error
    except (ObjectError, BrokenTextError):
        raise ClusterError(f"{where} cannot be read: it is not of a Secret's form") from None
    if key not in found:
        raise ClusterError(f"{where} has no entry {key}; it has {', '.join(sorted(found)) or 'none'}")
    try:
        return base64.b64decode(found[key], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise ClusterError(f"{where}: the entry {key} is no text") from None
