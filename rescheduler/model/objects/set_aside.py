"""Objects of which something cannot be counted: they cost whoever wrote them, and nobody else."""

from __future__ import annotations

from msgspec import Struct


class SetAside(Struct, frozen=True, gc=False):
    """One such object: ``problem`` says what of it cannot be counted, ``effect`` what follows for it alone."""

    kind: str
    namespace: str  # "" where the kind has none
    name: str
    uid: str = ""
    problem: str = ""
    effect: str = "it counts as if it were not there"

    @property
    def key(self) -> str:
        """``NAMESPACE/NAME``, or the name of what is in no namespace."""
        name = self.name or "(without a name)"
        return f"{self.namespace}/{name}" if self.namespace and self.name else name

    @property
    def text(self) -> str:
        """The object, the problem and the effect in one sentence."""
        return f"{self.kind} {self.key}: {self.problem}; {self.effect}"
