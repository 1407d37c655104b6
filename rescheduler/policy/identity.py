"""What a policy is known by: the beginning of the sha256 of all that it says, itself and in the files it names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rescheduler.policy.models import Policy

ID_LENGTH: Final = 12
NO_FILES: Final[Mapping[str, bytes]] = MappingProxyType({})


def policy_id(policy: Policy, contents: Mapping[str, bytes] = NO_FILES) -> str:
    """Equal for policies that say the same, however they are written; an acknowledgement is no part of it.

    ``contents``: of the files that the policy names, as ``named_files`` tells them.
    """
    said = policy.model_dump(mode="json", by_alias=True)
    said["metadata"].pop("acknowledged")
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    for name in sorted(contents):
        digest.update(json.dumps([name, hashlib.sha256(contents[name]).hexdigest()]).encode())
    return digest.hexdigest()[:ID_LENGTH]


def named_files(policy: Policy) -> tuple[str, ...]:
    """Files whose content is part of what the policy says; credentials and recordings change by nature, and are not."""
    return tuple(dict.fromkeys(source.file for source in policy.schedulers if source.file is not None))
