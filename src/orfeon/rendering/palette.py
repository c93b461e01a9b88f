"""Colours that people with any kind of colour vision can tell apart.

Classes have the colours of Okabe and Ito (2008), then darker and lighter ones of the same hues.
Numbers go from white to blue. Colour never stands alone: there are names and numbers, too.
"""

from __future__ import annotations

_OKABE_ITO = (
    "#0072B2",  # blue
    "#E69F00",  # orange
    "#009E73",  # bluish green
    "#CC79A7",  # reddish purple
    "#56B4E9",  # sky blue
    "#D55E00",  # vermillion
    "#F0E442",  # yellow
    "#7A7A7A",  # grey, in the place of black: black boxes would hide their text
)
_SCALE = "#0072B2"
#: Ink of titles, of smaller text, of edges, of scales and of faint lines.
INK, MUTED_INK, EDGE, TRACK, FAINT = "#1F2328", "#57606A", "#8C959F", "#A3AFBA", "#D0D7DE"


def mixed(colour: str, other: str, share: float) -> str:
    parts = (
        round(share * int(colour[i : i + 2], 16) + (1 - share) * int(other[i : i + 2], 16))
        for i in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02X}" for part in parts)


def class_colours(n_classes: int) -> tuple[str, ...]:
    darker = [mixed(c, "#000000", 0.6) for c in _OKABE_ITO]
    lighter = [mixed(c, "#FFFFFF", 0.5) for c in _OKABE_ITO]
    colours = [*_OKABE_ITO, *darker, *lighter]
    return tuple(colours[code % len(colours)] for code in range(n_classes))


def tint(colour: str, strength: float) -> str:
    """Choose a background on which dark text stays readable, stronger for purer nodes."""
    return mixed(colour, "#FFFFFF", 0.04 + 0.24 * min(max(strength, 0.0), 1.0))


def scale_colour(position: float) -> str:
    """Choose the colour of a number by its place between the least and the greatest."""
    return tint(_SCALE, position)
