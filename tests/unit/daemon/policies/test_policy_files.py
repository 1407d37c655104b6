"""A policy's files while the daemon runs: edited, half written, swapped as mounted ConfigMaps are, broken, gone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.daemon.plugins import load_policy
from rescheduler.daemon.policies.policy_files import SETTLE_SECONDS, FileProblem, PolicyFiles, PolicyReading
from rescheduler.extension_points import ClusterError
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.errors import PolicyError

HEAD = "apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n"


class Scene:
    """One policy file in a folder, and a clock."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "policy.yaml"
        self.clock = SimulatedClock(1000.0)
        self.loads = 0
        self.problem: Exception | None = None

    def load(self, files: Sequence[str]) -> Policy:
        """As the daemon does it, or with a problem of the test's."""
        self.loads += 1
        if self.problem is not None:
            raise self.problem
        return load_policy(files)

    def write(self, text: str) -> None:
        """Replace the policy's text."""
        self.path.write_text(HEAD + text)

    def watch(self) -> PolicyFiles:
        """The file as it stands is read."""
        files = PolicyFiles([str(self.path)], self.load, self.clock)
        files.first()
        return files

    def settled(self, files: PolicyFiles) -> PolicyReading | FileProblem | None:
        """What is said once the content has stood for a while."""
        assert files.poll() is None
        self.clock.sleep(SETTLE_SECONDS)
        return files.poll()


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """A policy with a limit of ten."""
    found = Scene(tmp_path)
    found.write("limits: {maxEvictions: 10}\n")
    return found


def read(found: PolicyReading | FileProblem | None) -> Policy:
    """The policy that was read."""
    assert isinstance(found, PolicyReading), found
    return found.policy


def test_what_does_not_change_is_never_loaded_again(scene: Scene) -> None:
    """However often it is asked; a new time stamp alone is no change."""
    files = scene.watch()
    for _ in range(5):
        os.utime(scene.path, (scene.clock.now(), scene.clock.now()))
        assert scene.settled(files) is None
    assert scene.loads == 1


def test_a_change_counts_once_it_has_stood_for_a_while(scene: Scene) -> None:
    """Each write begins the wait anew: an editor may be at work."""
    files = scene.watch()
    scene.write("limits: {maxEvictions: 11}\n")
    assert files.poll() is None
    scene.clock.sleep(SETTLE_SECONDS - 0.1)
    scene.write("limits: {maxEvictions: 12}\n")
    assert files.poll() is None
    scene.clock.sleep(SETTLE_SECONDS - 0.1)
    assert files.poll() is None
    scene.clock.sleep(0.2)
    assert read(files.poll()).limits.max_evictions == 12
    assert files.poll() is None


def test_at_once_where_somebody_says_that_it_is_whole(scene: Scene) -> None:
    """As SIGHUP does."""
    files = scene.watch()
    scene.write("limits: {maxEvictions: 11}\n")
    assert read(files.poll(at_once=True)).limits.max_evictions == 11


def test_a_broken_policy_is_told_once(scene: Scene) -> None:
    """With its place; and again only when it breaks in another way, or anew."""
    files = scene.watch()
    scene.write("limits: {maxEvictons: 11}\n")
    found = scene.settled(files)
    assert isinstance(found, FileProblem)
    assert "did you mean maxEvictions?" in found.text
    assert scene.settled(files) is None
    scene.write("limits: {maxEvictions: many}\n")
    assert isinstance(scene.settled(files), FileProblem)
    scene.write("limits: {maxEvictions: 10}\n")
    assert read(scene.settled(files)).limits.max_evictions == 10
    scene.write("limits: {maxEvictions: many}\n")
    assert isinstance(scene.settled(files), FileProblem)


def test_a_file_that_is_gone_or_empty_is_a_problem(scene: Scene) -> None:
    """Neither is read as a policy without wishes."""
    files = scene.watch()
    scene.path.unlink()
    found = scene.settled(files)
    assert isinstance(found, FileProblem)
    assert "cannot be read" in found.text
    scene.path.write_text("")
    assert isinstance(scene.settled(files), FileProblem)
    scene.path.unlink()
    scene.path.mkdir()
    assert isinstance(scene.settled(files), FileProblem)
    scene.path.rmdir()
    os.mkfifo(scene.path)
    assert isinstance(scene.settled(files), FileProblem), "and nobody waits for a writer"


def test_a_file_that_is_gone_for_a_moment_is_not_even_told_of(scene: Scene) -> None:
    """As when a folder is swapped for another."""
    files = scene.watch()
    text = scene.path.read_text()
    scene.path.unlink()
    assert files.poll() is None
    scene.clock.sleep(0.5)
    scene.path.write_text(text)
    assert scene.settled(files) is None


def test_a_mounted_config_map_is_followed(tmp_path: Path) -> None:
    """Its files are links into a folder, and the folder's link changes: the file's own time never does."""
    scene = Scene(tmp_path)
    for name, limit in (("one", 10), ("two", 11)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "policy.yaml").write_text(f"{HEAD}limits: {{maxEvictions: {limit}}}\n")
    (tmp_path / "..data").symlink_to("one")
    scene.path.symlink_to("..data/policy.yaml")
    files = scene.watch()
    (tmp_path / "..new").symlink_to("two")
    (tmp_path / "..new").replace(tmp_path / "..data")
    assert read(scene.settled(files)).limits.max_evictions == 11


def test_what_a_policy_names_is_part_of_it(scene: Scene, tmp_path: Path) -> None:
    """A scheduler's configuration that changes is another policy, under another number."""
    config = tmp_path / "scheduler.yaml"
    config.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    scene.write("schedulers: [{file: scheduler.yaml}]\n")
    files = PolicyFiles([str(scene.path)], scene.load, scene.clock)
    first = files.first()
    config.write_text(config.read_text() + "parallelism: 4\n")
    second = scene.settled(files)
    assert isinstance(second, PolicyReading)
    assert second.policy == first.policy
    assert second.policy_id != first.policy_id
    assert second.contents != first.contents


def test_a_file_that_a_new_policy_names_is_watched_too(scene: Scene, tmp_path: Path) -> None:
    """From the moment it is named."""
    files = scene.watch()
    config = tmp_path / "scheduler.yaml"
    config.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    scene.write("schedulers: [{file: scheduler.yaml}]\n")
    assert isinstance(scene.settled(files), PolicyReading)
    assert scene.settled(files) is None
    config.write_text(config.read_text() + "parallelism: 4\n")
    assert isinstance(scene.settled(files), PolicyReading)


def test_a_change_while_it_is_read_is_read_again(scene: Scene) -> None:
    """Of two files, or of one in two halves, nothing mixed comes in force."""
    files = scene.watch()

    def load(names: Sequence[str]) -> Policy:
        found = load_policy(names)
        if scene.loads == 0:
            scene.write("limits: {maxEvictions: 12}\n")
        scene.loads += 1
        return found

    scene.loads, scene.load = 0, load  # type: ignore[method-assign]
    files._load = load
    scene.write("limits: {maxEvictions: 11}\n")
    assert scene.settled(files) is None
    assert read(scene.settled(files)).limits.max_evictions == 12


def test_a_cluster_that_does_not_answer_is_asked_again(scene: Scene) -> None:
    """What is wrong is not the file: told once, and tried until it works."""
    files = scene.watch()
    scene.write("limits: {maxEvictions: 11}\n")
    scene.problem = ClusterError("no route")
    assert scene.settled(files) == FileProblem("no route")
    for _ in range(3):
        scene.clock.sleep(SETTLE_SECONDS)
        assert files.poll() is None
    scene.problem = None
    scene.clock.sleep(SETTLE_SECONDS)
    assert read(files.poll()).limits.max_evictions == 11


def test_the_first_policy_has_to_be_good(scene: Scene) -> None:
    """There is none to fall back on."""
    scene.write("limits: {maxEvictions: many}\n")
    with pytest.raises(PolicyError):
        scene.watch()
