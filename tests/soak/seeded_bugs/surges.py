"""Bugs in moves by surge: too early, not undone, undone wrongly, against owners, without leave, left by the next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from msgspec import structs

from rescheduler.adapters.simulated import detaching
from rescheduler.daemon.rounds import rounds
from rescheduler.execution.eviction.own_verdict import OwnVerdict
from rescheduler.execution.surge import surge_core, surge_moves
from rescheduler.execution.surge.last_step import LastStep
from rescheduler.execution.surge.surge_moves import SurgeMoves
from rescheduler.model.plan.detachment import detachment_of
from tests.soak.seeded_bugs.seams import SeededBug, always, changed, together

RULE: Final = "moveBy: [{method: Surge, otherwise: Evict}]; surge: {readyWithin: 60s, settle: 2s}"
TOP: Final = "guidance: Guide"
SURGING: Final = {"has_surges": True, "malice": 0.1, "fault_rate": 0.002, "episodes": 0.0, "kills": 0.0}


def _bringing_back_the_old(original: Any) -> Any:
    """Whatever anybody has written on a pod while it was out is gone."""

    def given_back(pod: Any) -> Any:
        found = detachment_of(pod)
        labels = {} if found is None else {key: pod.labels[key] for key in ("app",)} | {found.label: found.value}
        return original(pod) if found is None else structs.replace(original(pod), labels=labels)

    return given_back


def _without_verdict(original: Any) -> Any:
    """The last step is taken by the leave that was given before the pod was taken out."""

    def take(self: LastStep, move: Any, seen_at: float) -> Any:
        @contextmanager
        def unasked() -> Iterator[None]:
            before = OwnVerdict.ask
            OwnVerdict.ask = lambda *_: None  # type: ignore[method-assign]
            try:
                yield
            finally:
                OwnVerdict.ask = before  # type: ignore[method-assign]

        with unasked():
            return original(self, move, seen_at)

    return take


def _looking_away(original: Any) -> Any:
    return lambda target, cluster, seconds, _lease="": original(target, cluster, seconds, "")


def _answering(original: Any) -> Any:
    return lambda self: [(surge, sight._replace(answers=True, failure=None)) for surge, sight in original(self)]


BUGS: Final = (
    SeededBug(
        "gone before Ready", "a pod that is out is evicted whether its replacement works or not", ("I34",),
        together(changed(surge_core, "is_ready", always(True)), changed(SurgeMoves, "_sights", _answering)),
        policy=RULE, top=TOP, settings={**SURGING, "share_ill": 0.5},
    ),
    SeededBug(
        "forgets to undo", "what a run has taken out stays out when it stops", ("I35",),
        changed(surge_moves, "give_back", always(None)), policy=RULE, top=TOP,
        settings={**SURGING, "share_ill": 0.3},
    ),
    SeededBug(
        "undo overwrites", "giving a pod back undoes what others have written on it since", ("I36",),
        changed(detaching, "given_back", _bringing_back_the_old), policy=RULE, top=TOP,
        settings={**SURGING, "share_ill": 0.4},
    ),
    SeededBug(
        "owners are not watched", "a surge goes on whatever the pod's owner wants by now", ("I36",),
        changed(surge_core, "_what_changed", always(None)), policy=RULE, top=TOP,
        settings={**SURGING, "share_ill": 0.0, "world_pace": 2.0},
    ),
    SeededBug(
        "leave of before", "before a pod that is out goes, the gate is not asked again", ("I34",),
        changed(LastStep, "take", _without_verdict), policy=RULE, top=TOP, settings=SURGING,
    ),
    SeededBug(
        "next leader looks away", "what a leader that died took out is left until its time is over", ("I35",),
        changed(rounds, "tidy_up", _looking_away), policy=RULE, top=TOP,
        settings={**SURGING, "kills": 30.0, "share_ill": 0.4},
    ),
)  # fmt: skip
