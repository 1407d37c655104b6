"""Sequences follow what was seen, and try once more what fitted nowhere at first."""

from __future__ import annotations

from typing import cast

from benchmarks.fidelity.comparison import Foretold
from benchmarks.fidelity.oracle import Oracle
from benchmarks.fidelity.sequences import Sequence, compared


class Script:
    """Foretells by how many pods have been placed before; remembers whom it followed where."""

    def __init__(self, best: dict[str, tuple[tuple[str, ...], ...]]) -> None:
        self.best = best
        self.followed: list[tuple[str, str]] = []

    def foretell(self, key: str) -> Foretold:
        """The answer at this stage."""
        stages = self.best[key]
        return Foretold(stages[min(len(self.followed), len(stages) - 1)], 3)

    def follow(self, key: str, node: str) -> None:
        """Remember."""
        self.followed.append((key, node))


def run(script: Script, seen: dict[str, str | None]) -> Sequence:
    """The pods in the order of their answers."""
    return compared(7, [(key, "p") for key in seen], seen, cast("Oracle", script))


def test_each_pod_is_judged_with_those_before_it_where_they_went() -> None:
    """A tie is followed to the node that was drawn; a wrong node is a miss, and is followed too."""
    script = Script({"a": (("n1", "n2"),), "b": ((), ("n3",)), "c": ((), (), ("n1",))})
    found = run(script, {"a": "n2", "b": "n3", "c": "n9"})
    assert [place.is_expected for place in found.places] == [True, True, False]
    assert script.followed == [("a", "n2"), ("b", "n3"), ("c", "n9")]
    assert not found.is_exact


def test_a_pod_without_a_place_is_tried_again_after_the_others() -> None:
    """As the scheduler does; only then is it compared."""
    script = Script({"a": ((), ("n1",)), "b": (("n2",),)})
    found = run(script, {"a": "n1", "b": "n2"})
    assert [place.pod for place in found.places] == ["b", "a"]
    assert found.is_exact


def test_no_place_is_an_answer_too() -> None:
    """Right where none was foretold; wrong where one was, and the other way round."""
    assert run(Script({"a": ((),)}), {"a": None}).is_exact
    assert not run(Script({"a": (("n1",),)}), {"a": None}).is_exact
    assert not run(Script({"a": ((),)}), {"a": "n1"}).is_exact
