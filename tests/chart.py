"""The Helm chart of deploy/, rendered for tests; skipped where no Helm can be had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.paths import DEPLOY

CHART = DEPLOY / "chart" / "rescheduler"
RELEASE = "rescheduler"
NAMESPACE = "rescheduler-system"

Values = dict[str, Any]
Manifest = dict[str, Any]


@cache
def _loaded(path: Path) -> Any:
    helm = pytest.importorskip("helm_python", reason="Helm comes with the dependency group deploy")
    return helm.Chart.load(path)


def render(values: Mapping[str, Any] | None = None, *, namespace: str = NAMESPACE) -> list[Manifest]:
    """All objects of a release; raises ValueError with Helm's words where it refuses the values."""
    files = rendered_files(values, namespace=namespace)
    texts = (text for name, text in files.items() if not name.endswith("NOTES.txt"))
    return [item for text in texts for item in yaml.safe_load_all(text) if item]


def rendered_files(values: Mapping[str, Any] | None = None, *, namespace: str = NAMESPACE) -> dict[str, str]:
    """Rendered text by template."""
    helm = pytest.importorskip("helm_python", reason="Helm comes with the dependency group deploy")
    try:
        found: dict[str, str] = _loaded(CHART).render(dict(values or {}), name=RELEASE, namespace=namespace)
    except helm.HelmError as error:
        raise ValueError(str(error)) from error
    return found


def of_kind(objects: Sequence[Manifest], *kinds: str) -> list[Manifest]:
    """Those of some kinds."""
    return [item for item in objects if item["kind"] in kinds]


def pod_of(objects: Sequence[Manifest]) -> Manifest:
    """The pod template of the one workload."""
    [workload] = of_kind(objects, "Deployment", "CronJob", "Job")
    spec = workload["spec"]
    if workload["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    template: Manifest = spec["template"]
    return template
