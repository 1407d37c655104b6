"""Lines of JSON for files that outlast the process: texts that cannot forge a line nor hold a secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from rescheduler.adapters.telemetry.redaction import Hide
from rescheduler.model.printable import printable

VERSION: Final = 1
"""Of the form of the lines."""
LONGEST_TEXT: Final = 2000
DAEMON: Final = "rescheduler"
"""Who does what nobody asked for by name."""


def json_line(fields: Mapping[str, Any], hide: Hide) -> bytes:
    """One line with its line break; what is empty is left out."""
    line = {key: _cleaned(value, hide) for key, value in fields.items() if value not in ("", None, [])}
    return msgspec.json.encode(line) + b"\n"


def _cleaned(value: Any, hide: Hide) -> Any:
    if isinstance(value, str):
        return printable(hide(value), LONGEST_TEXT)
    if isinstance(value, list):
        return [_cleaned(item, hide) for item in value]
    return value
