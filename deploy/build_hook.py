"""Puts what one begins with into the wheel: laid out as here, so that every relative name in it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CARRIED: Final = (
    "policies/*.yaml",
    "docs/*.schema.json",
    "docs/examples/*.json",
    "docs/examples/*.yaml",
    "docs/examples/*.conf",
)


class ShippedFiles(BuildHookInterface):  # type: ignore[type-arg]
    """A wheel carries them under ``rescheduler/examples``; an editable installation finds them where they stand."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name each file and its place. Raises FileNotFoundError where a tree has none of a kind."""
        if version == "editable":
            return
        root = Path(self.root)
        for pattern in CARRIED:
            files = sorted(root.glob(pattern))
            if not files:
                raise FileNotFoundError(f"{root}: no {pattern}, which the wheel carries")
            for file in files:
                build_data["force_include"][str(file)] = f"rescheduler/examples/{file.relative_to(root).as_posix()}"
