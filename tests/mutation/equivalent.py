"""Faults that are none: the module does the same with them, whatever is asked of it; each with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

EQUIVALENT: Final[Mapping[str, Mapping[str, str]]] = {
    "earlier/owed_room": {
        "to False: zip(nodes, selected, strict=True)": "what a table selects is as long as its nodes: strict or not",
    },
    "methods/move_methods": {
        "to False: zip(context.kinds.examples, context.kinds.sizes, strict=True)": "a kind has one of each",
    },
}
"""By module and by what is changed, without the line."""


def is_known(module: str, what: str) -> bool:
    """Whether a fault is listed."""
    return what.partition(": ")[2] in EQUIVALENT.get(module, ())
