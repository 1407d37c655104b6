"""Shipped policies by name, and a policy to begin with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rescheduler.daemon.plugins import load_policy, parse_policy
from rescheduler.policy.fields.policy import Mode, Policy
from rescheduler.policy.reading.errors import PolicyError
from rescheduler.policy.shipped import as_shown, commented, policy_file, purpose, shipped_policies
from tests.paths import ROOT

MEANINGS = {field.alias or name: field.description or "" for name, field in Policy.model_fields.items()}


def test_the_shipped_policies_are_those_of_the_folder() -> None:
    """Each by the name of its file, which is the name that it gives itself."""
    assert list(shipped_policies()) == sorted(file.stem for file in (ROOT / "policies").glob("*.yaml"))
    assert all(load_policy([file]).metadata.name == name for name, file in shipped_policies().items())


def test_a_name_finds_a_shipped_policy_where_no_such_file_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of that name wins."""
    monkeypatch.chdir(tmp_path)
    assert load_policy(["balance"]) == load_policy([ROOT / "policies" / "balance.yaml"])
    (tmp_path / "balance").write_text("apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\nmode: Execute\n")
    assert policy_file("balance") == "balance"
    assert load_policy(["balance"]).mode is Mode.EXECUTE


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("pending-onyl", "no shipped policy has this name; did you mean pending-only? There are balance, "),
        ("zzz", "no shipped policy has this name; there are balance, "),
        ("policies/pending-only.yaml", "the shipped policy pending-only needs no file: --policy pending-only"),
        ("gone.yaml", "gone.yaml: cannot be read: No such file or directory"),
    ],
)
def test_what_is_neither_file_nor_name_is_refused_with_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, told: str
) -> None:
    """A wrong file is told as before, with a shipped policy where its name is like one."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PolicyError, match=re.escape(told)):
        load_policy([file])


@pytest.mark.parametrize("name", shipped_policies())
def test_a_policy_to_begin_with_says_what_the_shipped_one_says(name: str) -> None:
    """Every field that is set is explained, every other one is named; the mode is written out, and is DryRun."""
    text = shipped_policies()[name].read_text()
    begun = commented(text, MEANINGS, "mine.yaml")
    assert parse_policy(begun) == load_policy([name])
    assert re.search(r"^mode: DryRun", begun, re.MULTILINE)
    assert purpose(text) in begun.replace("\n# ", " ")
    for field in MEANINGS:
        assert re.search(rf"^(#   )?{field}:", begun, re.MULTILINE), field
    assert max(map(len, begun.splitlines())) <= 160


@pytest.mark.parametrize("name", shipped_policies())
def test_the_schema_that_a_policy_names_is_there(name: str) -> None:
    """Where it stands, and where it is written to."""
    file = shipped_policies()[name]
    named, shown = (re.search(r"\$schema=(\S+)", text) for text in (file.read_text(), as_shown(file.read_text())))
    assert named is not None
    assert shown is not None
    assert (file.parent / named[1]).is_file()
    assert Path(shown[1]).is_absolute()
    assert Path(shown[1]).is_file()
