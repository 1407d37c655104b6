"""What scripts are written against beside commands: schemas, OpenAPI, metrics, pages made from the program.

Functions are looked up by name, wherever they stand, so that the same code reads versions with other modules.
"""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import rescheduler

_PACKAGE = Path(rescheduler.__file__).parent
_MADE = {
    "plan-schema": "plan_schema",
    "policy-schema": "policy_schema",
    "policy-reference": "policy_reference",
    "providers-reference": "providers_reference",
    "metrics": "metrics_table",
}


def interfaces() -> dict[str, str]:
    """Each text by the name of its file."""
    texts = {f"interface-{name}": _text(_found(function)()) for name, function in _MADE.items()}
    source = MagicMock()
    applications = {
        "openapi-daemon": _found("create_daemon_app")(MagicMock(), MagicMock(), MagicMock(), MagicMock()),
        "openapi-watcher": _found("create_app")(source, MagicMock(), interval=60.0),
    }
    return texts | {f"interface-{name}": _text(app.openapi()) for name, app in applications.items()}


def _text(made: Any) -> str:
    return made if isinstance(made, str) else json.dumps(made, indent=1, sort_keys=True)


def _found(function: str) -> Any:
    """The one function of that name in the package."""
    paths = [
        path for path in _PACKAGE.rglob("*.py") if re.search(rf"^def {function}\(", path.read_text(), re.MULTILINE)
    ]
    assert len(paths) == 1, f"{function}: stands in {[str(path) for path in paths]}, wanted one place"
    parts = paths[0].relative_to(_PACKAGE.parent).with_suffix("").parts
    return getattr(importlib.import_module(".".join(part for part in parts if part != "__init__")), function)
