"""What is wrong with one object, and where in it."""

from __future__ import annotations

from rescheduler.model.printable import shortened


class ObjectError(ValueError):
    """A field of one object cannot be used.

    ``path`` as people write it (``spec.containers[0].image``; empty: the object as a whole), ``problem`` what was
    found and what was wanted, ``label`` the object's kind and name, or its position, once that is known.
    """

    def __init__(self, path: str, problem: str, label: str = "") -> None:
        """All three are made printable when the error is shown."""
        super().__init__(path, problem, label)
        self.path = path
        self.problem = problem
        self.label = label

    def __str__(self) -> str:
        """``Pod default/a: spec.nodeName: problem``."""
        return ": ".join(shortened(part, 300) for part in (self.label, self.path, self.problem) if part)


class BrokenTextError(ValueError):
    """The bytes are no JSON at all. ``offset``: the byte where reading stopped, None where the parser does not say."""

    def __init__(self, problem: str, offset: int | None = None) -> None:
        """``offset`` counts from the start of the bytes that were given."""
        super().__init__(problem)
        self.problem = problem
        self.offset = offset
