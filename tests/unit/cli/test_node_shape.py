"""Tests of shapes of nodes as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.cli.node_shape import parse_node_shape
from rescheduler.model.what_if import NodeShape


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("cpu=16,memory=64Gi", NodeShape(1, "", (("cpu", 16000), ("memory", 64 * 2**30)))),
        (" 2xcpu=500m, memory=1Gi ", NodeShape(2, "", (("cpu", 500), ("memory", 2**30)))),
        ("cpu=1,memory=1,nvidia.com/gpu=0,pods=5", NodeShape(1, "", (("cpu", 1000), ("memory", 1), ("pods", 5)))),
        ("cpu=1,memory=1,nvidia.com/gpu=8", NodeShape(1, "", (("cpu", 1000), ("memory", 1), ("nvidia.com/gpu", 8)))),
        ("like:n1", NodeShape(1, "n1")),
        ("10xlike:n1", NodeShape(10, "n1")),
    ],
)
def test_shapes_are_read(text: str, shape: NodeShape) -> None:
    """Counts, resources, and nodes that there are."""
    assert parse_node_shape(text) == shape


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "found ''; wanted a shape such as cpu=16,memory=64Gi"),
        ("big", "found 'big'; wanted a shape"),
        ("cpu=0,memory=1Gi", "cpu: 0; a node needs some of it"),
        ("cpu=1", "memory: missing; a node needs some of it"),
        ("cpu=-1,memory=1Gi", "cpu: '-1' is negative"),
        ("cpu=x,memory=1Gi", "cpu: 'x' is not a quantity"),
        ("cpu=1,cpu=2,memory=1Gi", "cpu stands twice"),
        ("cpu=1,memory=1Gi,", "found ''"),
        ("cpu=1,memory=1Gi,pods=0", "pods: 0"),
        ("cpu=1,memory=9999999E", "memory: '9999999E' is out of range"),
        ("0xcpu=1,memory=1", "found 0 nodes; wanted 1 to 1000"),
        ("1001xlike:n1", "found 1001 nodes"),
        ("like:", "which names no node"),
        ("a b=1,cpu=1,memory=1", "found 'a b=1'"),
    ],
)
def test_what_is_no_shape_says_what_was_wanted(text: str, told: str) -> None:
    """Never a traceback."""
    with pytest.raises(ValueError, match=r".") as error:
        parse_node_shape(text)
    assert told in str(error.value)


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    """By ValueError alone."""
    try:
        assert 1 <= parse_node_shape(text).count <= 1000
    except ValueError as error:
        assert str(error)  # noqa: PT017 - either way is right
