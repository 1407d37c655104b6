"""How much a recording may ask of us before it is refused as hostile."""

from __future__ import annotations

from typing import Final

CHUNK_BYTES: Final = 4 * 2**20
LARGEST_OBJECT_BYTES: Final = 64 * 2**20
"""One object, or everything in a list beside its items; an API server accepts 1.5 MB or so."""

LARGEST_YAML_BYTES: Final = 128 * 2**20
"""YAML is read as a whole, and a hundred times more slowly than JSON."""

LARGEST_YAML_WITH_ALIASES_BYTES: Final = 4 * 2**20
LARGEST_YAML_EXPANSION_BYTES: Final = 16 * 2**20
"""Some writers repeat equal parts by aliases; kubectl does not."""

LARGEST_TEXT_BYTES: Final = 8 * 2**30
"""What one file may hold once unpacked."""

LARGEST_EXPANSION: Final = 300
UNSUSPICIOUS_BYTES: Final = 64 * 2**20
"""Compressed data may expand by this factor; the factor counts only above this size."""

UNPACKING_MEMORY_BYTES: Final = 256 * 2**20
DEEPEST_NESTING: Final = 200

MOST_OBJECTS: Final = 600_000
MOST_UNUSED_OBJECTS: Final = 300_000
"""Kinds that are not needed may stand in a recording too, but not without end."""
