"""Every rule of eligibility, listed by hand in the order in which they are asked; the first objection counts."""

from __future__ import annotations

from typing import Final

from rescheduler.disruption.rules import (
    budgets,
    identity,
    marks,
    methods,
    nodes,
    orders,
    prediction,
    scope,
    storage,
    unsettled,
)
from rescheduler.disruption.rules.rule import Rule, Stage

MOVING: Final = (
    Stage("debt", (Rule("OpenDebt", budgets.open_debt),)),
    Stage(
        "kind",
        (
            Rule("Stop", orders.stop),
            Rule("Finished", identity.finished),
            Rule("Terminating", identity.terminating),
            Rule("OnItsWay", methods.on_its_way),
            Rule("Placeholder", identity.placeholder),
            Rule("MirrorPod", identity.mirror_pod),
            Rule("DaemonSet", identity.daemon_set),
            Rule("Migrate", methods.migrate),
            Rule("Job", identity.job),
            Rule("CriticalPriority", identity.critical_priority),
            Rule("SystemNamespace", scope.system_namespace),
            Rule("Namespace", scope.namespace),
            Rule("DoNotEvict", marks.do_not_evict),
            Rule("SafeToEvict", marks.safe_to_evict),
            Rule("PreferNoEviction", marks.prefer_no_eviction),
            Rule("SeveralControllers", identity.several_controllers),
            Rule("OwnerUnknown", identity.owner_unknown),
            Rule("CustomController", identity.custom_controller),
            Rule("Ownerless", identity.ownerless),
            Rule("Surge", methods.surge),
            Rule("NotReady", identity.not_ready),
            Rule("LocalStorage", storage.local_storage),
            Rule("PersistentVolume", storage.persistent_volume),
            Rule("UnmodelledPredicate", prediction.unmodelled_predicate),
            Rule("UnknownScheduler", prediction.unknown_scheduler),
            Rule("LabelSelector", scope.label_selector),
            Rule("PriorityBelow", scope.priority_below),
            Rule("SeveralPodDisruptionBudgets", budgets.several_pod_disruption_budgets),
            Rule("PodDisruptionBudget", budgets.pod_disruption_budget),
            Rule("WithoutBudget", budgets.without_budget),
            Rule("SingleReplica", budgets.single_replica),
            Rule("Rollout", unsettled.rollout),
            Rule("Rescaled", unsettled.rescaled),
            Rule("Autoscaled", unsettled.autoscaled),
            Rule("StatefulSet", unsettled.incomplete_stateful_set),
            Rule("ReplacementInDoubt", unsettled.replacement_in_doubt),
            Rule("WorkloadBudget", budgets.workload_budget),
            Rule("Breaker", orders.breaker),
        ),
    ),
    Stage(
        "node",
        (
            Rule("UnusableNode", nodes.unusable_node),
            Rule("NodeNotReady", nodes.not_ready_node),
            Rule("VirtualNode", nodes.virtual_node),
            Rule("MarkedNode", nodes.marked_node),
            Rule("NodeSelector", nodes.node_selector),
        ),
    ),
    Stage(
        "pod",
        (
            Rule("OwnPod", identity.own_pod),
            Rule("MigrationUnderWay", methods.asked_already),
            Rule("MovedOnce", identity.moved_once),
            Rule("DoNotDisrupt", marks.do_not_disrupt),
            Rule("MinimumAge", scope.minimum_age),
            Rule("BackOff", orders.back_off),
        ),
    ),
    Stage("budget", (Rule("Budget", budgets.budget),)),
)
"""Who may be moved, asked of every pod that is or was on a node."""

HELPING: Final = (
    Stage(
        "pod",
        (
            Rule("Terminating", identity.terminating),
            Rule("Placeholder", identity.placeholder),
            Rule("SchedulingGated", prediction.scheduling_gated),
            Rule("UnknownScheduler", prediction.unknown_scheduler),
            Rule("UnmodelledPredicate", prediction.unmodelled_predicate),
            Rule("Namespace", scope.selected_namespace),
            Rule("LabelSelector", scope.selected_labels),
            Rule("Autoscaler", orders.left_to_others),
        ),
    ),
)
"""Who may be helped, asked of every pod without a node. The policy's scope says what may be moved, not whom to help."""
