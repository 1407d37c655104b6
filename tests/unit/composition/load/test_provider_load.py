"""Load that commands ask a policy's providers for: warnings in place of errors, and never load of another time."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.composition.load.provider_load import ProviderLoad, recorded_answer
from rescheduler.model.objects.resources import CPU
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.errors import PolicyError
from tests.builders import NOW, cluster, node, pod
from tests.clocks import FakeClock
from tests.unit.composition.recorded_load import answers, recorded_policy

LIVE = ClusterOptions(kubeconfig="/nowhere")
RECORDED = ClusterOptions(filenames=("cluster.json",))
WORLD = cluster(node("a"), node("b"), pod("x-0", node="a"))


def of_now(folder: Path) -> Policy:
    """A policy whose only provider tells of now (and cannot be reached)."""
    policy = recorded_policy(folder, [])
    entry = policy.usage.providers[0].model_copy(
        update={"name": "Prometheus", "args": {"address": "http://127.0.0.1:1", "timeout": "1s"}}
    )
    return policy.model_copy(update={"usage": policy.usage.model_copy(update={"providers": (entry,)})})


def test_load_comes_from_the_providers_with_its_trust(tmp_path: Path) -> None:
    """With the history that they have, so that one look is enough."""
    load = ProviderLoad(recorded_policy(tmp_path, answers(a=20, b=60)), LIVE, FakeClock())
    windows = load.windows(WORLD)
    assert windows is not None
    usage = windows.over(900.0)
    assert usage is not None
    assert usage.percent(CPU).round().tolist() == [20, 60]
    assert usage.is_valid.all()
    assert load.warnings(WORLD) == ()
    assert load.windows(WORLD) is windows


def test_it_is_asked_again_only_after_the_interval(tmp_path: Path) -> None:
    """A plan of many waves looks at many snapshots; each is aligned with what is known."""
    policy, clock = recorded_policy(tmp_path, answers(a=20, b=60)), FakeClock()
    load = ProviderLoad(policy, LIVE, clock)
    load.windows(WORLD)
    (tmp_path / "load.json").unlink()
    turned = cluster(node("b"), node("c"))
    found = load.windows(turned)
    assert found is not None
    usage = found.over(900.0)
    assert usage is not None
    assert usage.percent(CPU).round().tolist()[0] == 60
    assert usage.is_valid.tolist() == [True, False]
    assert not any("Recorded" in text for text in load.warnings(turned))
    clock.time += policy.usage.interval
    assert any("Recorded at" in text for text in load.warnings(cluster(node("a"))))


def test_a_provider_that_fails_is_a_warning(tmp_path: Path) -> None:
    """Requests stand in, and the reason is told."""
    policy = recorded_policy(tmp_path, answers(a=20))
    (tmp_path / "load.json").write_text("no JSON")
    load = ProviderLoad(policy, LIVE, FakeClock())
    found = load.windows(WORLD)
    assert found is not None
    usage = found.over(300.0)
    assert usage is not None
    assert not usage.is_valid.any()
    text = "\n".join(load.warnings(WORLD))
    assert "usage: Recorded at" in text
    assert "requests stand in for measured load" in text


def test_doubts_are_told_by_state(tmp_path: Path) -> None:
    """A node that nobody measures is counted, with the reason."""
    load = ProviderLoad(recorded_policy(tmp_path, answers(a=20)), LIVE, FakeClock())
    text = "\n".join(load.warnings(WORLD))
    assert "usage: the load of 1 of 2 nodes is not believed: Missing: " in text


@pytest.mark.parametrize(("age", "is_asked"), [(0.0, True), (300.0, True), (301.0, False), (86400.0, False)])
def test_an_old_recording_of_a_cluster_is_not_given_the_load_of_now(tmp_path: Path, age: float, is_asked: bool) -> None:
    """Providers tell of now; who wants the load of that time gives it."""
    load = ProviderLoad(of_now(tmp_path), RECORDED, FakeClock(NOW + age))
    assert (load.windows(WORLD) is not None) is is_asked
    warned = any("--usage FILE gives the load of that time" in text for text in load.warnings(WORLD))
    assert warned is not is_asked


def test_recorded_load_belongs_to_the_time_of_a_recorded_cluster(tmp_path: Path) -> None:
    """However long ago that was: both are of the same time, which is the now of all ages."""
    load = ProviderLoad(recorded_policy(tmp_path, answers(a=20, b=60)), RECORDED, FakeClock(NOW + 86400))
    windows = load.windows(WORLD)
    assert windows is not None
    usage = windows.over(900.0)
    assert usage is not None
    assert usage.is_valid.all()
    assert usage.percent(CPU).round().tolist() == [20, 60]
    assert load.warnings(WORLD) == ()


def test_one_recorded_answer_counts_as_usage_does(tmp_path: Path) -> None:
    """It is a window already: a provider would wait for more samples of it in vain."""
    policy = recorded_policy(tmp_path, answers(a=20, b=60)[-1])
    load = recorded_answer(policy, RECORDED)
    assert load is not None
    windows = load.windows(WORLD)
    assert windows is not None
    usage = windows.over(900.0)
    assert usage is not None
    assert usage.percent(CPU).round().tolist() == [20, 60]
    assert recorded_answer(policy, LIVE) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}"])
def test_a_recording_that_is_no_answer_is_left_to_the_provider(tmp_path: Path, text: str) -> None:
    """Which says what is wrong with it, in a warning."""
    policy = recorded_policy(tmp_path, [])
    (tmp_path / "load.json").write_text(text)
    assert recorded_answer(policy, RECORDED) is None
    (tmp_path / "load.json").unlink()
    assert recorded_answer(policy, RECORDED) is None


def test_a_live_snapshot_of_a_server_with_another_clock_is_not_called_old(tmp_path: Path) -> None:
    """Only recordings are."""
    load = ProviderLoad(recorded_policy(tmp_path, answers(end=NOW + 900, a=20, b=60)), LIVE, FakeClock(NOW + 900))
    assert load.windows(WORLD) is not None


def test_a_provider_that_needs_a_cluster_is_left_out_of_a_recording(tmp_path: Path) -> None:
    """With a warning."""
    policy = recorded_policy(tmp_path, [])
    usage = policy.usage.model_copy(update={"providers": (policy.usage.providers[0].model_copy(
        update={"name": "MetricsServer", "args": {}}),)})  # fmt: skip
    load = ProviderLoad(policy.model_copy(update={"usage": usage}), RECORDED, FakeClock())
    assert load.windows(WORLD) is None
    text = "\n".join(load.warnings(WORLD))
    assert "MetricsServer" in text
    assert "requests stand in for measured load" in text


def test_wrong_arguments_are_found_before_anything_is_read(tmp_path: Path) -> None:
    """With their place."""
    policy = recorded_policy(tmp_path, [])
    wrong = policy.usage.providers[0].model_copy(update={"args": {"fil": "x"}})
    usage = policy.usage.model_copy(update={"providers": (policy.usage.providers[0], wrong)})
    with pytest.raises(PolicyError) as caught:
        ProviderLoad(policy.model_copy(update={"usage": usage}), LIVE, FakeClock())
    assert "usage.providers[1].args.fil" in str(caught.value)


@pytest.mark.parametrize(
    ("age", "told"), [(301.0, "5 minutes"), (119.0 * 60, "119 minutes"), (7200.0, "2 hours"), (4e6, "46 days")]
)
def test_the_age_of_a_recording_is_told_in_its_largest_unit(tmp_path: Path, age: float, told: str) -> None:
    """Not in millions of seconds."""
    load = ProviderLoad(of_now(tmp_path), RECORDED, FakeClock(NOW + age))
    assert f"the recording was taken {told} ago" in load.warnings(WORLD)[0]
