"""The manifest for Dask's operator that docs/back-testing.md shows."""

from __future__ import annotations

from typing import Any

import yaml

from tests.unit.docs.pages import DOCS, blocks


def dask_manifest() -> dict[str, Any]:
    """The DaskCluster."""
    [text] = [one.text for one in blocks(DOCS / "back-testing.md", "yaml") if "kind: DaskCluster" in one.text]
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def dask_container(component: str) -> dict[str, Any]:
    """The one container of ``worker`` or ``scheduler``."""
    [found] = dask_manifest()["spec"][component]["spec"]["containers"]
    return dict(found)
