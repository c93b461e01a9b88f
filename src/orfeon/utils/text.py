"""Text for messages: similar names, lists, tables, times, sizes, p-values."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence

#: Names in a sentence are cut beyond this length.
_LONGEST = 60


# -- names -----------------------------------------------------------------------------------------


def nearest(name: object, names: Iterable[object], n: int = 3) -> list[str]:
    """The known names most similar to an unknown one."""
    from difflib import get_close_matches

    known: dict[str, dict[str, None]] = {}
    for other in map(str, names):
        known.setdefault(other.casefold(), {})[other] = None
    wanted = str(name).casefold()
    near = [wanted] if wanted in known else get_close_matches(wanted, list(known), n=n)
    return [other for folded in near for other in known[folded]][:n]


def nearest_names(name: object, names: Iterable[object], n: int = 3) -> str:
    """A suggestion for a message about an unknown name, to put before its full stop."""
    near = nearest(name, names, n)
    return f" (did you mean {listed(map(repr, near), 'or')}?)" if near else ""


def did_you_mean(near: Iterable[str]) -> str:
    """A suggestion for a message about an unknown name, to put after its full stop."""
    offered = listed(near, "or")
    return f" Did you mean {offered}?" if offered else ""


def short(text: object, longest: int = _LONGEST) -> str:
    """A name or a message on one line, cut to fit into a sentence."""
    line = " ".join(str(text).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def capital(text: str) -> str:
    """Text with its first letter capitalised."""
    return text[:1].upper() + text[1:]


# -- lists -----------------------------------------------------------------------------------------


def listed(words: Iterable[str], last: str = "and") -> str:
    """All words as a list in a sentence."""
    every = list(words)
    if len(every) < 2:
        return "".join(every)
    return f"{', '.join(every[:-1])} {last} {every[-1]}"


def some_of(names: Iterable[object], most: int = 6) -> str:
    """Names as a list in a sentence: only the first ones, and long ones cut."""
    every = [short(name) for name in names]
    if len(every) > most + 1:
        every = [*every[:most], f"{len(every) - most} more"]
    return listed(every)


def clauses(texts: Iterable[str], most: int = 6) -> str:
    """Phrases that contain commas as a list in a sentence."""
    every = list(texts)
    if len(every) > most:
        every = [*every[:most], f"and {len(every) - most} more"]
    return "; ".join(every)


def aligned(lines: Sequence[Sequence[str]], to_the_right: Collection[int] = ()) -> str:
    """Align cells in columns."""
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    texts = []
    for line in lines:
        cells = []
        for j, (cell, width) in enumerate(zip(line, widths, strict=True)):
            gap = " " * (width - _width(cell))
            cells.append(gap + cell if j in to_the_right else cell + gap)
        texts.append("  ".join(cells).rstrip())
    return "\n".join(texts)


def _width(text: str) -> int:
    """Width on a terminal: two cells for wide characters, none for combining accents."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


# -- numbers ---------------------------------------------------------------------------------------


def number_text(value: float, *, grouped: bool = True) -> str:
    """A number with four digits, or all those before the point; no exponent unless it is extreme.

    >>> number_text(10461.7), number_text(0.5), number_text(2019.0, grouped=False)
    ('10,462', '0.5', '2019')
    """
    size = abs(value)
    if not (size == 0 or 1e-4 <= size < 1e15):
        return f"{value:.4g}"
    decimals = 0 if size == 0 else max(0, 3 - math.floor(math.log10(size)))
    text = f"{value:,.{decimals}f}" if grouped else f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def counted(number: float, one: str, many: str | None = None) -> str:
    """A number with its noun, such as "1 row" or "2,000 rows"."""
    rounded = round(number)
    return f"{rounded:,} {one if rounded == 1 else many or one + 's'}"


def duration_text(seconds: float) -> str:
    """A duration with its unit."""
    if math.isnan(seconds):
        return "unknown"
    if seconds < 0.9995:
        return f"{1000 * seconds:.2g} ms" if seconds < 0.0995 else f"{1000 * seconds:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|min|s|m|h|d)\s*")


def read_duration(text: str) -> float:
    """Seconds of a duration such as ``90s``, ``2m``, ``1h30m`` or plain ``45``."""
    plain = text.strip().lower()
    try:
        seconds = float(plain)
    except ValueError:
        parts = _DURATION_PART.findall(plain)
        if not parts or _DURATION_PART.sub("", plain):
            raise ValueError(
                f"{text!r} is not a duration: write it as 90s, 2m, 1h30m or 45 (seconds)"
            ) from None
        seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if not (seconds > 0 and math.isfinite(seconds)):
        raise ValueError(f"a duration must be greater than 0, got {text!r}")
    return seconds


def clock_text(seconds: float) -> str:
    """A duration as minutes and seconds, such as 1:05."""
    whole = max(0, round(seconds))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def size_text(n_bytes: float) -> str:
    """A size with its unit."""
    if n_bytes < 1000:
        return f"{n_bytes:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        n_bytes /= 1000
        if n_bytes < 999.95:
            return f"{n_bytes:.1f} {unit}"
    return f"{n_bytes / 1000:.1f} TB"


def p_value_text(p_value: float) -> str:
    if math.isnan(p_value):
        return "p unknown"
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
