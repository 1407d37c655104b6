"""``addedAffinity`` of a profile: node affinity that all pods of a scheduler get on top of their own."""

from __future__ import annotations

import re

from rescheduler.model.objects.constraints import NodeAffinity, NodeSelectorTerm, PreferredNodeTerm, Requirement
from rescheduler.scheduling.configuration.fields import Fields
from rescheduler.scheduling.configuration.findings import choices, quoted
from rescheduler.scheduling.configuration.names import is_qualified_name

_OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
_NAME_FIELD = "metadata.name"
_INTEGER = re.compile(r"[-+]?[0-9]{1,19}")


def added_affinity(fields: Fields) -> NodeAffinity | None:
    """NodeAffinityArgs: None where nothing is added."""
    if not fields.has("addedAffinity"):
        fields.refuse_unread()
        return None
    added = fields.child("addedAffinity")
    required = None
    if added.has("requiredDuringSchedulingIgnoredDuringExecution"):
        selector = added.child("requiredDuringSchedulingIgnoredDuringExecution")
        required = tuple(_term(term) for term in selector.children("nodeSelectorTerms"))
        selector.refuse_unread()
    preferred = []
    for item in added.children("preferredDuringSchedulingIgnoredDuringExecution"):
        weight = item.integer("weight", 0)
        preferred.append(PreferredNodeTerm(weight, _term(item.child("preference"))))
        item.refuse_unread()
    added.refuse_unread()
    fields.refuse_unread()
    return NodeAffinity(required, tuple(preferred))


def _term(fields: Fields) -> NodeSelectorTerm:
    expressions = tuple(_requirement(item, is_field=False) for item in fields.children("matchExpressions"))
    on_fields = tuple(_requirement(item, is_field=True) for item in fields.children("matchFields"))
    fields.refuse_unread()
    return NodeSelectorTerm(expressions, on_fields)


def _requirement(fields: Fields, *, is_field: bool) -> Requirement:
    key, operator = fields.text("key"), fields.text("operator")
    values = tuple(value for _, value in fields.names("values"))
    findings = fields.findings
    known = ["In", "NotIn"] if is_field else _OPERATORS
    if not key:
        findings.refuse(fields.path, "key is missing; write the label's key")
    if key and not is_qualified_name(key):
        findings.refuse(fields.at("key"), f"found {quoted(key)}; wanted a label's key: NAME or DOMAIN/NAME")
    if is_field and key and key != _NAME_FIELD:
        findings.refuse(fields.at("key"), f"found {quoted(key)}; there is only {_NAME_FIELD}")
    if operator not in known:
        findings.refuse(fields.at("operator"), f"found {quoted(operator)}; {choices(operator, known)}")
    elif not _suits(operator, values, is_field=is_field):
        findings.refuse(fields.at("values"), f"{operator} {_WANTED_VALUES[_kind(operator, is_field=is_field)]}")
    fields.refuse_unread()
    return Requirement(key, operator, values)


_WANTED_VALUES = {
    "one": "takes exactly one value here",
    "some": "needs values; write values: [...] with at least one",
    "none": "takes no values; leave them out",
    "integer": "takes exactly one value, a whole number in quotes",
}


def _kind(operator: str, *, is_field: bool) -> str:
    if is_field:
        return "one"
    return {"In": "some", "NotIn": "some", "Exists": "none", "DoesNotExist": "none"}.get(operator, "integer")


def _suits(operator: str, values: tuple[str, ...], *, is_field: bool) -> bool:
    kind = _kind(operator, is_field=is_field)
    if kind == "one":
        return len(values) == 1
    if kind == "integer":
        return len(values) == 1 and _INTEGER.fullmatch(values[0]) is not None
    return bool(values) == (kind == "some")
