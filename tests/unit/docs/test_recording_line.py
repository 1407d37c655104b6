"""The one line by which kubectl records a cluster takes every kind that a plan looks at."""

from __future__ import annotations

import re

from rescheduler.adapters.kubernetes.kinds import KINDS, SELDOM_SERVED, ObjectKind
from tests.paths import ROOT


def resource(kind: ObjectKind) -> str:
    """What kubectl calls it, with its group, since other groups may have kinds of the same name."""
    parts = kind.path.split("/")
    return parts[-1] if parts[1] == "api" else f"{parts[-1]}.{parts[2]}"


def test_the_line_names_every_kind() -> None:
    """Of all namespaces, in the form that is read; kubectl fails where one of them is not served."""
    text = (ROOT / "docs" / "quick-start.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^kubectl get -A -o json (\S+) > ", text, re.MULTILINE)
    assert line.split(",") == [resource(kind) for kind in KINDS if kind.name not in SELDOM_SERVED]
