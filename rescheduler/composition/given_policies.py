"""Tells the DeschedulerPolicies among policy files from our own by their beginning, with little to load for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from rescheduler.policy.reading.policy_text import MOST_BYTES

_MARK: Final = re.compile(
    r"""^\s*["']?(?:kind["']?\s*:\s*["']?DeschedulerPolicy\b|apiVersion["']?\s*:\s*["']?descheduler/)""", re.M
)


class GivenFiles(NamedTuple):
    """Policies by whose they are. ``theirs``: DeschedulerPolicies with what stands in them, each read once."""

    theirs: tuple[tuple[str, bytes], ...]
    own: tuple[str, ...]


def sorted_out(files: Sequence[str]) -> GivenFiles:
    """Tell them apart; what cannot be read is left to whoever reads ours."""
    found = [(file, bytes_of(file)) for file in files]
    return GivenFiles(
        tuple((file, raw) for file, raw in found if is_theirs(raw)),
        tuple(file for file, raw in found if not is_theirs(raw)),
    )


def is_theirs(raw: bytes) -> bool:
    """Whether what stands in a file is meant as a DeschedulerPolicy, or as a ConfigMap that holds one."""
    return _MARK.search(raw.decode("utf-8-sig", errors="replace")) is not None


def bytes_of(file: str) -> bytes:
    """What stands in a file, to one byte more than a policy may have; nothing where it cannot be read."""
    path = Path(file)
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as stream:
            return stream.read(MOST_BYTES + 1)
    except (OSError, ValueError):
        return b""
