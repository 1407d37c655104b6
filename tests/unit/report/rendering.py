"""What a report looks like, as plain text."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console, RenderableType


def rendered(parts: Iterable[RenderableType], width: int = 160) -> str:
    """The parts as a terminal of this width without colours would show them."""
    out = Console(file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False, no_color=True)
    for part in parts:
        out.print(part)
    text = out.file.getvalue()  # type: ignore[attr-defined]
    assert isinstance(text, str)
    return text
