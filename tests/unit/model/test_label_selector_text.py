"""Selectors as people type them: keys and values are those that Kubernetes admits."""

from __future__ import annotations

import pytest

from rescheduler.model.label_selector_text import parse_label_selector
from rescheduler.model.objects.constraints import Requirement


@pytest.mark.parametrize("prefix", ["", "kubernetes.io/", "a-1.example.com/"])
@pytest.mark.parametrize("name", ["app", "App_1.x", "9"])
def test_a_key_may_have_a_prefix(prefix: str, name: str) -> None:
    """A DNS name in small letters, then a slash; the name itself may have capitals."""
    (requirement,) = parse_label_selector(f"{prefix}{name} in (b, a)").requirements
    assert requirement == Requirement(prefix + name, "In", ("a", "b"))


@pytest.mark.parametrize("key", ["Akubernetes.io/hostname", "example.com-/app", "-a/app", "/app", "a/b/c", "app-", "ä"])
@pytest.mark.parametrize("form", ["{} in (a,b)", "{}=a", "{}!=a", "!{}", "{}", "{}>3"])
def test_a_key_that_no_label_can_have_is_refused(key: str, form: str) -> None:
    """Kubernetes refuses it too: taken for a selector, it would quietly match nothing."""
    with pytest.raises(ValueError, match="is no label selector"):
        parse_label_selector(form.format(key))
