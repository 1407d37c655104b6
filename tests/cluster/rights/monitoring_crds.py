"""As much of the Prometheus operator's custom resources as our manifests use, strictly typed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.cluster.api import Api, Manifest
from tests.cluster.plane.custom_kinds import served_kinds

GROUP = "monitoring.coreos.com"
STRINGS: Manifest = {"type": "object", "additionalProperties": {"type": "string"}}
TEXT: Manifest = {"type": "string"}


def _object(properties: Manifest, *required: str) -> Manifest:
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


def _list(items: Manifest) -> Manifest:
    return {"type": "array", "items": items}


ENDPOINT = _object(dict.fromkeys(("port", "path", "interval", "scrapeTimeout", "scheme"), TEXT), "port")
RULE = _object(
    {"alert": TEXT, "record": TEXT, "expr": TEXT, "for": TEXT, "keep_firing_for": TEXT, "labels": STRINGS,
     "annotations": STRINGS}, "expr",
)  # fmt: skip
SPECS = {
    ("ServiceMonitor", "servicemonitors"): _object(
        {"selector": _object({"matchLabels": STRINGS}), "endpoints": _list(ENDPOINT)}, "selector", "endpoints"
    ),
    ("PrometheusRule", "prometheusrules"): _object(
        {"groups": _list(_object({"name": TEXT, "interval": TEXT, "rules": _list(RULE)}, "name", "rules"))}, "groups"
    ),
}


@contextmanager
def monitoring_crds(api: Api) -> Iterator[None]:
    """The two kinds, served; gone in the end."""
    definitions = [_definition(kind, plural, spec) for (kind, plural), spec in SPECS.items()]
    with served_kinds(api, definitions, lambda: _are_served(api)):
        yield


def _definition(kind: str, plural: str, spec: Manifest) -> Manifest:
    schema = _object({"apiVersion": TEXT, "kind": TEXT, "metadata": {"type": "object"}, "spec": spec}, "spec")
    version: dict[str, Any] = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "versions": [version],
                 "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"}},
    }  # fmt: skip


def _are_served(api: Api) -> bool:
    served = {item["name"] for item in api.request("GET", f"/apis/{GROUP}/v1")["resources"]}
    return all(api.request("GET", f"/apis/{GROUP}/v1/{plural}") for _, plural in SPECS) and served != set()
