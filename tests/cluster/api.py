"""A tiny client of the Kubernetes API: dictionaries in, dictionaries out, no models."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import urllib3

from tests.cluster.building.versions import VERSION_VARIABLE
from tests.cluster.plane.kubeconfig import Access, read_kubeconfig
from tests.cluster.resources import PREFIXES, resource_path

Manifest = dict[str, Any]

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class ApiError(Exception):
    """An answer that is no success; `body` is the Status object, or empty where the answer was no JSON."""

    def __init__(self, request: str, code: int, text: str) -> None:
        self.code = code
        try:
            self.body: Manifest = json.loads(text)
        except ValueError:
            self.body = {}
        self.reason: str = self.body.get("reason", "")
        super().__init__(f"{request}: {code} {self.reason}: {self.body.get('message', text)}")


class Api:
    """The API server as one user sees it.

    A resource is its plural name (`pods`), or `group/version/plural` where the short name is not known here.
    """

    def __init__(self, access: Access, *, user_agent: str = "rescheduler-tests") -> None:
        identity = access.identity
        self.server = access.server
        self._headers = {"User-Agent": user_agent, "Accept": "application/json"}
        if access.token:
            self._headers["Authorization"] = f"Bearer {access.token}"
        self._pool = urllib3.PoolManager(
            maxsize=16,
            ca_certs=str(access.authority),
            cert_file=str(identity.certificate) if identity else None,
            key_file=str(identity.key) if identity else None,
            timeout=urllib3.Timeout(connect=5.0, read=30.0),
            retries=False,
        )
        self._plurals: dict[tuple[str, str], tuple[str, bool]] = {}

    @classmethod
    def from_kubeconfig(cls, path: Path, *, user_agent: str = "rescheduler-tests") -> Api:
        """Return the API as the user of a kubeconfig sees it."""
        return cls(read_kubeconfig(path), user_agent=user_agent)

    def serves(self, resource: str) -> bool:
        """Whether this server has a resource known by its short name; the committed version has each."""
        try:
            found = self.request("GET", PREFIXES[resource])["resources"]
        except ApiError:
            found = []
        is_served = any(entry["name"] == resource for entry in found)
        assert is_served or os.environ.get(VERSION_VARIABLE), f"no {resource} is served"
        return is_served

    def get(self, resource: str, name: str, namespace: str | None = None, subresource: str = "") -> Manifest:
        """Return one object."""
        return self.request("GET", resource_path(resource, namespace, name, subresource))

    def list(
        self, resource: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[Manifest]:
        """Return the objects of one namespace, or of all."""
        query = {"labelSelector": labels, "fieldSelector": fields}
        answer = self.request("GET", resource_path(resource, namespace), query=query)
        items: list[Manifest] = answer["items"]
        return items

    def create(self, manifest: Manifest, *, dry_run: bool = False, strict: bool = False) -> Manifest:
        """Create an object where its kind and namespace say; ``strict``: refused with a field that nobody knows."""
        path = self._path_of(manifest)
        query = {"dryRun": "All" if dry_run else "", "fieldValidation": "Strict" if strict else ""}
        return self.request("POST", path, manifest, query=query)

    def apply(self, manifest: Manifest) -> Manifest:
        """Create an object or bring it to the given shape (server-side apply)."""
        path = f"{self._path_of(manifest)}/{manifest['metadata']['name']}"
        query = {"fieldManager": "rescheduler-tests", "force": "true"}
        return self.request("PATCH", path, manifest, query=query, content_type=APPLY_PATCH)

    def patch(
        self, resource: str, name: str, body: Any, namespace: str | None = None, *,
        subresource: str = "", content_type: str = MERGE_PATCH,
    ) -> Manifest:  # fmt: skip
        """Change an object, by default by a merge patch."""
        path = resource_path(resource, namespace, name, subresource)
        return self.request("PATCH", path, body, content_type=content_type)

    def delete(
        self, resource: str, name: str, namespace: str | None = None, *,
        grace_seconds: int | None = None, propagation: str = "Background",
    ) -> Manifest:  # fmt: skip
        """Delete an object; what it owns goes too."""
        body: Manifest = {"propagationPolicy": propagation}
        if grace_seconds is not None:
            body["gracePeriodSeconds"] = grace_seconds
        return self.request("DELETE", resource_path(resource, namespace, name), body)

    def post_eviction(
        self, name: str, namespace: str = "default", *, uid: str | None = None, dry_run: bool = False
    ) -> Manifest:
        """Evict a pod; a budget's refusal raises ApiError 429."""
        options: Manifest = {"preconditions": {"uid": uid}} if uid else {}
        if dry_run:
            options["dryRun"] = ["All"]
        metadata = {"name": name, "namespace": namespace}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata, "deleteOptions": options}
        return self.request("POST", resource_path("pods", namespace, name, "eviction"), body)

    def request(
        self, method: str, path: str, body: Any = None, *,
        query: Mapping[str, str] | None = None, content_type: str = "application/json",
    ) -> Manifest:  # fmt: skip
        """Send one request and return the decoded answer; empty query values are left out."""
        pairs = {key: value for key, value in (query or {}).items() if value}
        answer = self._pool.request(
            method,
            f"{self.server}{path}" + (f"?{urlencode(pairs)}" if pairs else ""),
            body=None if body is None else json.dumps(body),
            headers={**self._headers, **({} if body is None else {"Content-Type": content_type})},
        )
        text = answer.data.decode(errors="replace")
        if answer.status >= 400:
            raise ApiError(f"{method} {path}", answer.status, text)
        decoded: Manifest = json.loads(text)
        return decoded

    def close(self) -> None:
        """Close all connections."""
        self._pool.clear()

    def _path_of(self, manifest: Manifest) -> str:
        """Return the collection a manifest belongs to, as the server itself tells it."""
        version, kind = manifest["apiVersion"], manifest["kind"]
        if (version, kind) not in self._plurals:
            prefix = f"/apis/{version}" if "/" in version else f"/api/{version}"
            for entry in self.request("GET", prefix)["resources"]:
                if "/" not in entry["name"]:
                    self._plurals[version, entry["kind"]] = entry["name"], entry["namespaced"]
        if (version, kind) not in self._plurals and os.environ.get(VERSION_VARIABLE):
            pytest.skip(f"Kubernetes {os.environ[VERSION_VARIABLE]} serves no {kind} of {version}")
        plural, is_namespaced = self._plurals[version, kind]
        namespace = manifest["metadata"].get("namespace", "default") if is_namespaced else None
        return resource_path(plural if plural in PREFIXES else f"{version}/{plural}", namespace)
