"""Reads single ConfigMaps of a live cluster: a scheduler's configuration may stand in one."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import NotServedError
from rescheduler.adapters.kubernetes.client.paths import config_map_path, secret_path
from rescheduler.adapters.kubernetes.objects.config_map import entries_of
from rescheduler.adapters.kubernetes.objects.decoding.decode import BrokenTextError, ObjectError, decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ApiStruct
from rescheduler.extension_points import ClusterError

# Reads one entry of a Secret of a live cluster: a credential of a metrics provider, or a token of our own server.


class _Secret(ApiStruct):
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


def read_config_maps(connection: Connection, keys: Iterable[str]) -> dict[str, Mapping[str, str]]:
    """``data`` of each ConfigMap by ``NAMESPACE/NAME``. Raises ClusterError, also for one that is not there."""
    found = {}
    for key in dict.fromkeys(keys):
        path = config_map_path(*key.split("/", 1))
        try:
            found[key] = entries_of(connection.get(path))
        except NotServedError as error:
            raise ClusterError(
                f"{connection.server}: there is no ConfigMap {key}, which the policy names under schedulers"
            ) from error
        except (ObjectError, BrokenTextError) as error:
            raise ClusterError(
                f"{connection.server} answered GET {path} with a ConfigMap that cannot be read: {error}"
            ) from error
    return found
