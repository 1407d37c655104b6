"""Where the table of score vectors is, and how its values are compared."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT

VARIABLE = "RESCHEDULER_SCORING_VECTORS"
_DEFAULT = ROOT.parent / "shared" / "specs" / "scoring-vectors.json"


def vectors() -> list[dict[str, Any]]:
    """All vectors of the file, none where it is absent."""
    path = Path(os.environ.get(VARIABLE, _DEFAULT))
    return json.loads(path.read_text())["vectors"] if path.is_file() else []


def missing_reason() -> str:
    """Why there are none."""
    return f"no table of score vectors: {VARIABLE} names none, and {_DEFAULT.name} is not beside the project"


def assert_close(found: Any, wanted: Any, vector: dict[str, Any]) -> None:
    """Equal within the vector's tolerance; numbers, or lists or mappings of them."""
    tolerance = vector.get("tolerance", 1e-9)
    if isinstance(wanted, dict):
        assert found == {key: pytest.approx(value, abs=tolerance) for key, value in wanted.items()}
    elif isinstance(wanted, list):
        assert list(found) == [pytest.approx(value, abs=tolerance) for value in wanted]
    else:
        assert found == pytest.approx(wanted, abs=tolerance)
