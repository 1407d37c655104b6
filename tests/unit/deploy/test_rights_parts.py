"""The parts of the rights, as they are described once, are the roles of deploy/ and the table of docs/rights.md."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
import yaml

from rescheduler.adapters.kubernetes.autoscalers.capacity_objects import COLLECTIONS, TEMPLATES
from rescheduler.adapters.kubernetes.kinds import KINDS
from rescheduler.adapters.kubernetes.rights.needed_rights import READING
from rescheduler.adapters.kubernetes.rights.parts import PARTS, REVIEWS, RightsPart
from rescheduler.adapters.kubernetes.rights.rights import Right
from tests.paths import DEPLOY

FILES = (
    "reading.yaml", "acting.yaml", "guide-binding.yaml", "taint.yaml", "surge.yaml", "autoscaler.yaml", "metrics.yaml",
    "overlays/execute/lease.yaml",
)  # fmt: skip
ROOM = tuple(
    RightsPart(role, (*COLLECTIONS[how].rights, *TEMPLATES.rights), "autoscaler.yaml")
    for role, how in (
        ("rescheduler-provisioning-request", "ProvisioningRequest"),
        ("rescheduler-capacity-buffer", "CapacityBuffer"),
    )
)
WRITING = (*(part for part in PARTS if part is not REVIEWS), *ROOM)


def roles_in(file: str) -> list[Any]:
    """The roles of one file of deploy/."""
    found = yaml.safe_load_all((DEPLOY / file).read_text())
    return [item for item in found if item and item["kind"] in ("Role", "ClusterRole")]


def rights_of(role: Any) -> set[Right]:
    """What a role grants."""
    return {
        Right(verb, *_split(resource, group), role["kind"] == "Role", name)
        for rule in role["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", [""])
    }


def _split(resource: str, group: str) -> tuple[str, str, str]:
    name, _, subresource = resource.partition("/")
    return name, group, subresource


@pytest.mark.parametrize("part", WRITING, ids=lambda part: part.role)
def test_a_role_grants_its_part_and_no_more(part: RightsPart) -> None:
    """Verb by verb, cluster or namespace, and object names."""
    granted = [
        right for role in roles_in(part.file) if role["metadata"]["name"] == part.role for right in rights_of(role)
    ]
    assert Counter(granted) == Counter(part.rights)


def test_every_role_that_writes_is_a_part() -> None:
    """No role of deploy/ grants a write that is not described."""
    writing = {
        role["metadata"]["name"]
        for file in FILES
        for role in roles_in(file)
        if any(right.verb not in READING for right in rights_of(role))
    }
    assert writing == {part.role for part in WRITING} - {"rescheduler-ledger-reader", "rescheduler-guide-policy"}


def test_no_role_reads_secrets() -> None:
    """In any file that is shipped; a Role for the Secrets that a policy names is the user's to bind."""
    for file in DEPLOY.rglob("*.yaml"):
        if "templates" not in file.parts:
            for role in yaml.safe_load_all(file.read_text()):
                for rule in role.get("rules") or () if role and role.get("kind") in ("Role", "ClusterRole") else ():
                    assert not {"secrets", "*"} & set(rule["resources"]), file
                    assert not {"*", "impersonate", "bind", "escalate"} & set(rule["verbs"]), file


def test_what_is_watched_may_be_read() -> None:
    """The role for looking names each kind of a snapshot, and nothing else."""
    [role] = [role for role in roles_in("reading.yaml") if role["metadata"]["name"] == "rescheduler-observe"]
    wanted = {
        Right(verb, kind.path.rpartition("/")[2], kind.api_version.rpartition("/")[0], is_local=False)
        for kind in KINDS
        for verb in READING
    }
    assert rights_of(role) == wanted


def test_the_page_lists_each_part_once_with_what_it_writes() -> None:
    """By the table of docs/rights.md; roles of one row share their beginning."""
    page = (DEPLOY.parent / "docs" / "rights.md").read_text()
    rows = [row for row in page.split("\n\n")[2].splitlines() if row.startswith("| `")]
    named = Counter(name for row in rows for name in re.findall(r"`([a-z:-]+)`", row.split("|")[1]))
    assert set(named.values()) == {1}
    assert set(named) >= {part.role for part in (*PARTS, *ROOM)}
    for part in PARTS:
        [row] = [row for row in rows if f"`{part.role}`" in row.split("|")[1]]
        if part is not REVIEWS:
            for verb in {right.verb for right in part.rights} - set(READING):
                assert verb in row, (part.role, verb)
