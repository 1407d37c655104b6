"""Searches with aggregations, page by page; Elasticsearch and OpenSearch answer them alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from rescheduler.adapters.metrics.http.http_failures import HttpStatusError
from rescheduler.adapters.metrics.http.http_session import HttpSession
from rescheduler.extension_points import MetricsError
from rescheduler.model.printable import printable

_MOST_PAGES: Final = 1000
_BY: Final = "by"


class _Shards(msgspec.Struct):
    total: int = 1
    failed: int = 0


class _Clusters(msgspec.Struct):
    skipped: int = 0
    partial: int = 0
    failed: int = 0


class _Composite(msgspec.Struct):
    buckets: list[dict[str, Any]] = []
    after_key: dict[str, Any] | None = None


class _Document(msgspec.Struct):
    timed_out: bool = False
    terminated_early: bool | None = None
    shards: _Shards = msgspec.field(name="_shards", default_factory=_Shards)
    clusters: _Clusters = msgspec.field(name="_clusters", default_factory=_Clusters)
    aggregations: dict[str, _Composite] | None = None


class _Hit(msgspec.Struct):
    fields: dict[str, list[Any]] = {}


class _Hits(msgspec.Struct):
    hits: list[_Hit] = []


class _TopHits(msgspec.Struct):
    hits: _Hits


class _Newest(msgspec.Struct):
    newest: _TopHits


class Bucket(NamedTuple):
    """One group: its key, in the order of the sources, and the answers of the inner aggregations."""

    key: tuple[Any, ...]
    inner: Mapping[str, Any]


class Point(NamedTuple):
    """One document's numbers: seconds since the epoch (NaN if it has no usable time), values as JSON gives them."""

    at: object
    values: tuple[object, ...]


class Search:
    """Searches one index pattern, and gathers what the server says of its answers."""

    def __init__(
        self, http: HttpSession, index: str, time_field: str, seconds: float, *, is_strict: bool = False
    ) -> None:
        """``seconds``: after which the server is to answer with what it has. ``is_strict``: nothing may be missing."""
        self._http = http
        self._path = f"/{index}/_search?ignore_unavailable=true&allow_no_indices=true"
        self._index = index
        self.time_field = time_field
        self._is_strict = is_strict
        self._timeout = f"{max(1, int(seconds * 900))}ms"
        self.warnings: dict[str, None] = {}
        self.is_partial = False

    def buckets(
        self, span: tuple[int, int], sources: Sequence[Mapping[str, Any]], inner: Mapping[str, Any],
        any_of: Sequence[str], page_size: int,
    ) -> Iterator[Bucket]:  # fmt: skip
        """All groups of documents within ``span`` (milliseconds, the end left out) that have one of the fields.

        Raises MetricsError.
        """
        names = [f"k{at}" for at in range(len(sources))]
        composite: dict[str, Any] = {
            "size": page_size,
            "sources": [{name: source} for name, source in zip(names, sources, strict=True)],
        }
        for _ in range(_MOST_PAGES):
            page = self._page(self._body(span, composite, inner, any_of))
            for bucket in page.buckets:
                yield self._bucket(bucket, names)
            if page.after_key is None or not page.buckets:
                return
            if page.after_key == composite.get("after"):
                raise self._http.error("answers the same page again and again")
            composite = {**composite, "after": page.after_key}
        self.doubt(f"there are more than {_MOST_PAGES * page_size} groups; the rest is missing")

    def points(self, newest: Any, fields: Sequence[str]) -> list[Point]:
        """The documents of an aggregation made by ``newest_of``, newest first. Raises MetricsError."""
        try:
            hits = msgspec.convert(newest, _Newest).newest.hits.hits
        except msgspec.ValidationError as error:
            raise self._misshapen(error) from None
        return [Point(_first(hit, self.time_field), tuple(_first(hit, field) for field in fields)) for hit in hits]

    def newest_of(self, fields: Sequence[str], count: int) -> dict[str, Any]:
        """An inner aggregation: the newest documents that have the first of the fields."""
        newest = {
            "size": count,
            "_source": False,
            "sort": [{self.time_field: {"order": "desc", "unmapped_type": "date"}}],
            "docvalue_fields": [
                {"field": self.time_field, "format": "epoch_millis"},
                *({"field": one} for one in fields),
            ],
        }
        return {"filter": {"exists": {"field": fields[0]}}, "aggs": {"newest": {"top_hits": newest}}}

    def warn(self, text: str) -> None:
        """Take down a warning."""
        self.warnings[text] = None

    def doubt(self, text: str) -> None:
        """Take down that something is missing. Raises MetricsError where nothing may be."""
        if self._is_strict:
            raise self._http.error(f"its answer is not whole: {text}")
        self.is_partial = True
        self.warn(text)

    def _body(
        self, span: tuple[int, int], composite: Mapping[str, Any], inner: Mapping[str, Any], any_of: Sequence[str]
    ) -> dict[str, Any]:
        time = {"gte": span[0], "lt": span[1], "format": "epoch_millis"}
        having = [{"exists": {"field": field}} for field in any_of]
        return {
            "size": 0,
            "track_total_hits": False,
            "timeout": self._timeout,
            "query": {
                "bool": {"filter": [{"range": {self.time_field: time}}, {"bool": {"should": having}}]},
            },
            "aggs": {_BY: {"composite": composite, "aggs": inner}},
        }

    def _page(self, body: Mapping[str, Any]) -> _Composite:
        try:
            document = msgspec.convert(self._http.post_json(self._path, body), _Document)
        except HttpStatusError as error:
            said = _explained(error)
            raise (self._http.error(said) if said else error) from None
        except msgspec.ValidationError as error:
            raise self._misshapen(error) from None
        self._listen(document)
        found = (document.aggregations or {}).get(_BY)
        if found is not None:
            return found
        if document.shards.total:
            raise self._http.error("answered without the aggregation that was asked for")
        self.warn(f"no index matches {self._index}")
        return _Composite()

    def _listen(self, document: _Document) -> None:
        if document.timed_out or document.terminated_early:
            self.doubt("the search was cut off before its end")
        if document.shards.failed:
            self.doubt(f"{document.shards.failed} of {document.shards.total} shards failed")
        clusters = document.clusters
        if clusters.skipped or clusters.partial or clusters.failed:
            self.doubt("a remote cluster did not answer wholly")

    def _bucket(self, found: Mapping[str, Any], names: Sequence[str]) -> Bucket:
        key = found.get("key")
        if not isinstance(key, dict) or any(name not in key for name in names):
            raise self._http.error("answered a group without its key")
        return Bucket(tuple(key[name] for name in names), found)

    def _misshapen(self, error: msgspec.ValidationError) -> MetricsError:
        return self._http.error(f"answered something that is no search result: {printable(str(error), 200)}")


def _first(hit: _Hit, field: str) -> object:
    return next(iter(hit.fields.get(field, ())), None)


def _explained(error: HttpStatusError) -> str:
    """The server's own reason, which stands deep in its answer; "" where there is none."""
    try:
        found = msgspec.json.decode(error.body, type=dict[str, Any])["error"]
        cause = (found.get("root_cause") or [found])[0]
        said = f"{cause['type']}: {cause['reason']}"
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError, IndexError, AttributeError):
        return ""
    advice = ""
    if "ielddata" in said:
        advice = "; the field is a text, wanted a keyword (try hostField with .keyword after it)"
    elif error.status in (401, 403):
        advice = "; check basicAuth or apiKey, and the right to read the index"
    return f"answered {error.status}: {printable(said, 300)}{advice}"
