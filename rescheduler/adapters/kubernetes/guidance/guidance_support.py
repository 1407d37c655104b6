"""Whether new pods can be held at our gate: what a cluster serves, what is installed there, and what we may do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.decoded_answers import decoded_whole, served_resources, server_told_version
from rescheduler.adapters.kubernetes.client.failures import NotServedError
from rescheduler.adapters.kubernetes.client.paths import namespace_path
from rescheduler.adapters.kubernetes.guidance.rule_object import RULE
from rescheduler.adapters.kubernetes.rights.parts import NEEDED_FOR_GATES, NEEDED_FOR_HOLDS
from rescheduler.adapters.kubernetes.rights.rights import Right, may, missing
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.annotations import GUIDE_GATE, MANAGED_BY, OURS

# Whether placeholders work on a cluster: its version, and what we may do there.

FIRST_MINOR: Final = 27
"""Scheduling gates are on by default since Kubernetes 1.27."""


def why_no_holds(connection: Connection, namespace: str, scope: Iterable[str] = ()) -> str | None:
    """The reason why placeholders cannot be used, None if they can. Raises ClusterError if that cannot be found out.

    ``scope``: the only namespaces whose pods may be moved, none for all.
    """
    version = server_told_version(connection)
    minor = re.match(r"[0-9]{1,9}", version.minor)
    if version.major == "1" and minor and int(minor.group()) < FIRST_MINOR:
        return f"Kubernetes {version.git_version} has no scheduling gates; 1.{FIRST_MINOR} or newer is needed"
    lacking = [right.text for right in missing(connection, NEEDED_FOR_HOLDS, namespace, scope)]
    if lacking:
        return f"we may not {', '.join(lacking)} (namespace {namespace}); deploy/acting.yaml grants it"
    if not _exists(connection, namespace) and not may(connection, Right("create", "namespaces", is_local=False), ""):
        return f"there is no namespace {namespace} and we may not make it; deploy/reading.yaml brings it"
    return None


def _exists(connection: Connection, namespace: str) -> bool:
    try:
        connection.get(namespace_path(namespace))
    except NotServedError:
        return False
    except ClusterError:
        return True  # not ours to read; making placeholders there will tell
    return True


class _Labels(msgspec.Struct, gc=False):
    labels: dict[str, str] | None = None


class _Expression(msgspec.Struct, gc=False):
    expression: str = ""


class _Mutation(msgspec.Struct, gc=False):
    patch_type: str = msgspec.field(name="patchType", default="")
    apply: _Expression | None = msgspec.field(name="applyConfiguration", default=None)


class _InstalledSpec(msgspec.Struct, gc=False):
    mutations: list[_Mutation] | None = None
    param_kind: dict[str, str] | None = msgspec.field(name="paramKind", default=None)
    param_ref: dict[str, Any] | None = msgspec.field(name="paramRef", default=None)


class _Installed(msgspec.Struct, gc=False):
    """A policy or a binding, as far as it is looked at."""

    metadata: _Labels
    spec: _InstalledSpec | None = None


_GROUP: Final = "/apis/admissionregistration.k8s.io/v1"
POLICIES: Final = "mutatingadmissionpolicies"
BINDINGS: Final = "mutatingadmissionpolicybindings"
PART_OF: Final = "app.kubernetes.io/part-of"
INSTALLING: Final = "kubectl apply -f deploy/guide.yaml installs it"


def why_no_gates(connection: Connection, namespace: str, scope: Iterable[str] = ()) -> str | None:
    """The reason why new pods cannot be gated, None if they can. Raises ClusterError if that cannot be found out.

    ``namespace``: where the rule's ConfigMap would be; ``scope``: the only ones whose pods may be moved, none for all.
    """
    served = _served(connection)
    if POLICIES not in served or BINDINGS not in served:
        version = server_told_version(connection).git_version
        return f"Kubernetes {version} does not serve {POLICIES} in admissionregistration.k8s.io/v1, as 1.36 does"
    try:
        policy, binding = (_object(connection, kind) for kind in (POLICIES, BINDINGS))
    except ClusterError as error:
        return str(error)
    if policy is None or binding is None:
        return f"the {'policy' if policy is None else 'binding'} {RULE} is not there; {INSTALLING}"
    wrong = _wrong_policy(policy) or _wrong_binding(binding, namespace)
    if wrong is not None:
        return f"{wrong}; {INSTALLING}"
    lacking = [right.text for right in missing(connection, NEEDED_FOR_GATES, namespace, scope)]
    if lacking:
        return f"we may not {', '.join(lacking)} (namespace {namespace}); deploy/guide-binding.yaml grants it"
    return None


def _served(connection: Connection) -> frozenset[str]:
    try:
        return served_resources(connection, _GROUP)
    except NotServedError:
        return frozenset()


def _object(connection: Connection, kind: str) -> dict[str, Any] | None:
    path = f"{_GROUP}/{kind}/{RULE}"
    try:
        body = connection.get(path)
    except NotServedError:
        return None
    return decoded_whole(connection, f"GET {path}", body, _Installed)


def _wrong_policy(found: Mapping[str, Any]) -> str | None:
    """What keeps a policy of the rule's name from being ours, or from being harmless."""
    spec = found.get("spec") or {}
    mutations = spec.get("mutations") or []
    if not _is_ours(found):
        return f"the policy {RULE} is not ours: it has no label {MANAGED_BY}={OURS}"
    if (spec.get("paramKind") or {}).get("kind") != "ConfigMap":
        return f"the policy {RULE} takes no ConfigMap as its parameter"
    if spec.get("failurePolicy") != "Ignore":
        return f"the policy {RULE} has failurePolicy {spec.get('failurePolicy')}; with Ignore it cannot keep pods out"
    if not mutations or any(item.get("patchType") != "ApplyConfiguration" for item in mutations):
        return f"the policy {RULE} does not act by ApplyConfiguration alone"
    if not any(GUIDE_GATE in (item.get("applyConfiguration") or {}).get("expression", "") for item in mutations):
        return f"the policy {RULE} does not set the gate {GUIDE_GATE}"
    return None


def _wrong_binding(found: Mapping[str, Any], namespace: str) -> str | None:
    spec = found.get("spec") or {}
    parameter = spec.get("paramRef") or {}
    if not _is_ours(found) or spec.get("policyName") != RULE:
        return f"the binding {RULE} is not ours: wanted the policy {RULE} and the label {MANAGED_BY}={OURS}"
    if (parameter.get("namespace"), parameter.get("name")) != (namespace, RULE):
        where = f"{parameter.get('namespace')}/{parameter.get('name')}"
        return f"the binding {RULE} reads the ConfigMap {where}, and ours would be {namespace}/{RULE}"
    if parameter.get("parameterNotFoundAction") != "Allow":
        return f"the binding {RULE} does not let pods through while its ConfigMap does not exist"
    return None


def _is_ours(found: Mapping[str, Any]) -> bool:
    """By the label of deploy/guide.yaml, or by the chart's: Helm writes its own name over the former."""
    labels = (found.get("metadata") or {}).get("labels") or {}
    return OURS in (labels.get(MANAGED_BY), labels.get(PART_OF))
