"""What goes wrong in the components of the cluster: owners, kubelets, scheduler, disruption controller."""

from __future__ import annotations

from msgspec import structs

from tests.soak.world.components import with_ready
from tests.soak.world.conditions import ILLNESSES
from tests.soak.world.events.choosing import Choosing
from tests.soak.world.scenery import (
    HOSTNAME,
)


class ComponentEvents(Choosing):
    """As WorkloadEvents."""

    def _for_a_while(self, broken: dict, key: str, value: object, low: float, high: float) -> float:  # type: ignore[type-arg]
        broken[key] = value

        def mend() -> None:
            broken.pop(key, None)
            self._world.look_at_pods_again()
            self._world.reconcile(key)

        return self._later(low, high, mend)

    def _pods_fall_ill(self) -> tuple[str, str] | None:
        owner = self._direct()
        if owner is None:
            return None
        illness = self._random.choice(ILLNESSES)
        seconds = self._for_a_while(self._world.conditions.illness, owner.uid, illness, 300, 3600)
        return owner.key, f"{illness} for {seconds:.0f} s"

    def _new_pods_refused(self) -> tuple[str, str] | None:
        owner = self._direct()
        if owner is None:
            return None
        seconds = self._for_a_while(self._world.conditions.blocked, owner.uid, None, 120, 3600)
        return owner.key, f"for {seconds:.0f} s"

    def _kubelet_refuses(self) -> tuple[str, str] | None:
        name = self._node()
        if name is None:
            return None
        seconds = self._for_a_while(self._world.conditions.refusing, name, None, 60, 1200)
        return name, f"for {seconds:.0f} s"

    def _scheduler_passes_over(self) -> tuple[str, str] | None:
        owner = self._direct()
        if owner is None:
            return None
        seconds = self._for_a_while(self._world.conditions.stuck, owner.uid, None, 60, 1800)
        return owner.key, f"for {seconds:.0f} s"

    def _scheduler(self, mode: str, low: float, high: float) -> tuple[str, str]:
        conditions = self._world.conditions
        conditions.scheduler = mode
        seconds = self._later(low, high, lambda: setattr(conditions, "scheduler", "best"))
        return "scheduler", f"{mode} for {seconds:.0f} s"

    def _scheduler_paused(self) -> tuple[str, str]:
        return self._scheduler("paused", 20, 900)

    def _scheduler_chooses_worst(self) -> tuple[str, str]:
        return self._scheduler("worst", 300, 7200)

    def _budgets_lag(self) -> tuple[str, str]:
        conditions = self._world.conditions
        conditions.budget_lag = self._random.uniform(0, 120)
        self._later(300, 3600, lambda: setattr(conditions, "budget_lag", 0.05))
        return "disruption controller", f"{conditions.budget_lag:.0f} s late"

    def _budgets_stop(self) -> tuple[str, str]:
        conditions = self._world.conditions
        conditions.budgets_return_in = self._random.uniform(120, 1800)
        self._later(conditions.budgets_return_in, conditions.budgets_return_in + 1,
                    lambda: setattr(conditions, "budgets_return_in", 0.0))  # fmt: skip
        return "disruption controller", f"stopped for {conditions.budgets_return_in:.0f} s"

    def _pod_restarts(self) -> tuple[str, str] | None:
        pod = self._pod()
        if pod is None or not pod.is_ready:
            return None
        down = with_ready(pod, 0.0, is_ready=False)
        self._world.put(structs.replace(down, restart_count=pod.restart_count + 1))

        def ready_again() -> None:
            now = self._world.store.same(pod)
            node = None if now is None else self._world.store.nodes.get(now.node_name or "")
            if now is not None and not now.is_terminating and node is not None and node.is_ready:
                self._world.put(with_ready(now, self._world.clock.now(), is_ready=True))

        return pod.key, f"ready again in {self._later(2, 90, ready_again):.0f} s"

    def _pod_reappears(self) -> tuple[str, str] | None:
        """A StatefulSet's pod is deleted and comes back under its old name, with another uid."""
        pod = self._pod("StatefulSet")
        if pod is not None:
            self._world.delete_pod(pod.namespace, pod.name)
        return None if pod is None else (pod.key, HOSTNAME)
