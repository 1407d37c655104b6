"""How a pod is moved: by eviction, by surge (the replacement is Ready first), or by the migration of who owns it."""

from __future__ import annotations

from enum import StrEnum


class MoveMethod(StrEnum):
    """By which method one pod is moved."""

    EVICT = "Evict"
    SURGE = "Surge"
    MIGRATE = "Migrate"
