"""Which policy is in force: narrower ones at once, wider ones when somebody has said yes, broken ones never."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.daemon.plugins import load_policy
from rescheduler.daemon.policies.policy_files import SETTLE_SECONDS, PolicyFiles
from rescheduler.daemon.policies.policy_in_force import PolicyInForce
from rescheduler.daemon.steering.steering_errors import UnknownHeldPolicyError
from rescheduler.model.daemon.notices import Notice, PolicyHeld, PolicyKept, PolicyLoaded
from rescheduler.model.objects.cluster import Cluster
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node, pod, workload

HEAD = "apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\nmode: Execute\n"
NARROW = "limits: {maxEvictions: 10}\n"
WIDE = "limits: {maxEvictions: 100}\n"


class Scene:
    """A policy file that is watched, and all that is told."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "policy.yaml"
        self.write(NARROW)
        self.clock = SimulatedClock(1000.0)
        self.heard: list[Notice] = []
        files = PolicyFiles([str(self.path)], load_policy, self.clock)
        self.policies = PolicyInForce(files, self.clock, self.heard.append)
        self.cluster: Cluster | None = None

    def write(self, text: str, *, metadata: str = "") -> None:
        """Replace the policy."""
        self.path.write_text(HEAD + (f"metadata: {{{metadata}}}\n" if metadata else "") + text)

    def poll(self) -> Policy | None:
        """A policy that came in force, once the file has settled."""
        before = self.policies.poll(lambda: self.cluster)
        assert before is None
        self.clock.sleep(SETTLE_SECONDS)
        found = self.policies.poll(lambda: self.cluster)
        return None if found is None else found.policy

    @property
    def most(self) -> int:
        """The limit that is in force."""
        return self.policies.reading.policy.limits.max_evictions

    def held(self) -> PolicyHeld:
        """The last that was told."""
        told = self.heard[-1]
        assert isinstance(told, PolicyHeld)
        return told


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """At most ten evictions."""
    return Scene(tmp_path)


def test_the_first_policy_needs_nobodys_yes(scene: Scene) -> None:
    """Nothing is told but by whoever starts."""
    assert scene.most == 10
    assert scene.policies.held is None
    assert scene.heard == []
    assert len(scene.policies.reading.policy_id) == 12


def test_a_narrower_policy_comes_in_force_at_once(scene: Scene) -> None:
    """Five are fewer than ten."""
    scene.write("limits: {maxEvictions: 5}\n")
    found = scene.poll()
    assert found is not None
    assert found.limits.max_evictions == scene.most == 5
    assert scene.poll() is None


def test_a_wider_policy_is_held(scene: Scene) -> None:
    """Told once, with what would change; the old one stays."""
    before = scene.policies.reading.policy_id
    scene.write(WIDE)
    assert scene.poll() is None
    assert scene.most == 10
    told = scene.held()
    assert told.policy_id == before
    assert told.widening == (
        "limits.maxEvictions from 10 to 100", f'acknowledge with metadata.acknowledged: "{told.held_id}"'
    )  # fmt: skip
    assert scene.policies.held is not None
    assert scene.policies.held.reading.policy_id == told.held_id
    assert scene.poll() is None
    assert len(scene.heard) == 1


def test_the_file_itself_can_say_yes(scene: Scene) -> None:
    """The number of the policy that was held, under metadata; it is no part of that number."""
    scene.write(WIDE)
    scene.poll()
    scene.write(WIDE, metadata=f'acknowledged: "{scene.held().held_id}"')
    found = scene.poll()
    assert found is not None
    assert scene.most == 100
    assert scene.policies.held is None
    scene.write(WIDE)
    assert scene.poll() is None, "taking the mark out again changes nothing"
    assert scene.most == 100


def test_a_yes_to_another_policy_is_none(scene: Scene) -> None:
    """Whoever changes the policy once more has to say yes once more."""
    scene.write(WIDE)
    scene.poll()
    first = scene.held().held_id
    scene.write("limits: {maxEvictions: 1000}\n", metadata=f'acknowledged: "{first}"')
    assert scene.poll() is None
    assert scene.most == 10
    assert scene.held().widening[-2] == f"metadata.acknowledged names another policy, {first}"


def test_a_person_can_say_yes(scene: Scene) -> None:
    """To the very policy that waits, once; it comes in force with the next look, without waiting."""
    scene.write(WIDE)
    scene.poll()
    with pytest.raises(UnknownHeldPolicyError):
        scene.policies.acknowledge("000000000000", "ann")
    scene.policies.acknowledge(scene.held().held_id, "ann")
    found = scene.policies.poll()
    assert found is not None
    assert scene.most == 100
    with pytest.raises(UnknownHeldPolicyError):
        scene.policies.acknowledge(found.policy_id, "ann")


def test_a_yes_to_what_was_replaced_meanwhile_counts_no_more(scene: Scene) -> None:
    """A newer policy waits in its place."""
    scene.write(WIDE)
    scene.poll()
    first = scene.held().held_id
    scene.write("limits: {maxEvictions: 1000}\n")
    assert scene.poll() is None
    with pytest.raises(UnknownHeldPolicyError):
        scene.policies.acknowledge(first, "ann")
    assert scene.poll() is None
    assert scene.most == 10


def test_back_to_the_policy_in_force_nothing_waits(scene: Scene) -> None:
    """Who has taken his change back is told so."""
    scene.write(WIDE)
    scene.poll()
    scene.write(NARROW)
    assert scene.poll() is None
    assert scene.policies.held is None
    assert isinstance(scene.heard[-1], PolicyLoaded)
    assert scene.heard[-1].policy_id == scene.policies.reading.policy_id


def test_a_broken_policy_changes_nothing(scene: Scene) -> None:
    """Told with the age and number of what is kept; when it is mended, that is told too."""
    scene.clock.sleep(600)
    scene.path.write_text("mode: [")
    assert scene.poll() is None
    assert scene.most == 10
    told = scene.heard[-1]
    assert isinstance(told, PolicyKept)
    assert told.policy_id == scene.policies.reading.policy_id
    assert "keeping the policy that has been in force for 602s" in told.problem
    assert str(scene.path) in told.problem
    assert scene.poll() is None
    assert len(scene.heard) == 1
    scene.write(NARROW)
    scene.poll()
    assert isinstance(scene.heard[-1], PolicyLoaded)


def test_another_wording_of_the_same_policy_is_no_change(scene: Scene) -> None:
    """Comments, order and quotes say nothing."""
    scene.path.write_text('# the same\nkind: ReschedulerPolicy\nlimits:\n  maxEvictions: 10\napiVersion: "rescheduler/'
                          'v1alpha1"\nmode: Execute\n')  # fmt: skip
    assert scene.poll() is None
    assert scene.heard == []


def test_what_it_means_on_this_cluster_is_counted(scene: Scene) -> None:
    """So many pods, in so many namespaces, come first of all words."""
    pods = [pod(f"db-{i}", "1", node="n1", owner="db", namespace="kube-system") for i in range(3)]
    scene.cluster = cluster(
        node("n1", "8"), node("n2", "8"), *pods, workload("db", 3, namespace="kube-system"),
        pod("web-0", "1", node="n1", owner="web"), pod("web-1", "1", node="n1", owner="web"), workload("web", 2),
    )  # fmt: skip
    scene.write(NARROW + "scope: {systemNamespaces: Allow}\n")
    scene.poll()
    words = scene.held().widening
    assert words[0] == "+3 pods in 1 namespace (3 in kube-system)"
    assert words[1] == "scope.systemNamespaces from Deny to Allow"


def test_what_cannot_be_used_after_all_is_taken_back(scene: Scene) -> None:
    """The caller could not work with it; the one before is in force again, and the problem is told."""
    scene.write("limits: {maxEvictions: 5}\n")
    assert scene.poll() is not None
    scene.policies.revert("no such scheduler", try_again=False)
    assert scene.most == 10
    assert isinstance(scene.heard[-1], PolicyKept)
    assert "no such scheduler" in scene.heard[-1].problem
    assert scene.poll() is None


def test_what_may_yet_be_used_is_tried_again_without_asking_again(scene: Scene) -> None:
    """The yes of a person still counts for the same policy."""
    scene.write(WIDE)
    scene.poll()
    scene.policies.acknowledge(scene.held().held_id, "ann")
    assert scene.policies.poll() is not None
    scene.policies.revert("the cluster does not answer", try_again=True)
    assert scene.most == 10
    found = scene.poll()
    assert found is not None
    assert scene.most == 100
