"""Numbers with as few digits as keep them distinct.

A threshold of 2.4499999999999997 reads 2.45; but two thresholds of one feature that differ must
never read the same, nor in the wrong order, so those that would collide get more digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

#: Seventeen significant digits distinguish any two floats.
_ALL_DIGITS = 17
_MORE_DIGITS = 2
_LARGEST_PLAIN = 1e7
_SMALLEST_PLAIN = 1e-4


def number_text(value: float, digits: int = 4, decimals: int | None = None) -> str:
    """Write a number for people to read."""
    if not math.isfinite(value):
        return f"{value}"
    if decimals is not None:
        text = f"{value:.{decimals}f}"
        return text.removeprefix("-") if float(text) == 0 else text
    size = abs(value)
    if size == 0:
        return "0"
    if not _SMALLEST_PLAIN <= size < _LARGEST_PLAIN:
        return f"{value:.{digits}g}"
    if (2 * size).is_integer():
        return f"{value:.1f}".removesuffix(".0")
    places = max(0, digits - 1 - math.floor(math.log10(size)))
    exact = f"{value:.{places + _MORE_DIGITS}f}"
    # Noise in the last digits of a float does not make it less exact.
    is_exact = math.isclose(float(exact), value, rel_tol=1e-12)
    text = exact if is_exact else f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def distinct_texts(
    values: Iterable[float], digits: int = 4, decimals: int | None = None
) -> dict[float, str]:
    """Texts of numbers that keep them apart and in order."""
    ordered = sorted({float(value) for value in values})
    extra = [0] * len(ordered)
    texts = [number_text(v, digits, decimals) for v in ordered]
    unsettled = set(range(len(ordered) - 1))
    while unsettled:
        clashing = {i for i in unsettled if _clash(texts[i], texts[i + 1])}
        if not clashing:
            break
        for i in sorted(clashing | {i + 1 for i in clashing}):
            extra[i] += 1
            texts[i] = _longer(ordered[i], extra[i], digits, decimals)
        unsettled = {j for i in clashing for j in (i - 1, i, i + 1) if 0 <= j < len(ordered) - 1}
    return dict(zip(ordered, texts, strict=True))


def _clash(lower: str, upper: str) -> bool:
    return float(lower) >= float(upper)


def _longer(value: float, extra: int, digits: int, decimals: int | None) -> str:
    if extra >= _ALL_DIGITS:
        return repr(value)
    if decimals is not None:
        return number_text(value, decimals=decimals + extra)
    text = number_text(value, digits + extra)
    return repr(value) if len(repr(value)) <= len(text) else text


def weight_text(value: float, whole: float | None = None) -> str:
    """Write a weight of samples: a count without decimals, a fraction with two."""
    if value < 1e-9:  # an empty branch holds its parent's shares at no weight worth showing
        return "0"
    if (value if whole is None else whole) >= 1:
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{value:.3g}"


def share_text(share: float) -> str:
    """Write a share in per cent; only all is 100% and only nothing is 0%."""
    if 0.99 < share < 1:
        return ">99%"
    if 0 < share < 0.01:
        return "<1%"
    return f"{share:.0%}"
