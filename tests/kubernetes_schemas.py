"""Kubernetes' own schemas, strict: no field may be misspelt; skipped where they cannot be had."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest


def check_by_schema(item: dict[str, Any], version: str) -> None:
    """Raises an exception that names the field which Kubernetes of this version would not know, or not take."""
    _validator().validate(item, version, strict=True)


@cache
def _validator() -> Any:
    """The library, told to read each of its files once only."""
    found = pytest.importorskip(
        "kubernetes_validate", reason="kubernetes-validate comes with the dependency group test"
    )
    found.utils.schema_contents = cache(found.utils.schema_contents)
    return found.utils
