"""CustomResourceDefinitions that are served while a block runs, and gone after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tests.cluster.api import Api, ApiError, Manifest
from tests.cluster.waiting import wait_until

RESOURCE = "apiextensions.k8s.io/v1/customresourcedefinitions"
MOST_SECONDS_TO_GO = 240.0
"""The API server tries to clean a kind away again with growing pauses: on a busy machine it took over a minute once."""


@contextmanager
def served_kinds(api: Api, definitions: Sequence[Manifest], are_served: Callable[[], bool]) -> Iterator[None]:
    """Create them, waiting for those of a test before that still go, until ``are_served``; delete them at the end.

    Raises TimeoutError where they are not served after a minute, or not gone after ``MOST_SECONDS_TO_GO``.
    """
    names = [definition["metadata"]["name"] for definition in definitions]
    _wait_gone(api, names)
    for definition in definitions:
        api.create(definition)
    try:
        wait_until(lambda: _answers(are_served), f"served kinds {names}")
        yield
    finally:
        for name in names:
            api.delete(RESOURCE, name)
        _wait_gone(api, names)


def _answers(are_served: Callable[[], bool]) -> bool:
    """A group that is not discovered yet is answered with an error."""
    try:
        return are_served()
    except ApiError:
        return False


def _wait_gone(api: Api, names: Sequence[str]) -> None:
    """None of the definitions is there, nor on its way out."""

    def there() -> list[Manifest]:
        return [item for item in api.list(RESOURCE) if item["metadata"]["name"] in names]

    wait_until(
        lambda: not any("deletionTimestamp" in item["metadata"] for item in there()),
        lambda: f"kinds that go: {[(item['metadata']['name'], item.get('status')) for item in there()]}",
        timeout_seconds=MOST_SECONDS_TO_GO,
    )
