"""The gate rule's one object: a ConfigMap that the admission policy of deploy/guide.yaml reads its owners from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.decoded_answers import decoded_whole, require_done
from rescheduler.adapters.kubernetes.client.failures import NotServedError
from rescheduler.adapters.kubernetes.client.paths import config_map_path
from rescheduler.adapters.kubernetes.guidance.placeholders import EXPIRES_ANNOTATION, PLAN_LABEL
from rescheduler.model.objects.annotations import MANAGED_BY, OURS

RULE: Final = "rescheduler-guide"
"""Name of the admission policy, of its binding, and of the ConfigMap that they read."""


class _Owner(msgspec.Struct, gc=False):
    uid: str
    name: str
    kind: str = ""


class _Metadata(msgspec.Struct, gc=False):
    uid: str
    resource_version: str = msgspec.field(name="resourceVersion")
    labels: dict[str, str] | None = None
    owners: list[_Owner] | None = msgspec.field(name="ownerReferences", default=None)


class _Rule(msgspec.Struct, gc=False):
    metadata: _Metadata


def rule_object(
    namespace: str, job: tuple[str, str], owners: Sequence[str], plan_id: str, expires: str
) -> dict[str, Any]:
    """The rule of a plan, which goes with its Job (name, uid), for new pods of these owners (uids)."""
    name, uid = job
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": RULE,
            "namespace": namespace,
            "labels": {MANAGED_BY: OURS, PLAN_LABEL: plan_id},
            "annotations": {EXPIRES_ANNOTATION: expires},
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid}],
        },
        "data": {"owners": ",".join(owners), "plan": plan_id, "expires": expires},
    }


def plan_of(rule: dict[str, Any]) -> str:
    """The plan that a rule belongs to; empty if that cannot be told."""
    return str((rule["metadata"].get("labels") or {}).get(PLAN_LABEL, ""))


def jobs_of(rule: dict[str, Any]) -> dict[str, str]:
    """Names of the Jobs that a rule goes with, by uid."""
    owners = rule["metadata"].get("ownerReferences") or []
    return {owner["uid"]: owner["name"] for owner in owners if owner.get("kind") == "Job"}


def read_rule(connection: Connection, namespace: str) -> dict[str, Any] | None:
    """The rule as it stands, of any plan, or None. Raises ClusterError."""
    path = config_map_path(namespace, RULE)
    try:
        body = connection.get(path)
    except NotServedError:
        return None
    return decoded_whole(connection, f"GET {path}", body, _Rule)


def write_rule(connection: Connection, body: dict[str, Any], live: dict[str, Any] | None) -> bool:
    """Make the rule, or put it in the place of the one that was read; False if that changed meanwhile.

    Raises ClusterError.
    """
    namespace = body["metadata"]["namespace"]
    if live is None:
        method, path = "POST", config_map_path(namespace)
    else:
        method, path = "PUT", config_map_path(namespace, RULE)
        version = {key: live["metadata"][key] for key in ("uid", "resourceVersion")}
        body = {**body, "metadata": {**body["metadata"], **version}}
    answer = connection.send(method, path, body)
    if answer.status in (404, 409):
        return False
    require_done(connection, method, path, answer)
    return True


def remove_rule(connection: Connection, namespace: str, found: dict[str, Any]) -> bool:
    """Delete the rule that was read; False if it is gone, or another by now. Raises ClusterError."""
    path = config_map_path(namespace, RULE)
    answer = connection.send("DELETE", path, {"preconditions": {"uid": found["metadata"]["uid"]}})
    if answer.status in (404, 409):
        return False
    require_done(connection, "DELETE", path, answer)
    return True
