"""NamespaceGrew asks once for each growth."""

from __future__ import annotations

from random import Random

from example_plugins.namespace_grew import NamespaceGrew, NamespaceGrewArgs

from rescheduler.daemon.triggers.setting import Setting
from rescheduler.model.daemon.rounds import Sight
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod, PodSpec
from rescheduler.policy.fields.policy import Policy


def test_it_asks_once_for_each_growth() -> None:
    """Growing by less is not enough, and shrinking lowers the mark."""
    arguments = NamespaceGrewArgs(namespace="default", pods=2)
    trigger = NamespaceGrew(arguments, Setting(Policy(), 0.0, frozenset(), Random(0)))  # noqa: S311 - chance, no secret

    def asks(count: int) -> bool:
        pods = tuple(Pod("default", f"web-{number}", "", PodSpec()) for number in range(count))
        return trigger.look(Sight(Cluster(pods=pods))) is not None

    assert [asks(count) for count in (3, 4, 5, 5, 2, 3, 4)] == [False, False, True, False, False, False, True]
    assert trigger.wake_at(0.0) is None
