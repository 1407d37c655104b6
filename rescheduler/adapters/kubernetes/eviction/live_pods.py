"""Reads single pods, or one owner's pods, as they stand at this moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import NotServedError
from rescheduler.adapters.kubernetes.client.paths import pod_path
from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME
from rescheduler.adapters.kubernetes.objects.decoding.decode import BrokenTextError, ObjectError, decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ApiStruct
from rescheduler.adapters.kubernetes.objects.pods.pod import PodConversion
from rescheduler.adapters.kubernetes.objects.pods.pod_fields import PodObject
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.pod import Pod
from rescheduler.model.printable import shortened

_SET_OPERATORS: Final = {"In": "in", "NotIn": "notin"}


class _PodList(ApiStruct):
    items: list[PodObject] | None = None


def read_pod(connection: Connection, namespace: str, name: str) -> Pod | None:
    """One pod, or None if there is none of this name. Raises ClusterError."""
    path = pod_path(namespace, name)
    try:
        body = connection.get(path)
    except NotServedError:
        return None
    try:
        found = _converted(decode(body, PodObject))
    except (ObjectError, BrokenTextError) as error:
        raise ClusterError(
            f"{connection.server} answered GET {path} with a pod that cannot be read: {error}"
        ) from error
    if found.name != name:
        raise ClusterError(f"{connection.server} answered GET {path} with another pod: {shortened(found.key)}")
    return found


def read_pods(connection: Connection, namespace: str, selector: LabelSelector | None) -> list[Pod]:
    """The pods of a namespace that a selector matches (None: all). Raises ClusterError."""
    params = {"labelSelector": selector_text(selector)} if selector is not None else None
    return _listed(connection, pod_path(namespace), params)


def read_pods_on(connection: Connection, node: str) -> list[Pod]:
    """The pods of all namespaces that are bound to a node. Raises ClusterError."""
    return _listed(connection, KIND_BY_NAME["Pod"].path, {"fieldSelector": f"spec.nodeName={node}"})


def _listed(connection: Connection, path: str, params: Mapping[str, str] | None) -> list[Pod]:
    found: list[Pod] = []
    try:
        for page in connection.pages(path, params=params):
            found.extend(_converted(item) for item in decode(page, _PodList).items or ())
    except (ObjectError, BrokenTextError) as error:
        raise ClusterError(
            f"{connection.server} answered GET {path} with a pod that cannot be read: {error}"
        ) from error
    return found


def selector_text(selector: LabelSelector) -> str:
    """A selector as the query of a list request; empty selects everything."""
    return ",".join(_rules(selector.requirements))


def _rules(requirements: Iterable[Requirement]) -> Iterable[str]:
    for rule in requirements:
        if rule.operator in _SET_OPERATORS:
            yield f"{rule.key} {_SET_OPERATORS[rule.operator]} ({','.join(rule.values)})"
        elif rule.operator == "Exists":
            yield rule.key
        else:
            yield f"!{rule.key}"


def _converted(found: PodObject) -> Pod:
    return PodConversion(_ignore).convert(found)


def _ignore(_warning: str) -> None:
    """The snapshot that the plan was made from has told of it."""
