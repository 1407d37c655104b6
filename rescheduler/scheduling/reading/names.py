"""Names as Kubernetes allows them for labels and resources."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_DOMAIN = 253
_NATIVE_DOMAIN = "kubernetes.io/"
_QUOTA_PREFIX = "requests."


def is_qualified_name(text: str) -> bool:
    """Whether a text is NAME or DOMAIN/NAME, as label keys and resources are."""
    domain, slash, name = text.rpartition("/")
    if slash and (len(domain) > _LONGEST_DOMAIN or _DOMAIN.fullmatch(domain) is None):
        return False
    return _NAME.fullmatch(name) is not None


def is_extended_resource(text: str) -> bool:
    """Whether a name is that of an extended resource: with a domain, and none of Kubernetes' own."""
    is_own = "/" not in text or _NATIVE_DOMAIN in text or text.startswith(_QUOTA_PREFIX)
    return not is_own and is_qualified_name(text)
