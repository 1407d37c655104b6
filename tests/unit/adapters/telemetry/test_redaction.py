"""Credentials are taken out of texts: those that we know, and those that look like some."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.telemetry.redaction import Redaction

SECRET = "Zx9-marked.Token_77"
JWT = "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {SECRET}",
        f"{{'Authorization': 'Bearer {SECRET}', 'Accept': '*/*'}}",
        f"('authorization', b'Basic {SECRET}')",
        f"Invalid header value b'Bearer {SECRET}\\n'",
        f"proxy-authorization={SECRET}",
        f"Cookie: session={SECRET}; other={SECRET}",
        f"DD-API-KEY: {SECRET}",
        f"X-SF-TOKEN: {SECRET}",
        f"GET https://host/api?api_key={SECRET}&query=up failed",
        f"https://user:{SECRET}@host/path",
        f'{{"access_token": "{SECRET}", "expires_in": 5}}',
        f"client_secret={SECRET}",
        f"password: {SECRET}",
        f"token={SECRET}",
        f"the server said {JWT} is not valid",
    ],
)
def test_what_looks_like_a_credential_is_hidden(text: str) -> None:
    """In headers, queries, addresses, forms and printed dictionaries."""
    found = Redaction()(text)
    assert SECRET not in found
    assert JWT not in found
    assert "***" in found


@pytest.mark.parametrize(
    "text",
    [
        "default/web-0 moves from n1 to n2: frees 1 cpu, 2Gi memory",
        'https://10.0.0.1:6443 forbids us to list pods (403 Forbidden: User "a" cannot list)',
        "policy.yaml:3:1: limits.deadline: '5' is not a duration",
        "kube-system/token-cleaner-x is in namespace kube-system, which the policy excludes",
        "GET /api/v1/pods?limit=500&continue=abc was answered with 429",
        "basic training of 3 nodes",
    ],
)
def test_ordinary_texts_stay_as_they_are(text: str) -> None:
    """Redaction must not eat what people need to read."""
    assert Redaction()(text) == text


def test_known_secrets_are_hidden_wherever_they_stand() -> None:
    """By those who know them; more may be added later."""
    hide = Redaction(lambda text: text.replace("one", "***"))
    hide.add(lambda text: text.replace("two", "***"))
    assert hide("xoney two") == "x***y ***"


def test_where_hiding_fails_nothing_is_shown() -> None:
    """Rather no text than a secret."""

    def fails(_text: str) -> str:
        raise RuntimeError(SECRET)

    assert SECRET not in Redaction(fails)(f"all of {SECRET}")


@given(st.text(max_size=300))
def test_any_text_can_be_hidden_again(text: str) -> None:
    """What went through once stays as it is: texts pass several doors."""
    once = Redaction()(text)
    assert Redaction()(once) == once


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc", "Zs"], exclude_characters="'\""), min_size=6))
def test_no_bearer_token_survives(token: str) -> None:
    """Whatever characters it is made of, after the header's name."""
    assert f"Bearer {token}" not in Redaction()(f"Authorization: Bearer {token}")
