"""Faults that are none: the module does the same with them, whatever is asked of it; each with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.mutation.rooms import ROOMS, Room

EQUIVALENT: Final[Mapping[str, Mapping[str, Mapping[str, str]]]] = {
    "disruption": {
        "budgets/coverage": {
            "to True: np.append(covered, False)": "nobody reads where a pod is counted that was not asked about",
        },
        "budgets/pod_disruption_budgets": {
            "to Lt: len(labels) <= len(self._by_label)": "either of two ways finds the same labels, one of them sooner",
            "to GtE: len(labels) <= len(self._by_label)": "the same: the longer way round",
            (
                "condition turned round: if len(labels) <= len(self._by_label): "
                "return [label for label in labels.items() if label "
            ): "the same",
        },
        "budgets/policy_budgets": {
            "to 2: offset = 1": (
                "numbers only tell answers apart, and 0 from all others: they may begin anywhere above it"
            ),
            "to 4: 3 * len(status.instances)": "the same: a gap between the numbers of two budgets changes nothing",
            "to False: zip(names_of(budgets), budgets, strict=True)": "each budget has one name",
        },
        "budgets/windows": {
            "to False: zip(names_of(budgets), budgets, strict=True)": "each budget has one name",
        },
        "earlier/owed_room": {
            "to False: zip(nodes, selected, strict=True)": (
                "what a table selects is as long as its nodes: strict or not"
            ),
        },
        "earlier/ramp_up": {
            "to False: zip(steps, times, strict=True)": "each step is told one time",
            "to And: disruption.ramp_up is None or has_ended(ledger, disruption, now)": (
                "without a ramp-up it has ended too, and once it has ended no step is made to wait"
            ),
        },
        "gate/gate": {
            "to False: dataclass(frozen=True)": (
                "nobody writes to it; frozen says so to readers and to the type checker"
            ),
        },
        "gate/health": {
            "to LtE: seen.at < now.at": (
                "a sighting of this very moment is of this very snapshot, and counts as it does"
            ),
        },
        "gate/policy_gate": {
            "to False: zip(group, self._permit(group, cluster, sent, ledger, is_lenient=need), strict=True)": (
                "each of a group is answered once"
            ),
        },
        "methods/surges": {
            "to And: owner is None or workload is None": (
                "who has an owner has a workload, and who has none has neither"
            ),
        },
        "methods/move_methods": {
            "to False: zip(context.kinds.examples, context.kinds.sizes, strict=True)": "a kind has one of each",
        },
    },
    "execution": {
        "core/move_state": {"to 11: DROPPED = 10": "the last of them comes after all others by any greater number"},
        "eviction/evicting": {
            "to 1.0: answer.retry_after_seconds or 0.0": "without a wish of the server 30 s are waited anyhow",
        },
        "guidance/gates": {
            "to 1.0: self._due_at = self._ends_at = 0.0": "both are set with the first rule",
        },
        "guidance/room": {
            "to 2: last + 1": "where nobody leaves a node, any wave after the last will do",
            "to 1.0: leaving_taint('', 0.0)": "who tolerates a taint does so whenever it ends",
            "to Lt: len(self._plan.moves) <= 1": "a pod that moves alone contests no room, and nobody makes any for it",
        },
        "guidance/holds": {
            "to 1.0: self._due_at = self._ends_at = 0.0": "both are set as the first placeholder is made",
        },
        "ledger/open_evictions": {
            "to 1.0: times[wanted - 1] if wanted else 0.0": "any time before the first eviction of all will do",
        },
        "ledger/private_ledger": {
            "to 1: self._version = 0": "versions only tell one state from another",
            "to Sub: self._version += 1": "the same",
            "to 2: self._version += 1": "the same",
        },
        "ledger/repayment": {
            "to False: zip(before.entries, after.entries, strict=True)": "what settles a ledger keeps each entry",
        },
    },
}
"""By room, module and what is changed, without the line."""


def is_known(room: Room, module: str, what: str) -> bool:
    """Whether a fault is listed."""
    known = next((EQUIVALENT[name] for name, found in ROOMS.items() if found == room), {})
    return what.partition(": ")[2] in known.get(module, ())
