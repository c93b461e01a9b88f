"""The colours of the page, in light and in dark; those of series are the ones of all pictures."""

from __future__ import annotations

from orfeon.rendering.figure import LOOKS
from orfeon.rendering.palette import FAINT, INK, MUTED_INK, class_colours, mixed

_BLUE, _VERMILLION = class_colours(6)[0], class_colours(6)[5]
_NIGHT, _MOON = "#0F1419", "#E6EBF0"

#: Colours of a light page, by the names of their custom properties.
LIGHT = {
    "paper": "#FFFFFF",
    "soft": "#F5F7F9",
    "rule": FAINT,
    "grid": "#E6EAEE",
    "ink": INK,
    "muted": MUTED_INK,
    "accent": _BLUE,
    "accent-soft": mixed(_BLUE, "#FFFFFF", 0.08),
    "on-accent": "#FFFFFF",
    "warn": mixed(_VERMILLION, "#000000", 0.8),
    "warn-soft": mixed(_VERMILLION, "#FFFFFF", 0.08),
    "tooltip": INK,
    "on-tooltip": "#FFFFFF",
    "tint": "0.62",
}
#: The same of a dark page.
DARK = {
    "paper": _NIGHT,
    "soft": "#181F26",
    "rule": "#36404A",
    "grid": "#232B33",
    "ink": _MOON,
    "muted": "#A0ABB6",
    "accent": mixed(_BLUE, "#FFFFFF", 0.5),
    "accent-soft": mixed(_BLUE, _NIGHT, 0.22),
    "on-accent": _NIGHT,
    "warn": mixed(_VERMILLION, "#FFFFFF", 0.6),
    "warn-soft": mixed(_VERMILLION, _NIGHT, 0.18),
    "tooltip": "#2B343D",
    "on-tooltip": "#FFFFFF",
    "tint": "0.5",
}


def theme_css() -> str:
    """The custom properties of the page, for those who read in the light and in the dark."""
    light, dark = (";".join(f"--{k}:{v}" for k, v in colours.items()) for colours in (LIGHT, DARK))
    return (
        f":root{{color-scheme:light;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light])"
        f"{{color-scheme:dark;{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}\n"
    )


def contrast(colour: str, ground: str) -> float:
    """How well a colour stands out from its ground, from 1 to 21."""
    high, low = sorted((_luminance(colour), _luminance(ground)), reverse=True)
    return round((high + 0.05) / (low + 0.05), 3)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _lifted(colour: str) -> str:
    """The same hue on a dark ground, lifted towards white until it stands out."""
    if colour == INK:
        return _MOON
    lifts = (mixed(colour, "#FFFFFF", 1.0 - step / 50) for step in range(51))
    return next(lift for lift in lifts if contrast(lift, _NIGHT) >= 4.5)


LIGHT |= {f"series-{number}": look.colour for number, look in enumerate(LOOKS)}
DARK |= {f"series-{number}": _lifted(look.colour) for number, look in enumerate(LOOKS)}
