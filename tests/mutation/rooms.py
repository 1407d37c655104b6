"""The rooms into whose modules faults are put, and the tests that are asked first about each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from tests.mutation.mutants import mutants
from tests.paths import ROOT


class Room(NamedTuple):
    """``path`` of the package, ``tests`` of its tests; ``judged``: its modules, and their own test files.

    ``folders``: of the room, those that are judged; none: all of it.
    """

    path: str
    tests: str
    judged: Mapping[str, Sequence[str]]
    folders: Sequence[str] = ()

    @property
    def that_can_be_wrong(self) -> Iterator[str]:
        """Modules of the folders that are judged in which a fault can be made."""
        room = ROOT / self.path
        for path in room.rglob("*.py"):
            name = path.relative_to(room).with_suffix("").as_posix()
            is_in = not self.folders or name.startswith(tuple(f"{folder}/" for folder in self.folders))
            if is_in and any(True for _ in mutants(path.read_text(encoding="utf-8"))):
                yield name


_DISRUPTION: Final[Mapping[str, Sequence[str]]] = {
    "gate/gate": ("gate/test_gate", "gate/test_spent", "gate/test_usage_trust", "gate/test_methods_at_the_gate"),
    "gate/breaker": ("gate/test_breaker",),
    "gate/health": ("gate/test_health", "gate/test_head_room"),
    "gate/kill_switch": ("rules/test_orders",),
    "gate/policy_gate": ("gate/test_policy_gate",),
    "earlier/back_off": ("earlier/test_back_off",),
    "earlier/open_evictions": ("earlier/test_open_evictions",),
    "earlier/owed_room": ("earlier/test_owed_room",),
    "earlier/ramp_up": ("earlier/test_ramp_up", "earlier/test_ramp_up_steps"),
    "absent_kinds": ("test_absent_kinds",),
    "cautions": ("test_cautions",),
    "eligibility": ("test_eligibility", "test_eligibility_of_few"),
    "eligibility_context": (
        "test_eligibility_context",
        "test_eligibility",
        "rules/test_unsettled",
        "methods/test_surges",
    ),
    "karpenter": ("test_karpenter",),
    "methods/could_surge": ("methods/test_surges",),
    "methods/move_methods": ("methods/test_surges", "test_migrations"),
    "methods/surges": ("methods/test_surges",),
    "pod_kinds": ("test_pod_kinds", "test_eligibility"),
    "replica_changes": ("test_replica_changes",),
    "budgets/budget_status": ("budgets/test_policy_budgets", "budgets/test_rates", "budgets/test_gate_with_budgets"),
    "budgets/coverage": ("budgets/test_policy_budgets", "budgets/test_rates", "budgets/test_workload_budgets"),
    "budgets/open_evictions_counted": ("budgets/test_open_evictions_counted", "budgets/test_gate_with_budgets"),
    "budgets/pod_disruption_budgets": ("budgets/test_pod_disruption_budgets",),
    "budgets/policy_budgets": ("budgets/test_policy_budgets", "methods/test_surges"),
    "budgets/windows": ("budgets/test_windows",),
    "budgets/workload_budgets": ("budgets/test_workload_budgets",),
    "rules/budgets": ("budgets/test_pod_disruption_budgets", "budgets/test_policy_budgets"),
    "rules/identity": ("rules/test_identity", "test_migrations"),
    "rules/marks": ("rules/test_marks",),
    "rules/methods": ("methods/test_surges", "test_migrations"),
    "rules/nodes": ("rules/test_nodes",),
    "rules/orders": ("rules/test_orders",),
    "rules/prediction": ("rules/test_prediction",),
    "rules/scope": ("rules/test_scope",),
    "rules/storage": ("rules/test_storage", "test_migrations"),
    "rules/unsettled": ("rules/test_unsettled",),
}
_EXECUTION: Final[Mapping[str, Sequence[str]]] = {
    "core/events": ("core/test_step", "run/test_segment_run"),
    "core/move_state": ("core/test_step", "core/test_core_model"),
    "core/step": ("core/test_step", "core/test_core_model"),
    "eviction/evicting": ("eviction/test_evictor", "eviction/test_evicting", "test_last_look"),
    "eviction/making_way": (
        "eviction/test_making_way",
        "run/test_segment_run",
        "run/test_executor",
    ),
    "eviction/own_verdict": ("eviction/test_verdicts_in_time", "eviction/test_own_verdict", "run/test_segment_run"),
    "guidance/gated_moves": (
        "guidance/test_gated_endings",
        "guidance/test_gated_moves",
        "guidance/test_gated_room",
        "test_exchanges",
    ),
    "guidance/gates": ("guidance/test_gates", "guidance/test_gated_moves"),
    "guidance/guidance_support": (
        "guidance/test_guidance_support",
        "guidance/test_gates",
        "run/test_executor",
        "test_tainting",
    ),
    "guidance/guiding": ("guidance/test_guiding",),
    "guidance/hold_maker": ("guidance/test_hold_maker", "guidance/test_room"),
    "guidance/holds": (
        "guidance/test_taints_among_holds",
        "guidance/test_holds",
    ),
    "guidance/leaving_nothing": (
        "guidance/test_leaving_nothing",
        "run/test_executor",
        "test_interruption",
    ),
    "guidance/room": ("guidance/test_room_by_taints", "guidance/test_room"),
    "ledger/ledger_entries": ("ledger/test_ledger_entries", "ledger/test_ledger_session"),
    "ledger/ledger_rules": (
        "ledger/test_ledger_rules",
        "ledger/test_ledger_session",
        "test_two_processes",
    ),
    "ledger/ledger_session": (
        "ledger/test_steps_of_a_session",
        "ledger/test_ledger_session",
        "ledger/test_full_ledger",
        "test_two_processes",
    ),
    "ledger/ledger_writer": ("ledger/test_ledger_writer",),
    "ledger/open_evictions": ("ledger/test_open_evictions", "ledger/test_open_surges"),
    "ledger/private_ledger": (
        "ledger/test_ledger_rules",
        "run/test_executor",
    ),
    "ledger/remembering_ledger": ("ledger/test_remembering_ledger",),
    "ledger/repayment": ("ledger/test_repayment", "ledger/test_ledger_session", "ledger/test_full_ledger"),
    "ledger/told_audit_log": (
        "ledger/test_ledger_rules",
        "ledger/test_ledger_session",
        "run/test_move_news",
    ),
}

ROOMS: Final = {
    "disruption": Room("rescheduler/disruption", "tests/unit/disruption", _DISRUPTION),
    "execution": Room(
        "rescheduler/execution", "tests/unit/execution", _EXECUTION, ("core", "eviction", "guidance", "ledger")
    ),
}
"""What the own tests of a module miss is given to all tests of the room."""
