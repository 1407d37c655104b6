"""Findings about what stands in a cluster: schedulers, budgets, pods that nothing may move, and others that evict."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.disruption.gate.kill_switch import stop_mark
from rescheduler.model.objects.annotations import STOP
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Refusal
from rescheduler.policy.fields.policy import Mode, Policy
from rescheduler.report.cells import plural
from rescheduler.report.diagnosis import Diagnosed
from rescheduler.scheduling.schedulers import Schedulers

BELONG_THERE: Final = frozenset({
    "Finished", "Terminating", "Placeholder", "MirrorPod", "DaemonSet", "Job", "CriticalPriority", "Namespace",
    "SystemNamespace", "UnknownScheduler", "PodDisruptionBudget", "Stop",
})  # fmt: skip
"""Rules by which pods are meant to stay, and those that have findings of their own."""
FIXES: Final[Mapping[str, str]] = {
    "Ownerless": "let a ReplicaSet or StatefulSet make them, or write disruption: {ownerless: Allow}",
    "SingleReplica": "run two replicas, or write disruption: {singleReplicas: Allow}",
    "LocalStorage": 'annotate them cluster-autoscaler.kubernetes.io/safe-to-evict: "true" where the data may go, or '
    "write disruption: {localStorage: Allow}",
    "PersistentVolume": "write disruption: {persistentVolumes: Allow}, where their volumes can follow them",
    "SeveralPodDisruptionBudgets": "let one PodDisruptionBudget alone select each pod: the Eviction API refuses others",
    "OwnerUnknown": "see whether their controller still exists and is of a kind that replaces pods",
}  # fmt: skip
OTHERS: Final[Mapping[str, str]] = {
    "descheduler": "end it, or keep the two apart by scope.namespaces: each would undo what the other does",
    "karpenter": "keep its consolidation off what is moved here, by budgets of its NodePools (docs/autoscaling.md)",
    "cluster-autoscaler": "say who takes nodes away: autoscaler.scaleDown (docs/autoscaling.md)",
}
"""Programs that evict as well, by a word in name, label or image of their pods."""
_NAMING: Final = ("app.kubernetes.io/name", "app", "k8s-app", "app.kubernetes.io/component")


def cluster_findings(cluster: Cluster, policy: Policy, schedulers: Schedulers) -> Iterator[Diagnosed]:
    """What this policy meets in a snapshot."""
    yield from _kill_switch(cluster, policy)
    yield from _schedulers(cluster, schedulers)
    yield from _budgets(cluster)
    yield from _pods_that_stay(cluster, policy, schedulers)
    yield from _other_evictors(cluster)


def _kill_switch(cluster: Cluster, policy: Policy) -> Iterator[Diagnosed]:
    reason = stop_mark(cluster, policy)
    if reason is not None:
        name = policy.hold.namespace
        fix = f"kubectl annotate namespace {name} {STOP}- lets it go on"
        yield Diagnosed("KillSwitch", f"namespace {name}", f"nothing may be evicted: {reason}", fix, True)


def _schedulers(cluster: Cluster, schedulers: Schedulers) -> Iterator[Diagnosed]:
    """Pods of schedulers that nobody can predict, and what of the known ones is not modelled."""
    used = Counter(pod.spec.scheduler_name for pod in cluster.pods if not pod.is_finished)
    for name in sorted(used.keys() - schedulers.names):
        yield Diagnosed(
            "UnknownScheduler",
            name,
            f"{plural(used[name], 'pod')} of this scheduler can be neither moved nor helped: the policy does not say "
            "how it chooses nodes",
            f"write schedulers: [{{schedulerName: {name}}}] where it is a kube-scheduler as it comes, else name its "
            "file or ConfigMap (docs/scheduler-configuration.md)",
        )
    for warning in schedulers.configuration.warnings:
        fix = "see docs/scheduler-configuration.md for what that means for predictions"
        yield Diagnosed("SchedulerModel", "", warning, fix)


def _budgets(cluster: Cluster) -> Iterator[Diagnosed]:
    """PodDisruptionBudgets that allow nothing even when all their pods are well, or whose status nobody keeps."""
    for budget in cluster.budgets:
        fix = "let maxUnavailable be 1 or more, or minAvailable below the number of pods"
        if budget.problem is not None:
            fix = "see kubectl describe poddisruptionbudget, and whether the controller manager runs"
            yield Diagnosed("PodDisruptionBudget", budget.key, f"it allows nothing: {budget.problem}", fix)
        elif budget.expected_pods > 0 and budget.desired_healthy >= budget.expected_pods:
            wanted = f"minAvailable {budget.min_available}" if budget.min_available is not None else None
            said = wanted or f"maxUnavailable {budget.max_unavailable}"
            yield Diagnosed(
                "PodDisruptionBudget",
                budget.key,
                f"it never allows an eviction: {said} wants {budget.desired_healthy} healthy of "
                f"{plural(budget.expected_pods, 'pod')}; kubectl drain waits for ever, too",
                fix,
            )


def _pods_that_stay(cluster: Cluster, policy: Policy, schedulers: Schedulers) -> Iterator[Diagnosed]:
    """Rules by which pods stay for as long as nobody changes pod or policy, the most pods first."""
    configured = schedulers.configured(cluster)
    eligibility = decide_eligibility(configured, policy, schedulers=schedulers.names)
    by_rule: dict[str, list[tuple[Pod, Refusal]]] = defaultdict(list)
    for index, refusal in eligibility.refusals.items():
        by_rule[refusal.rule].append((configured.pods[index], refusal))
    for rule, found in sorted(by_rule.items(), key=lambda item: (-len(item[1]), item[0])):
        if rule in FIXES:
            pod, refusal = found[0]
            yield Diagnosed(rule, pod.key, f"{_and_more(len(found))}: {refusal.message}", FIXES[rule])
    if not eligibility.movable and any(rule not in BELONG_THERE for rule in by_rule):
        what = "no running pod may be moved under this policy"
        if policy.mode is not Mode.DRY_RUN:
            what += f", so mode: {policy.mode.value} has nothing to do"
        yield Diagnosed("NothingMovable", f"policy {policy.metadata.name}", what,
                        "rescheduler explain pod NAMESPACE/NAME says why for each")  # fmt: skip


def _and_more(count: int) -> str:
    return "this pod stays" if count == 1 else f"this and {plural(count - 1, 'more pod')} stay"


def _other_evictors(cluster: Cluster) -> Iterator[Diagnosed]:
    for word, fix in OTHERS.items():
        pods = [pod for pod in cluster.pods if not pod.is_finished and _is_named(pod, word)]
        if pods:
            more = f" (and {len(pods) - 1} more)" if len(pods) > 1 else ""
            yield Diagnosed("OtherEvictor", pods[0].key, f"{word} is at work here{more}; it evicts pods, too", fix)


def _is_named(pod: Pod, word: str) -> bool:
    """By a label, by the controller's name, or by the last part of an image's name."""
    names = [pod.labels.get(label, "") for label in _NAMING]
    names += [image.rpartition("/")[2].partition(":")[0].partition("@")[0] for image in pod.spec.images]
    if pod.controller is not None:
        names.append(pod.controller.name)
    return any(name == word or name.startswith(f"{word}-") for name in names)
