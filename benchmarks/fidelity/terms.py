"""Random selectors, affinity terms and spread constraints, in the API's own form."""

from __future__ import annotations

from benchmarks.fidelity.draw import Draw, Manifest

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
RACK = "example.com/rack"
KEYS = (HOST, ZONE, ZONE, RACK)
NAMESPACES = ("fidelity-a", "fidelity-b")
TEAM = "team"
"""Label of the first namespace, for namespace selectors."""
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def pod_labels(draw: Draw) -> dict[str, str]:
    """Labels of a pod, of a small vocabulary that selectors share."""
    return {key: draw.one("abc") for key in ("app", "tier") if draw.chance(75)}


def pod_rule(draw: Draw) -> Manifest:
    """A rule about pod labels."""
    operator = draw.one(("In", "In", "In", "NotIn", "Exists", "DoesNotExist"))
    values = {"values": sorted({draw.one("abc") for _ in range(2)})} if operator.endswith("In") else {}
    return {"key": draw.one(("app", "tier")), "operator": operator, **values}


def pod_selector(draw: Draw) -> Manifest | None:
    """A selector of pods: absent, empty, by labels, by rules, or both."""
    if draw.chance(5):
        return None
    rules = [pod_rule(draw) for _ in range(draw.one((0, 0, 1, 1, 2)))]
    labels = {"app": draw.one("abc")} if draw.chance(50) else {}
    return {**({"matchExpressions": rules} if rules else {}), **({"matchLabels": labels} if labels else {})}


def node_rule(draw: Draw) -> Manifest:
    """A rule about node labels."""
    operator = draw.one(("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    if operator in ("Exists", "DoesNotExist"):
        return {"key": draw.one(KEYS), "operator": operator}
    return {"key": draw.one((RACK, RACK, ZONE)), "operator": operator, "values": [draw.one("123")]}


def node_term(draw: Draw, nodes: list[str]) -> Manifest:
    """A term about nodes, sometimes empty (which matches none), sometimes about names."""
    rules = [node_rule(draw) for _ in range(draw.one((0, 1, 1, 1, 2)))]
    term: Manifest = {"matchExpressions": rules} if rules else {}
    if draw.chance(12):
        operator = draw.one(("In", "NotIn"))
        term["matchFields"] = [{"key": "metadata.name", "operator": operator, "values": [draw.one(nodes)]}]
    return term


def node_affinity(draw: Draw, nodes: list[str]) -> Manifest:
    """Required and preferred node terms."""
    found: Manifest = {}
    required = draw.some(lambda: node_term(draw, nodes), percent=30)
    if required:
        found[REQUIRED] = {"nodeSelectorTerms": required}
    wishes = draw.some(lambda: {"weight": draw.number(1, 100), "preference": node_term(draw, nodes)}, 3, 60)
    if wishes:
        found[PREFERRED] = wishes
    return found


def pod_term(draw: Draw) -> Manifest:
    """A term about pods, in its own or in other namespaces."""
    term: Manifest = {"topologyKey": draw.one(KEYS)}
    selector = pod_selector(draw)
    if selector is not None:
        term["labelSelector"] = selector
    if draw.chance(25):
        term["namespaces"] = [draw.one(NAMESPACES)]
    if draw.chance(25):
        term["namespaceSelector"] = draw.one(({}, {"matchLabels": {TEAM: "x"}}, {"matchLabels": {TEAM: "none"}}))
    return term


def pod_affinity(draw: Draw, required_percent: int) -> Manifest:
    """Required and preferred pod terms, for affinity or for anti-affinity."""
    found: Manifest = {}
    required = draw.some(lambda: pod_term(draw), percent=required_percent)
    if required:
        found[REQUIRED] = required
    wishes = draw.some(lambda: {"weight": draw.number(1, 100), "podAffinityTerm": pod_term(draw)}, percent=50)
    if wishes:
        found[PREFERRED] = wishes
    return found


def spread_constraints(draw: Draw) -> list[Manifest]:
    """Constraints, one for each pair of key and consequence, as the API demands."""
    drawn = draw.some(lambda: spread_constraint(draw), 3, 55)
    return list({(item["topologyKey"], item["whenUnsatisfiable"]): item for item in drawn}.values())


def spread_constraint(draw: Draw) -> Manifest:
    """One constraint, hard or soft."""
    found: Manifest = {
        "topologyKey": draw.one(KEYS),
        "maxSkew": draw.number(1, 3),
        "whenUnsatisfiable": draw.one(("DoNotSchedule", "ScheduleAnyway", "ScheduleAnyway")),
    }
    for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if draw.chance(50):
            found[policy] = draw.one(("Honor", "Ignore"))
    selector = pod_selector(draw)
    if selector is not None:
        found["labelSelector"] = selector
        is_named = "tier" in str(selector)
        if draw.chance(20) and not is_named:
            found["matchLabelKeys"] = ["tier"]
    if found["whenUnsatisfiable"] == "DoNotSchedule" and draw.chance(40):
        found["minDomains"] = draw.number(1, 4)
    return found
