"""Every metric of the daemon in one table: the metrics are made from it, and so is the table in docs/operations.md."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

PREFIX: Final = "rescheduler_"


class Family(NamedTuple):
    """One metric: its name without the prefix, as Prometheus shows it, and its labels, each of a few values."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    labels: tuple[str, ...] = ()

    @property
    def full_name(self) -> str:
        """As Prometheus shows it."""
        return PREFIX + self.name


COUNTERS: Final = (
    Family("rounds_total", "counter", "Rounds, by the first trigger that asked, and how they ended.",
           ("trigger", "outcome", "dry_run")),
    Family("triggers_fired_total", "counter", "Times that a trigger asked for a round.", ("trigger",)),
    Family("planned_moves_total", "counter", "Moves in plans, by the objective that they serve.",
           ("objective", "dry_run")),
    Family("moves_total", "counter", "Moves of plans that were carried out, by what became of them.", ("outcome",)),
    Family("plans_again_total", "counter", "Times that what was left of a plan was planned again, and had moves."),
    Family("moves_dropped_total", "counter", "Moves that were not made, and not planned again with the rest."),
    Family("evictions_total", "counter", "Evictions, counted once under each state that they reach.", ("outcome",)),
    Family("approvals_total", "counter", "Plans that a person was asked about, by what was heard.", ("outcome",)),
    Family("capacity_requests_total", "counter", "Times that an autoscaler was asked for room.", ("how",)),
    Family("nodes_offered_total", "counter", "Emptied nodes that were left to an autoscaler.", ("how",)),
    Family("lost_nominations_total", "counter",
           "Pods found nominated to room that no plan makes any more (autoscaler.firstTry)."),
    Family("leadership_changes_total", "counter", "Times that this process began or ceased to lead."),
    Family("policy_loads_total", "counter", "Policies that came in force."),
    Family("faults_total", "counter", "Failures of the rescheduler itself that were survived, by the part.", ("part",)),
)  # fmt: skip
"""Counted as they are heard of."""
HISTOGRAMS: Final = (
    Family("round_seconds", "histogram", "Time of a round, from the look at the cluster to the last replacement."),
    Family("planning_seconds", "histogram", "Time that planning took in a round."),
    Family("eviction_repaid_seconds", "histogram", "Time from an eviction until its workload was complete again."),
)
"""Observed as they are heard of."""
OF_ROUND: Final = (
    Family("last_round_timestamp_seconds", "gauge", "When the last round ended."),
    Family("last_round_planned_moves", "gauge", "Moves in the last round's plan."),
    Family("last_round_seconds", "gauge", "Time of the last round, by step.", ("step",)),
    Family("refusals", "gauge", "What the last plan left alone, by the rule that refused it.", ("rule",)),
    Family("objective_value", "gauge", "What the last plan reached, in the objective's own unit.", ("objective",)),
    Family("objective_bound", "gauge", "Proven: no plan can do better than this.", ("objective",)),
    Family("objective_gap_ratio", "gauge", "|value - bound| / max(1, |bound|); 0: proven best.", ("objective",)),
    Family("pending_pods_wanted", "gauge", "Pending pods that the last plan was to help."),
    Family("pending_pods_helped", "gauge", "Pending pods that get a place by the last plan."),
)
"""Of the last round; absent before the first one."""
OF_DAEMON: Final = (
    Family("build_info", "gauge", "1, with the version that runs.", ("version",)),
    Family("dry_run", "gauge", "1 while the policy's mode is DryRun: nothing is carried out."),
    Family("policy_info", "gauge", "1, with the policy in force.", ("policy", "policy_id", "mode")),
    Family("policy_held", "gauge", "1 while a policy that reaches further waits to be acknowledged."),
    Family("policy_valid", "gauge", "0 while the policy's file cannot be used and the one before stays in force."),
    Family("is_leader", "gauge", "1 while this process leads."),
    Family("paused", "gauge", "1 while a person has paused the daemon."),
    Family("plans_waiting_approval", "gauge", "Plans that wait for a person."),
    Family("approval_expires_timestamp_seconds", "gauge", "When the plan that waits expires; absent if none does."),
    Family("loop_heartbeat_age_seconds", "gauge", "Time since the main loop last showed that it lives."),
    Family("moves_by_state", "gauge", "Moves of the plan under way, or of the last one, by how far they have come.",
           ("state",)),
    Family("kinds_out_of_sync", "gauge", "Kinds of objects that are not watched at the moment."),
    Family("watch_in_sync", "gauge", "1 while a kind of objects is watched.", ("kind",)),
    Family("watch_age_seconds", "gauge", "Time since the watches last told anything, the oldest of them."),
    Family("usage_age_seconds", "gauge", "Age of the measured load; absent without a provider."),
    Family("snapshot_nodes", "gauge", "Nodes of the cluster as last seen."),
    Family("snapshot_pods", "gauge", "Pods of the cluster as last seen, pending ones too."),
    Family("snapshot_pending_pods", "gauge", "Pods that wait for a node, as last seen."),
    Family("objects_set_aside", "gauge", "Objects of which something cannot be counted (an amount of 8Ei), by kind.",
           ("kind",)),
    Family("snapshot_age_seconds", "gauge", "Age of what was last seen."),
    Family("ledger_debts", "gauge", "Evicted pods of which no replacement is proven to work yet."),
    Family("frozen", "gauge", "1 while the cluster's health forbids evictions, or did until just now."),
    Family("breaker_open", "gauge", "1 while the circuit breaker is open: nothing is evicted, or one on trial."),
    Family("breaker_openings", "gauge", "Openings of the breaker since an operator last closed it."),
    Family("api_requests_total", "counter", "Requests to the API server; outcome: its status, or why none came.",
           ("verb", "kind", "outcome")),
)  # fmt: skip
"""As the daemon stands when it is asked; absent where nothing is known."""
FIGURES: Final = (*COUNTERS, *HISTOGRAMS, *OF_ROUND, *OF_DAEMON)


def metrics_table() -> str:
    """All of them as a table in Markdown."""
    head = "| metric | kind | labels | meaning |\n| --- | --- | --- | --- |\n"
    return head + "".join(_row(figure) for figure in FIGURES)


def _row(figure: Family) -> str:
    labels = ", ".join(f"`{label}`" for label in figure.labels)
    meaning = figure.meaning.replace("|", "\\|")
    return f"| `{figure.full_name}` | {figure.kind} | {labels} | {meaning} |\n"
