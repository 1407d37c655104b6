"""JSON Schema of what scripts read: a Plan, and the PlanResult of carrying one out."""

from __future__ import annotations

from typing import Any

import msgspec

from rescheduler.model.plan import API_VERSION, Plan, PlanResult

_ALWAYS_WRITTEN = ("apiVersion", "kind", "snapshot", "objectives", "moves", "placements", "refusals", "warnings")


def plan_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) that every plan and every result satisfies."""
    references, components = msgspec.json.schema_components((Plan, PlanResult), ref_template="#/$defs/{name}")
    for name in ("Plan", "PlanResult"):
        definition = components[name]
        definition["properties"]["apiVersion"] = {"const": API_VERSION}
        definition["properties"]["kind"] = {"const": name}
        definition["required"] = [field for field in _ALWAYS_WRITTEN if field in definition["properties"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Plan and PlanResult of rescheduler",
        "oneOf": list(references),
        "$defs": _without_titles(components),
    }


def _without_titles(schema: Any) -> Any:
    """Titles only repeat the names of the definitions."""
    if isinstance(schema, dict):
        return {key: _without_titles(value) for key, value in schema.items() if key != "title"}
    return [_without_titles(item) for item in schema] if isinstance(schema, list) else schema
