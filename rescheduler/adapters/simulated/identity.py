"""Names and uids of new objects, from the simulation's own seeded generator."""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID

import numpy as np

# The letters that Kubernetes itself uses in generated names: no vowels, so that no words come out.
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5


class Identity:
    """Gives new objects their names and uids, the same ones for the same seed.

    ``origin``: what they belong to, so that what is made in a scenario under its seed never has the uid of a pod of it.
    """

    def __init__(self, random: np.random.Generator, origin: str = "") -> None:
        self._random = random
        self._origin = origin.encode()

    def suffix(self) -> str:
        """Five letters as in a generated pod name."""
        return "".join(_LETTERS[number] for number in self._random.integers(len(_LETTERS), size=_SUFFIX_LENGTH))

    def uid(self) -> str:
        """A uid in the usual form."""
        drawn = self._random.bytes(16)
        return str(UUID(bytes=sha256(self._origin + drawn).digest()[:16] if self._origin else drawn, version=4))
