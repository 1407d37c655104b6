"""PodTopologySpreadArgs: what pods without constraints of their own are spread by."""

from __future__ import annotations

from typing import NamedTuple

from rescheduler.model.columns.spread import SYSTEM_DEFAULTS
from rescheduler.model.objects.constraints import TopologySpreadConstraint
from rescheduler.scheduling.configuration.fields import Fields
from rescheduler.scheduling.configuration.findings import choices, quoted

_KINDS = ["DoNotSchedule", "ScheduleAnyway"]
_TYPES = ["List", "System"]
_POLICIES = ["Honor", "Ignore"]


class SpreadSettings(NamedTuple):
    """Default constraints; ``is_own``: an operator wrote them."""

    constraints: tuple[TopologySpreadConstraint, ...] = SYSTEM_DEFAULTS
    is_own: bool = False


def spread_settings(fields: Fields, *, version: str) -> SpreadSettings:
    """Constraints and defaulting type. Before v1beta2 the type is List where constraints are given, else System."""
    constraints = tuple(_constraint(item) for item in fields.children("defaultConstraints"))
    kind = fields.text("defaultingType")
    fields.refuse_unread()
    if not kind:
        kind = "List" if constraints and version in ("v1alpha2", "v1beta1") else "System"
    if kind not in _TYPES:
        fields.findings.refuse(fields.at("defaultingType"), f"found {quoted(kind)}; {choices(kind, _TYPES)}")
    elif kind == "System" and constraints:
        fields.findings.refuse(
            fields.at("defaultConstraints"), "given without defaultingType: List; kube-scheduler refuses that"
        )
    _refuse_repeated(fields, constraints)
    return SpreadSettings(constraints, is_own=True) if kind == "List" else SpreadSettings()


def _constraint(fields: Fields) -> TopologySpreadConstraint:
    key, kind = fields.text("topologyKey"), fields.text("whenUnsatisfiable")
    skew = fields.integer("maxSkew", 0)
    findings = fields.findings
    if skew <= 0:
        findings.refuse(fields.at("maxSkew"), f"found {skew}; wanted 1 or more")
    if not key:
        findings.refuse(fields.path, "topologyKey is missing; write a node label's key")
    if kind not in _KINDS:
        findings.refuse(fields.at("whenUnsatisfiable"), f"found {quoted(kind)}; {choices(kind, _KINDS)}")
    if fields.has("labelSelector"):
        findings.refuse(fields.at("labelSelector"), "not allowed here; each pod's Services and owner give the selector")
    found = TopologySpreadConstraint(
        topology_key=key,
        max_skew=max(skew, 1),
        when_unsatisfiable=kind,
        min_domains=max(fields.integer("minDomains", 1), 1),
        match_label_keys=tuple(name for _, name in fields.names("matchLabelKeys")),
        honors_node_affinity=_policy(fields, "nodeAffinityPolicy", "Honor") == "Honor",
        honors_node_taints=_policy(fields, "nodeTaintsPolicy", "Ignore") == "Honor",
    )
    fields.refuse_unread()
    return found


def _policy(fields: Fields, name: str, default: str) -> str:
    value = fields.text(name, default)
    if value not in _POLICIES:
        fields.findings.warn(fields.at(name), f"found {quoted(value)}; {choices(value, _POLICIES)}; read as {default}")
        return default
    return value


def _refuse_repeated(fields: Fields, constraints: tuple[TopologySpreadConstraint, ...]) -> None:
    seen: set[tuple[str, str]] = set()
    for number, constraint in enumerate(constraints):
        identity = (constraint.topology_key, constraint.when_unsatisfiable)
        if identity in seen:
            text = f"{quoted(constraint.topology_key)} with {constraint.when_unsatisfiable} is given twice"
            fields.findings.refuse((*fields.path, "defaultConstraints", number), text)
        seen.add(identity)
