"""The files of deploy/ for reading and for acting: what each grants, and to which account."""

from __future__ import annotations

from collections import Counter

import pytest
import yaml

from rescheduler.adapters.kubernetes.kinds import KINDS
from rescheduler.adapters.kubernetes.rights.needed_rights import READING as READS
from rescheduler.adapters.kubernetes.rights.parts import EXECUTE, HOLD, LEDGER, LEDGER_READER, MAKE_EVENTS, NOMINATE
from rescheduler.adapters.kubernetes.rights.rights import Right
from tests.chart import Manifest
from tests.paths import ACTING, READING
from tests.unit.deploy.test_rights_parts import rights_of

OBSERVE = tuple(
    Right(verb, kind.path.rpartition("/")[2], kind.api_version.rpartition("/")[0], is_local=False)
    for kind in KINDS
    for verb in READS
)
ROLES, BINDINGS = ("Role", "ClusterRole"), ("RoleBinding", "ClusterRoleBinding")


def objects(*files: str) -> list[Manifest]:
    """Of these files, in their order."""
    return [item for file in ACTING if file.name in files for item in yaml.safe_load_all(file.read_text())]


def granted(found: list[Manifest], account: str) -> Counter[Right]:
    """All that the bindings give to a service account of ours, right by right."""
    roles = {(item["kind"], item["metadata"]["name"]): item for item in found if item["kind"] in ROLES}
    return Counter(
        right
        for item in found
        if item["kind"] in BINDINGS
        if {"kind": "ServiceAccount", "name": account, "namespace": "rescheduler-system"} in item["subjects"]
        for right in rights_of(roles[item["roleRef"]["kind"], item["roleRef"]["name"]])
    )


def test_the_file_for_reading_grants_no_verb_beyond_reading_and_to_one_account() -> None:
    """Of all roles in it, bound or not; nothing else stands there that could do anything."""
    found = objects(READING.name)
    assert {item["kind"] for item in found} == {"Namespace", "ServiceAccount", *ROLES, *BINDINGS}
    verbs = {verb for item in found if item["kind"] in ROLES for rule in item["rules"] for verb in rule["verbs"]}
    assert verbs == {"get", "list", "watch"}
    assert {item["roleRef"]["name"] for item in found if item["kind"] in BINDINGS} == {
        item["metadata"]["name"] for item in found if item["kind"] in ROLES
    }
    accounts = {item["metadata"]["name"] for item in found if item["kind"] == "ServiceAccount"}
    bound = {subject["name"] for item in found if item["kind"] in BINDINGS for subject in item["subjects"]}
    assert accounts == bound == {"rescheduler-observer"}


@pytest.mark.parametrize(
    ("files", "account", "parts"),
    [
        (("reading.yaml",), "rescheduler-observer", (OBSERVE, LEDGER_READER.rights)),
        (("reading.yaml",), "rescheduler", ()),
        (("reading.yaml", "acting.yaml"), "rescheduler-observer", (OBSERVE, LEDGER_READER.rights)),
        (
            ("reading.yaml", "acting.yaml"),
            "rescheduler",
            (OBSERVE, *(part.rights for part in (EXECUTE, LEDGER, NOMINATE, MAKE_EVENTS, HOLD))),
        ),
    ],
)
def test_each_account_is_granted_its_parts(
    files: tuple[str, ...], account: str, parts: tuple[tuple[Right, ...], ...]
) -> None:
    """Both files together: what the one file granted that they were before, to the same two accounts."""
    assert granted(objects(*files), account) == Counter(right for part in parts for right in part)


def test_every_role_for_acting_is_bound_where_it_stands() -> None:
    """What only Guide, Taint or Surge need has a file of its own: nothing lies here to be bound by mistake."""
    found = objects("acting.yaml")
    roles = {(item["kind"], item["metadata"]["name"]) for item in found if item["kind"] in ROLES}
    bound = {(item["roleRef"]["kind"], item["roleRef"]["name"]) for item in found if item["kind"] in BINDINGS}
    assert bound - roles == {("ClusterRole", "rescheduler-observe")}
    assert roles <= bound
