"""Policies as text for tests: the two lines that every one begins with, and what one is refused for."""

from __future__ import annotations

from textwrap import dedent

import pytest

from rescheduler.daemon.plugins import parse_policy
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.errors import PolicyError

HEAD = "apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n"


def policy(body: str = "") -> Policy:
    """The policy with this body after the usual two lines."""
    return parse_policy(HEAD + dedent(body), "p.yaml")


def problems(text: str) -> list[str]:
    """What a whole file is refused for, one text a problem."""
    with pytest.raises(PolicyError) as caught:
        parse_policy(text, "p.yaml")
    return [str(problem) for problem in caught.value.problems]


def problem(body: str) -> str:
    """The one thing that the body is refused for; its first line is line 3."""
    (found,) = problems(HEAD + dedent(body))
    return found
