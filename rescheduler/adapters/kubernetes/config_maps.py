"""Reads single ConfigMaps of a live cluster: a scheduler's configuration may stand in one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rescheduler.adapters.kubernetes.connection import Connection
from rescheduler.adapters.kubernetes.decoding.config_map import entries_of
from rescheduler.adapters.kubernetes.decoding.errors import BrokenTextError, ObjectError
from rescheduler.adapters.kubernetes.failures import NotServedError
from rescheduler.adapters.kubernetes.paths import config_map_path
from rescheduler.extension_points import ClusterError


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
