"""Where the checkout is, for tests that read its files."""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DEPLOY: Final = ROOT / "deploy"
READING: Final = DEPLOY / "reading.yaml"
ACTING: Final = (READING, DEPLOY / "acting.yaml")
"""What the account that looks needs, and the one that acts."""
EXAMPLES: Final = ROOT / "docs" / "examples"
