"""One session for all providers over HTTP: always with limits, credentials read anew, errors without secrets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import msgspec
import requests
from requests import Response
from requests.adapters import BaseAdapter

from rescheduler import __version__
from rescheduler.adapters.metrics.http.bounded_adapter import MOST_BYTES, BoundedAdapter, TotalTimeError
from rescheduler.adapters.metrics.http.credentials import ProviderAuth, ReadSecret, SecretHeader, Secrets
from rescheduler.adapters.metrics.http.http_failures import (
    HttpStatusError,
    NoAnswerInTimeError,
    failure,
    refusal,
    shown_address,
)
from rescheduler.extension_points import MetricsError
from rescheduler.model.printable import printable
from rescheduler.policy.fields.metrics_access import HttpAccess

Warn = Callable[[str], None]
_MOST_REDIRECTS: Final = 3


def no_warning(text: str) -> None:
    """A Warn that tells nobody."""


class HttpSession(requests.Session):
    """A requests session bound to one provider's address; other clients may be handed it as it is.

    Every method raises MetricsError, and nothing else, within ``access.timeout`` for each answer: names the provider
    and its address, never a credential. An answer that is not 2xx is an HttpStatusError.
    """

    def __init__(
        self, access: HttpAccess, provider: str, address: str, secrets: Secrets, auth: ProviderAuth, folder: Path,
        most_bytes: int,
    ) -> None:  # fmt: skip
        super().__init__()
        self.provider = provider
        self.address = address.rstrip("/")
        self._secrets = secrets
        self._limits = (access.timeout, most_bytes)
        self.adapters = {"": BoundedAdapter(access.timeout, most_bytes)}
        self.trust_env = False
        self.max_redirects = _MOST_REDIRECTS
        self.auth = auth
        self.headers.update({"User-Agent": f"rescheduler/{__version__}", "Accept": "application/json"})
        self.headers.update(access.headers)
        tls = access.tls
        self.verify = False if tls.insecure_skip_verify else str(folder / tls.ca_file) if tls.ca_file else True
        if tls.cert_file and tls.key_file:
            self.cert = (str(folder / tls.cert_file), str(folder / tls.key_file))

    def get_json(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """The decoded answer to a GET of ``address`` + ``path``."""
        return self.decoded(self.request("GET", self.address + path, params=params))

    def post_form(self, path: str, data: Mapping[str, Any]) -> Any:
        """The decoded answer to a POST of form fields, which never stand in the URL."""
        return self.decoded(self.request("POST", self.address + path, data=data))

    def post_json(self, path: str, body: Any) -> Any:
        """The decoded answer to a POST of JSON."""
        headers = {"Content-Type": "application/json"}
        return self.decoded(self.request("POST", self.address + path, data=msgspec.json.encode(body), headers=headers))

    def decoded(self, response: Response) -> Any:
        """The JSON of an answer."""
        try:
            return msgspec.json.decode(response.content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            found = printable(response.content[:60].decode("utf-8", "replace"))
            raise self.error(f"answered something that is not JSON: '{found}'") from None

    def error(self, text: str) -> MetricsError:
        """An error of this provider."""
        return MetricsError(self._told(text))

    def request(self, method: str | bytes, url: str | bytes, *args: Any, **named: Any) -> Response:
        """As requests does it; asks again once with fresh credentials where they were refused."""
        response = self._answer(method, url, args, named)
        if response.status_code == 401 and self._is_renewed(response):
            response = self._answer(method, url, args, named)
        if not 200 <= response.status_code < 300:
            text = self._told(refusal(response.status_code, response.content))
            raise HttpStatusError(text, response.status_code, response.content)
        return response

    def mount(self, prefix: str | bytes, adapter: BaseAdapter) -> None:
        """Does nothing: a client that mounts a transport of its own would take our limits away."""

    def get_redirect_target(self, resp: Response) -> str | None:
        """Where a redirect leads; refused to another host, and where it would lose the body of a POST."""
        target = super().get_redirect_target(resp)
        if target is None:
            return None
        place = urlsplit(urljoin(resp.url, target))
        here = urlsplit(resp.url)
        is_kept = resp.request.method == "GET" or resp.status_code in (307, 308)
        if (place.scheme, place.netloc) != (here.scheme, here.netloc) or not is_kept:
            where = shown_address(place.geturl())
            raise self.error(f"answered with a redirect to {where}, which is not followed; write the right address")
        return target

    def _answer(self, method: str | bytes, url: str | bytes, args: Any, named: Any) -> Response:
        try:
            return super().request(method, url, *args, **named)
        except HttpStatusError:
            raise
        except MetricsError as error:
            text = str(error)
            raise (error if text.startswith(self._name) else self.error(text)) from None
        except (TotalTimeError, requests.Timeout) as error:
            raise NoAnswerInTimeError(self._told(failure(error, *self._limits))) from None
        except (requests.RequestException, OSError, ValueError) as error:
            raise self.error(failure(error, *self._limits)) from None

    def _is_renewed(self, refused: Response) -> bool:
        """Whether a Secret holds another credential by now than the one that was refused."""
        self._secrets.forget()
        values = self.auth.values() if isinstance(self.auth, ProviderAuth) else {}
        return any(refused.request.headers.get(name) != value for name, value in values.items())

    @property
    def _name(self) -> str:
        return f"{self.provider} at {shown_address(self.address)}"

    def _told(self, text: str) -> str:
        return self._secrets.hidden(f"{self._name}: {text}")


def http_session(
    access: HttpAccess,
    read_secret: ReadSecret | None,
    *,
    provider: str,
    address: str,
    folder: Path = Path(),
    secret_headers: Mapping[str, SecretHeader] | None = None,
    warn: Warn = no_warning,
    most_bytes: int = MOST_BYTES,
) -> HttpSession:
    """A session for one provider; sends nothing yet.

    ``read_secret``: gives the text behind NAMESPACE/NAME/KEY, None without a cluster. ``folder``: where relative files
    stand. ``secret_headers``: credentials in headers of the provider's own, by header name. ``warn`` is told once of
    what makes the load easy to forge.
    """
    secrets = Secrets(read_secret, folder)
    auth = ProviderAuth(access, secrets, secret_headers or {})
    where = f"{provider} at {shown_address(address)}"
    if access.tls.insecure_skip_verify:
        warn(
            f"{where}: insecureSkipVerify is set: ANY certificate is trusted, and whoever stands on the way can forge "
            "the load that evictions go by" + ("" if auth.is_empty else ", and read the credentials")
        )
    if not auth.is_empty and urlsplit(address).scheme == "http" and not _is_loopback(address):
        warn(f"{where}: credentials are sent over plain http, where others can read them; use https")
    return HttpSession(access, provider, address, secrets, auth, folder, most_bytes)


def _is_loopback(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
