"""One call of a process under test, from the moment it leaves to the moment it is answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

DETACH: Final = "detach"
GIVE_BACK: Final = "give back"


@dataclass(eq=False)
class Request:
    """One call as it left us; reads too.

    ``verb`` and ``resource`` as in an audit log: list cluster, list pods, get pods, create pods/eviction, create jobs,
    patch jobs, delete jobs, patch pods/status, patch pods (our gate off; ``body`` DETACH or GIVE_BACK: a pod out of its
    ReplicaSet, and back), patch nodes (our taint on or off: ``body``),
    update configmaps (owners whose pods are gated), get/update ledger, create events, append audit (the local file).
    ``name`` "" where a call concerns many (``body`` has them). ``body``: what was sent, as the caller passed it.
    ``plan``: number of the plan that the process was carrying out (0 none). ``fault``: what we did to it ("" nothing).
    ``pause``: seconds that the process stood still between its last decision and this very send; where it is above 0,
    this is the gap that no client can close (safety.md, I27/I30 paragraph).
    ``effect``: None not decided yet, "now", "later", "never" (refused or lost on the way; reads: always "never");
    ``effect_at``: when it took place. ``answer``: what we were told: the kind of an EvictionAnswer, "ok", "conflict",
    or the name of the exception; None where nothing was told (killed, or still waiting).
    ``is_last_step``: an eviction of a pod that was out of its ReplicaSet, whose replacement is to be there already.
    """

    t: float
    number: int
    process: str
    verb: str
    resource: str
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False
    body: Any = None
    plan: int = 0
    fault: str = ""
    pause: float = 0.0
    effect: str | None = None
    effect_at: float | None = None
    answer: str | None = None
    answered_at: float | None = None
    is_last_step: bool = False

    @property
    def is_eviction(self) -> bool:
        """Whether this is an eviction in earnest, by which somebody is missing."""
        return self.resource == "pods/eviction" and not self.dry_run and not self.is_last_step

    @property
    def is_write(self) -> bool:
        """Whether it can change the world (a dry run cannot)."""
        return self.verb not in ("get", "list") and not self.dry_run
