"""It must also work: doing nothing would hold every invariant (L1 to L4)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from msgspec import structs

from rescheduler.adapters.simulated.scenarios import fragmented, several_pending
from tests.soak.line.faults import Fault, Faults
from tests.soak.scenes import Scene, one_by_one
from tests.soak.world.conditions import NEVER_READY

ROUND = 300.0


def test_first_useful_move_within_two_cycles() -> None:
    """L1: on an improvable cluster the first eviction comes in the second round at the latest."""
    scene = Scene(fragmented(1), unsettled="Allow")
    scene.passes(2.2 * ROUND / 3600)
    assert scene.diary.evicted
    scene.close()


def test_target_state_is_reached_within_a_day() -> None:
    """L1: nodes that can be emptied are, hour by hour within the rates, until a round finds nothing more to do."""
    scene = Scene(fragmented(2, 8), objectives="- name: EmptyNodes", head_room="0%", round_seconds=900.0)
    scene.passes(24)
    assert scene.diary.evicted
    assert scene.pending() == []
    assert not scene.diary.plans[-1][1].moves
    scene.close()


def test_waiting_pods_are_admitted() -> None:
    """L3: of pending pods that a legal set of moves can admit, at least 95 % are, whatever the cluster."""
    wanted = admitted = 0
    for seed in range(20):
        cluster = fragmented(seed, 5) if seed % 2 else several_pending(seed)
        scene = Scene(cluster, seed=seed)
        before = set(scene.pending())
        scene.passes(3)
        # The first plans may be empty: whether a workload is settled is known only some minutes after it is first seen.
        helping = next((plan for _, plan in scene.diary.plans if plan.placements), None)
        helped = {item.pod.key for item in helping.placements} if helping else set()
        wanted += len(helped & before)
        admitted += len(helped & before - set(scene.pending()))
        scene.close()
    assert wanted >= 20
    assert admitted >= 0.95 * wanted, f"{admitted} of {wanted}"


def test_freeze_ends_with_its_cause() -> None:
    """L2: while a third of the nodes is down nothing moves; when they are back and it was calm, pods move again."""
    scene = Scene(fragmented(3, 9))
    down = sorted(scene.world.store.nodes)[:3]
    for name in down:
        scene.world.take_down(name)
    scene.passes(0.06)
    for name in down:
        scene.world.bring_up(name)
    assert scene.diary.evicted == []
    scene.passes(2)
    assert scene.diary.evicted
    scene.close()


def test_breaker_opens_and_closes_after_its_trial() -> None:
    """L2: a replacement that never works opens the breaker; healed, a trial after the rest lets moves go on."""
    scene = Scene(one_by_one(8), round_seconds=60.0)
    scene.world.conditions.illness["ReplicaSet-web"] = NEVER_READY
    scene.passes(1)
    assert len(scene.diary.evicted) == 1
    assert scene.run.ledger.ledger.breaker.opened_at is not None
    scene.world.conditions.illness.clear()
    for pod in [pod for pod in scene.world.store.pods.values() if pod.name.startswith("web") and not pod.is_ready]:
        scene.world.delete_pod(pod.namespace, pod.name)
    scene.world.scale("Deployment-big", 2)
    scene.passes(1)
    scene.world.scale("Deployment-big", 3)
    scene.passes(3)
    assert len(scene.diary.evicted) == 3
    assert scene.pending() == []
    assert scene.run.ledger.ledger.breaker.opened_at is None
    scene.close()


def test_exhausted_budget_blocks_only_its_own_workload() -> None:
    """L4: a workload whose PodDisruptionBudget allows nothing for ever does not keep others from moving."""
    scene = Scene(fragmented(5, 8), objectives="- name: EmptyNodes")
    blocked = next(pod for pod in scene.world.store.pods.values() if pod.labels.get("app") == "web")
    budget = next(iter(scene.world.store.budgets.values()))
    selector = scene.world.store.owner_of(blocked).selector  # type: ignore[union-attr]
    scene.world.put_budget(
        structs.replace(
            budget, name="nothing", namespace=blocked.namespace, selector=selector, max_unavailable="0",
            min_available=None,
        )
    )  # fmt: skip
    scene.passes(6)
    assert scene.diary.evicted
    assert not [key for _, key in scene.diary.evicted if key.startswith(f"{blocked.namespace}/web")]
    scene.close()


class _BrokenWebhook(Faults):
    """An admission webhook denies every eviction in one namespace, with a code of its own."""

    def __init__(self, now: Callable[[], float], namespace: str) -> None:
        super().__init__(Random(0), now, 0.0, 0.0)
        self._namespace = namespace

    def draw(self, site: str, where: str = "") -> Fault | None:
        """Only evictions there."""
        return Fault("webhook") if site in ("dry run", "evict") and where == self._namespace else None


def test_broken_webhook_blocks_only_its_own_namespace() -> None:
    """L4: where a webhook denies every eviction in one namespace, pods of others move all the same."""
    cluster = fragmented(6, 8)
    split = {pod.labels["app"]: "denied" if pod.labels.get("app") == "web" else pod.namespace for pod in cluster.pods}
    assert "denied" in split.values()
    scene = Scene(
        _in_namespaces(cluster, split),
        objectives="- name: EmptyNodes",
        faults=lambda now: _BrokenWebhook(now, "denied"),
    )
    scene.passes(8)
    assert {key.partition("/")[0] for _, key in scene.diary.evicted} == {"shop"}
    scene.close()


def _in_namespaces(cluster, split):  # type: ignore[no-untyped-def]
    """The cluster with each application in the namespace given for it."""
    from dataclasses import replace

    def of(item):  # type: ignore[no-untyped-def]
        app = item.name.partition("-")[0]
        return structs.replace(item, namespace=split.get(app, item.namespace))

    pods = tuple(structs.replace(pod, namespace=split[pod.labels["app"]]) for pod in cluster.pods)
    pods = tuple(sorted(pods, key=lambda pod: (pod.namespace, pod.name)))
    return replace(
        cluster, pods=pods, workloads=tuple(map(of, cluster.workloads)), budgets=tuple(map(of, cluster.budgets))
    )
