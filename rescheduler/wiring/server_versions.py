"""Servers that this version was not tested with."""

from __future__ import annotations

import re
from typing import Final

TESTED: Final = (35, 36)
"""Minor versions of Kubernetes 1 whose real control planes the tests run on, oldest and newest."""


def untested_version(server_version: str | None) -> str | None:
    """A warning about a server that is older or newer than those, with the versions; None otherwise, or if unknown."""
    found = re.match(r"v?(\d+)\.(\d+)", server_version or "")
    if found is None:
        return None
    major, minor = int(found.group(1)), int(found.group(2))
    if major == 1 and TESTED[0] <= minor <= TESTED[1]:
        return None
    side = "older" if (major, minor) < (1, TESTED[0]) else "newer"
    return (
        f"the API server is Kubernetes {server_version}, {side} than what this version was tested with "
        f"(1.{TESTED[0]} to 1.{TESTED[1]})"
    )
