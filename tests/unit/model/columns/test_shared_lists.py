"""Several questions about pods cost few requests, and each gets the answer that it would have got by itself."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.columns.selectors import selects
from rescheduler.model.columns.shared_lists import MOST_TOGETHER, Question, read_shared
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.pod import Pod
from tests.builders import pod

KEYS, VALUES = ("app", "hash", "tier"), ("a", "b", "c")


class Pods:
    """A server that remembers what it was asked."""

    def __init__(self, *pods: Pod) -> None:
        self.pods = pods
        self.asked: list[Question] = []

    def read(self, questions: Sequence[Question]) -> list[list[Pod]]:
        """All at once."""
        self.asked.extend(questions)
        return [self.answer(question) for question in questions]

    def answer(self, question: Question) -> list[Pod]:
        """One by itself."""
        namespace, selector = question
        here = [found for found in self.pods if found.namespace == namespace]
        return [found for found in here if selector is None or selects(selector, found.labels)]


def equal(**labels: str) -> LabelSelector:
    """As of an owner whose selector is ``matchLabels``."""
    return LabelSelector(tuple(Requirement(key, "In", (value,)) for key, value in sorted(labels.items())))


def test_owners_that_a_label_tells_apart_share_a_list() -> None:
    """However many they are, and whatever else their selectors say."""
    pods = [pod(f"p{value}", labels={"app": value, "tier": "x"}) for value in VALUES]
    server = Pods(*pods, pod("stranger", labels={"app": "a", "tier": "y"}))
    answers = read_shared([("default", equal(app=value, tier="x")) for value in VALUES], server.read)
    assert [[found.name for found in answer] for answer in answers] == [["pa"], ["pb"], ["pc"]]
    assert server.asked == [("default", LabelSelector((Requirement("app", "In", VALUES),)))]


def test_what_only_has_a_label_in_common_is_asked_for_by_itself() -> None:
    """All pods of that label may be very many; so may all of a namespace, and another namespace is another list."""
    questions: list[Question] = [
        ("default", equal(tier="x", app="a")), ("default", equal(tier="x", hash="b")), ("default", None),
        ("other", equal(app="b")), ("default", LabelSelector((Requirement("app", "Exists"),))),
    ]  # fmt: skip
    server = Pods()
    read_shared(questions, server.read)
    assert server.asked == questions


def test_addresses_of_requests_stay_short() -> None:
    """Very many owners take several lists."""
    server = Pods()
    read_shared([("default", equal(app=f"a{number}")) for number in range(2 * MOST_TOGETHER + 1)], server.read)
    assert [len(selector.requirements[0].values) for _, selector in server.asked if selector] == [50, 50, 1]


def test_nothing_asked_is_nothing_read() -> None:
    """No request at all."""
    server = Pods()
    assert read_shared([], server.read) == []
    assert server.asked == []


RULES = st.builds(
    Requirement, st.sampled_from(KEYS), st.sampled_from(("In", "NotIn")),
    st.lists(st.sampled_from(VALUES), min_size=1, max_size=2, unique=True).map(tuple),
)  # fmt: skip
SELECTORS = st.none() | st.builds(LabelSelector, st.lists(RULES, max_size=3).map(tuple))
LABELS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))


@given(
    st.lists(st.tuples(st.sampled_from(("default", "other")), SELECTORS), max_size=6),
    st.lists(st.tuples(st.sampled_from(("default", "other")), LABELS), max_size=12),
)
def test_each_answer_is_what_it_would_be_by_itself(
    questions: list[Question], labelled: list[tuple[str, dict[str, str]]]
) -> None:
    """Whatever the selectors, and never by more lists than questions."""
    pods = (
        pod(f"p{number}", namespace=namespace, labels=labels) for number, (namespace, labels) in enumerate(labelled)
    )
    server = Pods(*pods)
    answers = read_shared(questions, server.read)
    assert [list(answer) for answer in answers] == [server.answer(question) for question in questions]
    assert len(server.asked) <= len(questions)
