"""Reads who answers for the Services of a namespace."""

from __future__ import annotations

from collections import defaultdict
from typing import Final
from urllib.parse import quote

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.decoded_answers import decoded
from rescheduler.adapters.kubernetes.client.failures import NotServedError
from rescheduler.model.objects.endpoints import ServiceEndpoints

SERVICE: Final = "kubernetes.io/service-name"


class _Target(msgspec.Struct, gc=False):
    uid: str = ""


class _Conditions(msgspec.Struct, gc=False):
    ready: bool | None = None


class _Endpoint(msgspec.Struct, gc=False):
    conditions: _Conditions | None = None
    target: _Target | None = msgspec.field(name="targetRef", default=None)


class _Metadata(msgspec.Struct, gc=False):
    name: str = ""
    labels: dict[str, str] | None = None


class _Slice(msgspec.Struct, gc=False):
    metadata: _Metadata
    address_type: str = msgspec.field(name="addressType", default="")
    endpoints: list[_Endpoint] | None = None


class _Slices(msgspec.Struct, gc=False):
    items: list[_Slice] | None = None


def slice_path(namespace: str) -> str:
    """Path of a namespace's EndpointSlices."""
    return f"/apis/discovery.k8s.io/v1/namespaces/{quote(namespace, safe='')}/endpointslices"


def read_endpoints(connection: Connection, namespace: str) -> list[ServiceEndpoints]:
    """By Service and kind of address; a slice of no Service stands for itself. Raises ClusterError."""
    listed: dict[str, set[str]] = defaultdict(set)
    ready: dict[str, set[str]] = defaultdict(set)
    path = slice_path(namespace)
    try:
        for page in connection.pages(path):
            for item in decoded(connection, f"GET {path}", page, _Slices).items or ():
                name = _name(item)
                for endpoint in item.endpoints or ():
                    if endpoint.target is not None and endpoint.target.uid:
                        listed[name].add(endpoint.target.uid)
                        if endpoint.conditions is None or endpoint.conditions.ready is not False:
                            ready[name].add(endpoint.target.uid)
    except NotServedError:
        return []
    return [ServiceEndpoints(name, frozenset(listed[name]), frozenset(ready[name])) for name in sorted(listed)]


def _name(item: _Slice) -> str:
    service = (item.metadata.labels or {}).get(SERVICE)
    return f"{service} ({item.address_type})" if service else f"EndpointSlice {item.metadata.name}"
