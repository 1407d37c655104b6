"""The look: readable in light and dark, and plain ASCII, since a style sheet knows no character references."""

from __future__ import annotations

import re

import pytest

from rescheduler.report.html.rendering import environment

STYLE = environment().get_template("style.css").render()
LEAST_FOR_TEXT = 4.5
LEAST_FOR_LINES = 3.0


def palettes() -> list[dict[str, str]]:
    """Colours by name, of the light page and of the dark one."""
    light, dark = (
        {
            name: "#" + "".join(digit * 2 for digit in colour[1:]) if len(colour) == 4 else colour
            for name, colour in found
        }
        for found in (
            re.findall(r"--([a-z0-9]+): (#[0-9a-f]+)", block) for block in STYLE.split("prefers-color-scheme")[:2]
        )
    )
    return [light, {**light, **dark}]


def luminance(colour: str) -> float:
    """Relative luminance as the Web Content Accessibility Guidelines define it."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """From 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", palettes(), ids=["light", "dark"])
def test_text_can_be_read_on_everything_that_it_stands_on(palette: dict[str, str]) -> None:
    """Bars carry their figures, so every colour of a bar counts."""
    for ground in ("page", "card", "track", "stays", "leaves", "leaves2", "arrives", "placed"):
        assert contrast(palette["ink"], palette[ground]) >= LEAST_FOR_TEXT, ground
    for ground in ("page", "card"):
        assert contrast(palette["quiet"], palette[ground]) >= LEAST_FOR_TEXT, ground
    assert contrast("#ffffff", palette["chosen"]) >= LEAST_FOR_TEXT
    for line in ("arrow", "arrowp", "bad", "near", "focus"):
        assert contrast(palette[line], palette["page"]) >= LEAST_FOR_LINES or line == "focus", line


def test_badges_can_be_read() -> None:
    """White on each of their colours."""
    colours = re.findall(r"\.(?:badge|mark)[^{]*\{[^}]*?background: (#[0-9a-f]{6})", STYLE)
    assert len(colours) >= 4
    for colour in colours:
        assert contrast("#ffffff", colour) >= LEAST_FOR_TEXT, colour


def test_the_style_is_ascii_and_cannot_end_its_element() -> None:
    """No character that the page would escape, no closing tag."""
    assert STYLE.isascii()
    assert "<" not in STYLE
    assert STYLE.count("{") == STYLE.count("}")
