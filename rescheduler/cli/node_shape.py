"""Shapes of nodes as people write them: ``cpu=16,memory=64Gi``, ``like:NODE``, ``3xlike:NODE``."""

from __future__ import annotations

import re
from typing import Final

from rescheduler.model.printable import printable
from rescheduler.model.resources import CPU, MEMORY, PODS, QuantityError, offered_amount, resources
from rescheduler.model.what_if import NodeShape

MOST_ADDED: Final = 1000
WANTED: Final = "wanted a shape such as cpu=16,memory=64Gi, like:NODE or 2xlike:NODE"
_COUNTED: Final = re.compile(r"([0-9]{1,9})x(.*)", re.ASCII | re.DOTALL)
_RESOURCE: Final = re.compile(r"[a-zA-Z0-9]([-a-zA-Z0-9_./]{0,250}[a-zA-Z0-9])?", re.ASCII)


def parse_node_shape(text: str) -> NodeShape:
    """Read one shape. Raises ValueError naming what was found and what was wanted."""
    text = text.strip()
    counted = _COUNTED.fullmatch(text)
    count, shape = (int(counted[1]), counted[2].strip()) if counted else (1, text)
    if not 1 <= count <= MOST_ADDED:
        raise ValueError(f"found {count} nodes; wanted 1 to {MOST_ADDED}")
    if shape.startswith("like:"):
        like = shape.removeprefix("like:").strip()
        if not like:
            raise ValueError(f"found {printable(text, 60)!r}, which names no node; {WANTED}")
        return NodeShape(count, like=like)
    return NodeShape(count, resources=resources(_amounts(shape).items()))


def _amounts(shape: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in shape.split(","):
        name, equals, quantity = (item.strip() for item in part.partition("="))
        if not equals or _RESOURCE.fullmatch(name) is None or not quantity:
            raise ValueError(f"found {printable(part, 60)!r}; {WANTED}")
        if name in found:
            raise ValueError(f"{name} stands twice; write it once")
        try:
            found[name] = offered_amount(name, quantity)
        except QuantityError as error:
            raise ValueError(f"{name}: {error}") from None
    for name in (CPU, MEMORY):
        if not found.get(name):
            raise ValueError(f"{name}: {'0' if name in found else 'missing'}; a node needs some of it to take a pod")
    if PODS in found and not found[PODS]:
        raise ValueError("pods: 0; a node that takes no pod helps nobody; leave it out for 110")
    return found
