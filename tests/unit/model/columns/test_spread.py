"""The domains of spread constraints: which exist, how many pods count in them, and what the least is."""

from __future__ import annotations

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.spread import ZONE, SpreadDomains, SpreadRules, spread_domains
from rescheduler.model.objects.constraints import TopologySpreadConstraint
from tests.builders import cluster, node, pod, selector


def domains_of(min_domains: int = 1) -> tuple[SpreadDomains, Placement]:
    """Two pods in zone a, one in zone b, one on a node without a zone; the first pod's constraint."""
    spread = (TopologySpreadConstraint(ZONE, 1, "DoNotSchedule", selector(app="web"), min_domains=min_domains),)
    nodes = [node("n0", labels={ZONE: "a"}), node("n1", labels={ZONE: "b"}), node("n2")]
    homes = ("n0", "n0", "n1", "n2")
    pods = [pod(f"web-{at}", node=home, labels={"app": "web"}, topology_spread=spread) for at, home in enumerate(homes)]
    columns = columns_of(cluster(*nodes, *pods))
    (found,) = spread_domains(columns, columns.facts(SpreadRules).own(0, "DoNotSchedule"))
    return found, Placement(columns)


def test_pods_count_where_nodes_have_the_key() -> None:
    """The node without a zone is no domain, and its pod counts nowhere; a pod may be left out."""
    found, placement = domains_of()
    assert found.counted.tolist() == [True, True, False]
    assert (found.counts(placement).tolist(), found.counts(placement, without=0).tolist()) == ([2, 1], [1, 1])


def test_the_least_domain_is_empty_where_there_are_too_few() -> None:
    """Two zones are enough for two, not for three."""
    for wanted, least in ((2, 1), (3, 0)):
        found, placement = domains_of(wanted)
        assert found.least(found.counts(placement)) == least
