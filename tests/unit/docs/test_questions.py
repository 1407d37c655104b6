"""A person who does not know the project's words finds an answer by searching the docs, first in what is found."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from typing import NamedTuple

import pytest

from tests.unit.docs.pages import PAGES

FIRST_HITS = 3
SCREEN = 25
QUESTIONS = {
    "keep a namespace out": "namespaces: {exclude:",
    "exclude a deployment from being moved": "labelSelector",
    "allow single replicas to move": "singleReplicas: Allow",
    "allow pods with emptyDir or local storage": "localStorage: Allow",
    "why was my pod not moved": "explain pod",
    "why is my pod still pending": "INFEASIBLE",
    "run only at night": "windows",
    "limit evictions per hour": "perHour",
    "respect pod disruption budgets": "Eviction API",
    "emergency stop": "rescheduler.dev/stop",
    "undo moves": "rescheduler history",
    "what happens when the daemon dies": "deadline",
    "which rights permissions rbac does it need": "pods/eviction",
    "uninstall": "helm uninstall",
    "works with cluster autoscaler karpenter": "autoscaler",
    "difference to descheduler": "descheduler",
    "approve plans before execution": "mode: Approve",
    "real usage or requests": "usage.providers",
    "prometheus metrics alerts": "/metrics",
    "which kubernetes versions are supported": "Kubernetes",
    "will it evict pods without asking": "DryRun",
    "several replicas of the daemon, high availability": "Lease",
}
"""What somebody types, and words without which nothing that is found answers it."""


class Section(NamedTuple):
    """A page's part below one heading."""

    page: str
    heading: str
    text: str

    @property
    def first_screen(self) -> str:
        """What is seen after a click on a hit."""
        return "\n".join(self.text.splitlines()[:SCREEN])


@cache
def sections() -> tuple[Section, ...]:
    """Of all pages, split at headings of level 1 and 2, as the search of the site splits them."""
    found = []
    for page in PAGES:
        for part in re.split(r"^(?=##? )", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
            heading, _, text = part.partition("\n")
            found.append(Section(page.name, heading.lstrip("# "), text))
    return tuple(found)


def words(text: str) -> list[str]:
    """Stems of words, roughly: endings that English puts behind them are cut."""
    return [re.sub(r"(?:ing|ed|es|s)$", "", word) for word in re.findall(r"[a-z]{2,}", text.lower())]


@cache
def counted() -> tuple[Counter[str], ...]:
    """Words of each section, those of its heading ten times, as search engines weigh titles."""
    return tuple(Counter(words(f"{one.heading} " * 10 + one.text)) for one in sections())


def found(question: str) -> list[Section]:
    """The best sections by BM25."""
    all_counts = counted()
    mean = sum(sum(counts.values()) for counts in all_counts) / len(all_counts)
    scores = []
    for counts in all_counts:
        length, score = sum(counts.values()), 0.0
        for word in set(words(question)):
            holding = sum(word in other for other in all_counts)
            rarity = math.log(1 + (len(all_counts) - holding + 0.5) / (holding + 0.5))
            score += rarity * counts[word] * 2.2 / (counts[word] + 1.2 * (0.25 + 0.75 * length / mean))
        scores.append(score)
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    return [sections()[at] for at in order[:FIRST_HITS]]


def test_there_are_twenty_questions() -> None:
    """And more."""
    assert len(QUESTIONS) >= 20


@pytest.mark.parametrize(("question", "answer"), QUESTIONS.items(), ids=list(QUESTIONS))
def test_a_question_is_answered_by_what_a_search_finds_first(question: str, answer: str) -> None:
    """One of the first three hits holds the answer on its first screen."""
    hits = found(question)
    assert any(answer in hit.first_screen for hit in hits), [f"{hit.page}: {hit.heading}" for hit in hits]


def test_the_search_would_notice() -> None:
    """What nobody wrote about is not answered by chance."""
    assert not any("windows" in hit.first_screen for hit in found("license of the project"))
