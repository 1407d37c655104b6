"""Amounts in formulas are exact, whatever their size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.objects.resources import LARGEST_AMOUNT, parse_quantity
from rescheduler.scheduling.scoring.wording import exactly, less, mean_of

amounts = st.one_of(
    st.integers(0, LARGEST_AMOUNT),
    st.builds(lambda count, power: count << power, st.integers(0, 999), st.integers(0, 40)),
)


@given(amount=amounts, resource=st.sampled_from(("cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "a.io/gpu")))
def test_an_amount_reads_back_as_itself(amount: int, resource: str) -> None:
    """As a Kubernetes quantity, cpu in cores."""
    assert parse_quantity(exactly(resource, amount)) * (1000 if resource == "cpu" else 1) == amount


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 1500, "1500m"), ("cpu", 4000, "4"), ("cpu", 0, "0"), ("memory", 0, "0"),
        ("memory", 1536 << 20, "1536Mi"), ("memory", 8 << 30, "8Gi"), ("memory", (8 << 30) + 1, "8589934593"),
        ("a.io/gpu", 1024, "1024"),
    ],
)  # fmt: skip
def test_the_largest_unit_without_a_remainder(resource: str, amount: int, text: str) -> None:
    """Pieces of an extended resource have no unit."""
    assert exactly(resource, amount) == text


def test_phrases() -> None:
    """A mean names its weights where they differ; a negative amount taken off is added."""
    assert (mean_of([]), mean_of([3, 3]), mean_of([1, 3])) == ("mean", "mean", "mean weighed 1 : 3 =")
    assert (less(3), less(0), less(-3)) == ("- 3", "- 0", "+ 3")
