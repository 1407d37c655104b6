"""What the simulated cluster remembers: writes that came in through its API, and events on its objects."""

from __future__ import annotations

from typing import NamedTuple


class Write(NamedTuple):
    """One mutating call that the API took, dry runs left out; ``resource`` as in an audit log (``pods/eviction``)."""

    at: float
    verb: str
    resource: str
    namespace: str
    name: str
    detail: str = ""


class Event(NamedTuple):
    """Something that happened to a pod, in the words of the component that did it."""

    at: float
    reason: str
    pod: str
    message: str = ""
