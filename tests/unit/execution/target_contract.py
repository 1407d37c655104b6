"""What every ExecutionTarget promises, as tests: the simulated cluster and a real one have to pass the same cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import pytest

from rescheduler.extension_points import Clock, ClusterError, ExecutionTarget, HoldRequest, TaintLostError
from rescheduler.model.objects.annotations import GUIDE_GATE
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.leaving_taint import LEAVING, SLACK_SECONDS, ends_at, leaving_taints, plan_of
from rescheduler.model.plan.plan import Move, PodReference
from rescheduler.model.plan.vicinity import patched


class Stage(Protocol):
    """A cluster with one node ``n0`` of 4 CPU, and means to change it from outside."""

    target: ExecutionTarget
    clock: Clock

    def run(self, name: str, cpu: str, replicas: int = 1) -> Sequence[Pod]:
        """Create a ReplicaSet whose pods are labelled ``app: NAME``; its pods once the scheduler has looked at them."""

    def protect(self, name: str, app: str, minimum: int) -> None:
        """Create a PodDisruptionBudget with ``minAvailable`` and wait until it is observed."""

    def wait(self, is_so: Callable[[], bool], seconds: float = 20.0) -> None:
        """Let time pass until something is so; fails when it does not come."""

    def another(self) -> ExecutionTarget:
        """The same cluster as another process of ours has it."""


def reference(pod: Pod) -> PodReference:
    """A pod by name and uid."""
    return PodReference(pod.namespace, pod.name, pod.uid)


def app(name: str) -> LabelSelector:
    """The pods of one workload."""
    return LabelSelector((Requirement("app", "In", (name,)),))


def request(name: str = "hold-a-0", cpu: int = 2000, deadline: int = 60) -> HoldRequest:
    """A placeholder on n0."""
    return HoldRequest(name, "n0", (("cpu", cpu),), "", "default-scheduler", deadline, "a")


class TargetContract:
    """Inherit and give a fixture ``stage``."""

    def test_a_pod_is_read_as_it_stands(self, stage: Stage) -> None:
        """By name, with uid, version and node; None for what is not there."""
        pod = stage.run("web", "1")[0]
        live = stage.target.read_pod("default", pod.name)
        assert live is not None
        assert (live.uid, live.node_name, live.is_ready) == (pod.uid, "n0", True)
        assert live.resource_version
        assert stage.target.read_pod("default", "nobody") is None

    def test_pods_are_selected_by_label(self, stage: Stage) -> None:
        """Those of one workload, or all of a namespace."""
        stage.run("web", "500m", 2)
        stage.run("side", "500m")
        assert len(stage.target.read_pods("default", app("web"))) == 2
        assert len(stage.target.read_pods("default", None)) == 3
        assert stage.target.read_pods("elsewhere", None) in ([], ())

    def test_what_a_move_depends_on_is_read_as_it_stands(self, stage: Stage) -> None:
        """The pod and those that are counted with it, budgets, both nodes and who is on the destination, owners."""
        pod = stage.run("web", "500m", 2)[0]
        before = stage.target.read()
        stage.run("side", "500m")
        stage.protect("web", "web", 1)
        move = Move(reference(pod), "n0", "n0", 1, "MakeRoom", "because")
        around = stage.target.read_vicinity(move, before)
        assert {item.labels["app"] for item in around.pods if item.namespace == "default"} == {"web", "side"}
        assert [item.name for item in around.budgets] == ["web"]
        assert [item.name for item in around.nodes] == ["n0"]
        assert [item.key for item in around.workloads] == ["ReplicaSet default/web"]
        now, then = stage.target.read(), patched(before, move, around, before.taken_at)
        assert [item.key for item in then.pods] == [item.key for item in now.pods]
        assert then.budgets == now.budgets
        assert then.workload_of(then.pod_by_key[pod.key]) == now.workload_of(now.pod_by_key[pod.key])

    def test_what_is_gone_is_not_in_what_a_move_depends_on(self, stage: Stage) -> None:
        """A pod, a node and an owner that the snapshot still holds."""
        pod = stage.run("web", "500m")[0]
        before = stage.target.read()
        missing = PodReference("default", "web-gone", "uid-gone")
        around = stage.target.read_vicinity(Move(missing, "n8", "n9", 1, "MakeRoom", "because"), before)
        assert (around.pods, around.nodes, around.workloads) == ((), (), ())
        assert pod.key in patched(before, Move(missing, "n8", "n9", 1, "", ""), around, 0.0).pod_by_key

    def test_a_dry_run_answers_and_changes_nothing(self, stage: Stage) -> None:
        """The pod is still there, not on its way out."""
        pod = stage.run("web", "1")[0]
        live = stage.target.read_pod("default", pod.name)
        assert live is not None
        assert stage.target.evict(reference(pod), live.resource_version, dry_run=True).kind == "Accepted"
        after = stage.target.read_pod("default", pod.name)
        assert after is not None
        assert not after.is_terminating

    def test_an_eviction_ends_the_pod_and_its_owner_makes_another(self, stage: Stage) -> None:
        """The uid goes, a new one comes."""
        pod = stage.run("web", "1")[0]
        live = stage.target.read_pod("default", pod.name)
        assert live is not None
        assert stage.target.evict(reference(pod), live.resource_version, dry_run=False).kind == "Accepted"
        stage.wait(lambda: pod.uid not in [item.uid for item in stage.target.read_pods("default", app("web"))])
        stage.wait(lambda: any(item.is_ready for item in stage.target.read_pods("default", app("web"))))

    @pytest.mark.parametrize("dry_run", [True, False])
    def test_preconditions_bind(self, stage: Stage, dry_run: bool) -> None:
        """Another uid or an old version is a conflict, a missing pod is gone; nothing happens."""
        pod = stage.run("web", "1")[0]
        live = stage.target.read_pod("default", pod.name)
        assert live is not None
        evict = stage.target.evict
        other = PodReference("default", pod.name, "11111111-2222-3333-4444-555555555555")
        assert evict(other, live.resource_version, dry_run=dry_run).kind == "Conflict"
        assert evict(reference(pod), "1", dry_run=dry_run).kind == "Conflict"
        assert evict(PodReference("default", "nobody", pod.uid), "1", dry_run=dry_run).kind == "Gone"
        after = stage.target.read_pod("default", pod.name)
        assert after is not None
        assert not after.is_terminating

    @pytest.mark.parametrize("dry_run", [True, False])
    def test_budgets_are_told_apart(self, stage: Stage, dry_run: bool) -> None:
        """One without allowance refuses with its cause and no wish to wait; two of them are an error of their own."""
        pod = stage.run("web", "1")[0]
        stage.protect("first", "web", 1)
        live = stage.target.read_pod("default", pod.name)
        assert live is not None
        answer = stage.target.evict(reference(pod), live.resource_version, dry_run=dry_run)
        assert (answer.kind, answer.retry_after_seconds) == ("BudgetExhausted", None)
        stage.protect("second", "web", 0)
        answer = stage.target.evict(reference(pod), live.resource_version, dry_run=dry_run)
        assert answer.kind == "TwoBudgets"

    def test_a_placeholder_keeps_the_room_until_it_is_released(self, stage: Stage) -> None:
        """A pod that comes later does not get it; after the release it does."""
        stage.run("web", "1", 2)
        assert stage.target.can_hold() is None
        stage.target.hold([request()])
        assert list(stage.target.leftovers()) == ["hold-a-0"]
        late = stage.run("late", "1")[0]
        assert late.node_name is None
        stage.target.release(["hold-a-0", "never-made"])
        assert list(stage.target.leftovers()) == []
        stage.wait(lambda: any(item.node_name for item in stage.target.read_pods("default", app("late"))))

    def test_a_placeholder_dies_by_itself_unless_it_is_renewed(self, stage: Stage) -> None:
        """Renewed it outlives its first deadline; left alone it is gone within five seconds of its last."""
        stage.target.hold([request(deadline=4)])
        stage.clock.sleep(2.5)
        assert list(stage.target.renew([request(deadline=4)])) == []
        stage.clock.sleep(2.5)
        assert list(stage.target.leftovers()) == ["hold-a-0"]
        stage.wait(lambda: not stage.target.leftovers(), 4 + 5)
        assert list(stage.target.renew([request(deadline=4)])) == ["hold-a-0"]

    def test_nominations_are_for_pending_pods_of_that_uid(self, stage: Stage) -> None:
        """A bound pod, another pod of the name, and a pod that is gone are told by False."""
        bound = stage.run("web", "3")[0]
        waiting = stage.run("big", "2")[0]
        assert waiting.node_name is None
        assert stage.target.nominate(reference(waiting), "n0") is True
        assert stage.target.nominate(reference(bound), "n0") is False
        other = PodReference("default", waiting.name, "11111111-2222-3333-4444-555555555555")
        assert stage.target.nominate(other, "n0") is False
        assert stage.target.nominate(PodReference("default", "nobody", "x"), "n0") is False

    def test_a_nominated_pod_gets_the_room_that_is_let_go(self, stage: Stage) -> None:
        """Among equals the nominated one is first."""
        stage.run("web", "2")
        stage.target.hold([request(cpu=2000)])
        rival = stage.run("rival", "2")[0]
        chosen = stage.run("chosen", "2")[0]
        assert (rival.node_name, chosen.node_name) == (None, None)
        assert stage.target.nominate(reference(chosen), "n0")
        stage.target.release(["hold-a-0"])
        stage.wait(lambda: any(item.node_name for item in stage.target.read_pods("default", app("chosen"))))
        assert not any(item.node_name for item in stage.target.read_pods("default", app("rival")))

    def test_a_taint_closes_a_node_until_it_is_taken_off(self, stage: Stage) -> None:
        """A pod that comes later waits; once the taint is off it comes. Nodes that are not there are fine."""
        assert stage.target.can_taint() is None
        stage.target.taint(["n0", "gone"], "plan1", 60)
        assert set(leaving_taints(stage.target.read())) == {"n0"}
        late = stage.run("late", "1")[0]
        assert late.node_name is None
        stage.target.untaint(["n0", "gone"])
        assert leaving_taints(stage.target.read()) == {}
        stage.wait(lambda: any(item.node_name for item in stage.target.read_pods("default", app("late"))))

    def test_a_taint_names_its_plan_and_its_end_and_is_renewed(self, stage: Stage) -> None:
        """Renewed it ends later; it is still one taint."""
        stage.target.taint(["n0"], "plan1", 30)
        first = leaving_taints(stage.target.read())["n0"]
        assert plan_of(first) == "plan1"
        assert stage.clock.now() + 25 < ends_at(first) < stage.clock.now() + 32
        stage.target.taint(["n0"], "plan1", 90)
        node = stage.target.read().node_by_name["n0"]
        assert [plan_of(item) for item in node.taints if item.key == LEAVING] == ["plan1"]
        assert ends_at(leaving_taints(stage.target.read())["n0"]) > ends_at(first)
        stage.target.untaint(["n0"])

    def test_a_taint_that_somebody_took_off_is_not_put_back(self, stage: Stage) -> None:
        """Nor is anything wrong with one that we took off ourselves."""
        stage.target.taint(["n0"], "plan1", 60)
        other = stage.another()
        other.taint(["n0"], "plan1", 60)
        other.untaint(["n0"])
        with pytest.raises(TaintLostError, match="n0"):
            stage.target.taint(["n0"], "plan1", 60)
        other.taint(["n0"], "plan1", 60)
        other.untaint(["n0"])
        assert leaving_taints(stage.target.read()) == {}

    def test_another_plans_taint_is_respected_until_it_has_run_out(self, stage: Stage) -> None:
        """Neither overwritten nor taken off while it holds; afterwards it is nobody's."""
        stage.target.taint(["n0"], "theirs", 0)
        other = stage.another()
        with pytest.raises(ClusterError, match="theirs"):
            other.taint(["n0"], "ours", 60)
        other.untaint(["n0"])
        assert plan_of(leaving_taints(stage.target.read())["n0"]) == "theirs"
        stage.clock.sleep(SLACK_SECONDS + 2)
        other.taint(["n0"], "ours", 60)
        assert plan_of(leaving_taints(stage.target.read())["n0"]) == "ours"
        other.untaint(["n0"])
        assert leaving_taints(stage.target.read()) == {}

    def test_new_pods_of_named_owners_wait_until_they_are_let_go(self, stage: Stage) -> None:
        """Those of others do not; when nobody is named any more, no new pod waits."""
        pod = stage.run("web", "1")[0]
        assert pod.controller is not None
        assert stage.target.can_gate() is None
        stage.target.gate_replacements([pod.controller.uid], "a", 60)
        assert stage.run("other", "1")[0].node_name == "n0"
        stage.target.evict(reference(pod), pod.resource_version, dry_run=False)
        new: list[Pod] = []

        def is_gated() -> bool:
            new[:] = [item for item in stage.target.read_pods("default", app("web")) if item.uid != pod.uid]
            return bool(new) and GUIDE_GATE in new[0].scheduling_gates

        stage.wait(is_gated)
        stage.target.gate_replacements((), "a", 60)
        assert stage.run("later", "500m")[0].node_name == "n0"
        assert stage.target.ungate(reference(new[0])) is True
        assert stage.target.ungate(PodReference("default", "nobody", "x")) is False
        stage.wait(lambda: any(item.node_name for item in stage.target.read_pods("default", app("web"))))
        assert list(stage.target.leftovers()) == []

    def test_telling_of_an_act_never_fails(self, stage: Stage) -> None:
        """Not even for a pod that is not there."""
        stage.target.record(PodReference("default", "nobody", "x"), "Moved", "from n0")
