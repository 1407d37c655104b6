"""Writes a benchmark's result where it was asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_result(result: dict[str, Any], output: Path | None) -> None:
    """One JSON object, to a file or to standard output."""
    text = json.dumps(result)
    if output is None:
        print(text)
    else:
        output.write_text(text + "\n")
