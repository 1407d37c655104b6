"""How a pod is moved: by eviction, by surge (the replacement is Ready first), or by the migration of who owns it."""

from __future__ import annotations

from enum import StrEnum


class MoveMethod(StrEnum):
    """How a pod is moved: by eviction, by surge (the replacement is Ready first), or by the migration of who owns it."""

    EVICT = "Evict"
    SURGE = "Surge"
    MIGRATE = "Migrate"
