"""Reference pages speak of the rescheduler, its operator and the cluster, and of nobody else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.unit.docs.pages import PAGES, ROOT

_WHO = re.compile(r"\b(?:we|us|ours?)\b", re.IGNORECASE)
_LINK_OR_CODE = re.compile(r"\]\([^)\s]+\)|`[^`\n]*`|[\w-]+\.md")
TEXTS = (*PAGES, ROOT / "README.md", *sorted((ROOT / "deploy").rglob("*.yaml")), *(ROOT / "deploy").rglob("NOTES.txt"))


def spoken(text: str) -> list[str]:
    """Each line that speaks of us, without targets of links, names of files, and code."""
    return [line for line in _LINK_OR_CODE.sub("", text).splitlines() if _WHO.search(line)]


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_no_page_speaks_of_us(page: Path) -> None:
    """Who reads it does not know who that is."""
    assert spoken(page.read_text(encoding="utf-8")) == []


def test_the_test_would_notice() -> None:
    """Whole words only; what a file is called does not count."""
    assert spoken("Ours.\nstatus of your hours, docs/what-we-write.md\n[x](what-we-write.md)\nit dies with us") == [
        "Ours.",
        "it dies with us",
    ]


_SECOND_NAMES: Final = {
    "debt": "open eviction", "successor": "replacement", "simulator": "embedded cluster",
    "simulated cluster": "embedded cluster", "reservation": "hold", "relocation": "move", "relocate": "move",
    "primary scheduler": "the cluster's scheduler", "target node": "destination", "source nor target": "destination",
    "dump": "recording", "PDB": "PodDisruptionBudget", "backoff": "back-off",
}  # fmt: skip
"""What a thing is called elsewhere, and what it is called here."""
_OTHERS = re.compile(
    r"koord-scheduler's own plugins \(reservations|^One thing has one name .*?stay as they are\.$", re.M | re.S
)


def second_names(text: str) -> list[str]:
    """Each that a text uses, without targets of links, names of files, code, and things of other projects."""
    plain = _OTHERS.sub("", _LINK_OR_CODE.sub("", text))
    return [name for name in _SECOND_NAMES if re.search(rf"\b{name}s?\b", plain)]


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_one_thing_has_one_name(page: Path) -> None:
    """The glossary's: whoever searches for a word finds every page that tells of it."""
    assert second_names(page.read_text(encoding="utf-8")) == []


def test_the_test_would_notice_a_second_name() -> None:
    """In the plural too; what a field is called does not count."""
    assert second_names("Open debts, `OpenDebt`, [how](simulator.md)") == ["debt"]
