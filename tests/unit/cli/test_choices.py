"""The shell offers values for every option and argument that has choices, in bash as under kubectl."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import pytest
import typer

from rescheduler.cli.app import application
from rescheduler.cli.completion import suggestions
from rescheduler.cli.main import main
from rescheduler.planning.objectives import OBJECTIVES
from rescheduler.policy.shipped import shipped_policies

WITH_CHOICES = ("--policy", "--objective", "--output", "--log-level", "--engine")
ROOT: Any = typer.main.get_command(application([]))


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with the words that lead to it."""
    below = getattr(command, "commands", {})
    if not below:
        yield words, command
    for name, one in below.items():
        yield from commands(one, (*words, name))


OPTIONS = [
    (words, name, option)
    for words, command in commands(ROOT)
    for option in command.params
    for name in option.opts
    if name in WITH_CHOICES and (name != "--output" or isinstance(option.default, Enum))
]


def wanted(name: str, option: Any) -> list[str]:
    """The choices as the code has them."""
    if name == "--policy":
        return list(shipped_policies())
    return list(OBJECTIVES.names()) if name == "--objective" else [one.value for one in type(option.default)]


@pytest.fixture
def in_bash(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    """What bash is given for the last word."""

    def completed(*words: str) -> list[str]:
        monkeypatch.setenv("_RESCHEDULER_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", " ".join(["rescheduler", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        with contextlib.suppress(SystemExit):
            main([])
        return capsys.readouterr().out.split()

    return completed


def test_there_are_options_with_choices() -> None:
    """Otherwise the next test would test nothing."""
    assert {name for _, name, _ in OPTIONS} == set(WITH_CHOICES)
    assert len(OPTIONS) > 30


@pytest.mark.parametrize(("words", "name", "option"), OPTIONS, ids=[f"{' '.join(w)} {n}" for w, n, _ in OPTIONS])
def test_every_option_with_choices_offers_them(
    in_bash: Callable[..., list[str]], words: tuple[str, ...], name: str, option: Any
) -> None:
    """All of them, in both shells; for a policy a file may be named as well."""
    assert in_bash(*words, name, "") == wanted(name, option)
    assert list(suggestions(ROOT, (*words, name, "")).lines) == wanted(name, option)


@pytest.mark.parametrize("verb", ["show", "init"])
def test_policies_are_offered_by_name(in_bash: Callable[..., list[str]], verb: str) -> None:
    """Those that fit what was typed."""
    assert in_bash("policy", verb, "pend") == ["pending-only"]
    assert suggestions(ROOT, ("policy", verb, "pend")).lines == ("pending-only",)


def test_an_option_that_takes_choices_is_one_of_those_tested() -> None:
    """An enumeration as a default means choices."""
    enumerations = {
        name
        for _, command in commands(ROOT)
        for option in command.params
        if isinstance(option.default, Enum)
        for name in option.opts
        if name.startswith("--")
    }
    assert enumerations <= set(WITH_CHOICES)
