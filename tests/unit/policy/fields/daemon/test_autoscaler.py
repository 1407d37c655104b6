"""Tests of the policy's part about autoscalers."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.daemon.plugins import load_policy
from rescheduler.policy.fields.daemon.autoscaler import AutoscalerPolicy, FirstTry, ScaleDown, ScaleUp
from rescheduler.policy.reading.errors import PolicyError
from rescheduler.policy.telling.summary import autoscaler_sentences


def loaded(tmp_path: Path, text: str) -> AutoscalerPolicy:
    """What a policy with these lines says."""
    file = tmp_path / "policy.yaml"
    file.write_text(f"apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n{text}\n")
    return load_policy([str(file)]).autoscaler


def test_by_default_everything_is_left_to_the_autoscaler(tmp_path: Path) -> None:
    """And nothing is written."""
    found = loaded(tmp_path, "mode: Execute")
    assert (found.scale_up, found.scale_down) == (ScaleUp.LEAVE, ScaleDown.LEAVE)
    assert (found.wait, found.after_scale_up, found.after_scale_down, found.offer) == (600.0, 600.0, 600.0, 3600.0)


def test_every_field_is_read(tmp_path: Path) -> None:
    """In the forms of other fields."""
    found = loaded(
        tmp_path,
        "autoscaler: {scaleUp: CapacityBuffer, scaleDown: Taint, wait: 5m, afterScaleUp: 0s, afterScaleDown: 1m, "
        "offer: 2h}",
    )
    assert found == AutoscalerPolicy(
        scale_up=ScaleUp.CAPACITY_BUFFER,
        scale_down=ScaleDown.TAINT,
        wait="5m",
        after_scale_up="0s",
        after_scale_down="1m",
        offer="2h",
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("autoscaler: {scaleUp: Placeholder}", "autoscaler.scaleUp: found 'Placeholder'; there are Leave, "),
        ("autoscaler: {scaleDown: Drain}", "autoscaler.scaleDown: found 'Drain'; there are Leave, Annotate, Taint"),
        ("autoscaler: {wait: 0s}", "autoscaler.wait: '0s' leaves no time at all"),
        ("autoscaler: {offer: 0s}", "autoscaler.offer: '0s' leaves no time at all"),
        ("autoscaler: {afterScaleUp: -1s}", "autoscaler.afterScaleUp: "),
        ("autoscaler: {afterScaleup: 1m}", "unknown field; did you mean afterScaleUp?"),
        ("autoscaler: [Leave]", "autoscaler: "),
        ("guidance: Predict\nautoscaler: {scaleUp: Placeholders}",
         "autoscaler: scaleUp: Placeholders writes to the cluster, and guidance: Predict writes nothing but evictions"),
        ("autoscaler: {firstTry: Maybe}", "autoscaler.firstTry: found 'Maybe'; there are Off, On"),
        ("autoscaler: {firstTryEvictions: 0}", "autoscaler.firstTryEvictions: "),
        ("autoscaler: {firstTry: On}\nguidance: Predict", "autoscaler: firstTry: On writes to the cluster"),
        ("autoscaler: {scaleDown: Taint}\nguidance: Predict", "autoscaler: scaleDown: Taint writes to the cluster"),
    ],
)  # fmt: skip
def test_bad_values_say_what_is_wanted(tmp_path: Path, text: str, told: str) -> None:
    """With the field and the choices."""
    with pytest.raises(PolicyError) as error:
        loaded(tmp_path, text)
    assert told in str(error.value)


def test_under_predict_everything_may_be_left(tmp_path: Path) -> None:
    """That writes nothing."""
    assert loaded(tmp_path, "guidance: Predict\nautoscaler: {wait: 5m}").wait == 300.0


def test_what_is_written_is_said(tmp_path: Path) -> None:
    """And nothing where everything is left to the autoscaler."""
    rules = loaded(tmp_path, "autoscaler: {scaleUp: Placeholders, scaleDown: Taint, wait: 5m}")
    assert list(autoscaler_sentences(rules)) == [
        "asks the autoscaler for room by Placeholders where no rearrangement helps a pending pod, and waits 5m for it",
        "marks nodes that it has emptied by a taint of its own, for 1h at most",
    ]
    held = loaded(tmp_path, "autoscaler: {scaleDown: Hold}")
    assert list(autoscaler_sentences(held)) == ["keeps nodes that it has emptied empty by placeholders, for 1h at most"]
    assert list(autoscaler_sentences(AutoscalerPolicy())) == []


@pytest.mark.parametrize("text", ["On", '"On"', "true"])
def test_first_tries_may_be_written_as_yaml_reads_them(tmp_path: Path, text: str) -> None:
    """On without quotes is a boolean to it; what is done by default is nothing."""
    assert loaded(tmp_path, f"autoscaler: {{firstTry: {text}}}").first_try is FirstTry.ON
    assert loaded(tmp_path, "autoscaler: {firstTry: Off}").first_try is FirstTry.OFF
    found = loaded(tmp_path, "autoscaler: {}")
    assert (found.first_try, found.first_try_evictions) == (FirstTry.OFF, 2)


def test_first_tries_are_told() -> None:
    """With how many evictions one of them may make."""
    (told,) = autoscaler_sentences(AutoscalerPolicy(first_try=FirstTry.ON, first_try_evictions=3))
    assert "where 3 evictions at most make room for it" in told
