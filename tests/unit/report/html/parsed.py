"""A page taken apart: its tags, attributes and texts."""

from __future__ import annotations

from html.parser import HTMLParser

NEVER_CLOSED = {"meta", "input"}
FETCHING = ("src", "href", "action", "onclick", "onerror", "onload", "style-src", "srcset", "xlink:href")


class Page(HTMLParser):
    """Tags, attributes and texts of a page; fails on tags that do not pair."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[dict[str, str | None]] = []
        self.feed(page)
        self.close()
        assert self.open == []

    @property
    def text(self) -> str:
        """All that is read, in one line."""
        return " ".join(" ".join(self.texts).split())

    def of_class(self, name: str) -> int:
        """How many elements have this class."""
        return sum(name in (attributes.get("class") or "").split() for attributes in self.attributes)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember the tag and whatever could fetch something."""
        self.tags.append(tag)
        self.attributes.append(dict(attrs))
        self.links += [name for name, _ in attrs if name in FETCHING or name.startswith("on")]
        if tag not in NEVER_CLOSED:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Tags close in the order in which they opened."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Remember the text."""
        self.texts.append(data)
