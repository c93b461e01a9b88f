"""Texts and figures that a file holds for people: what commands print of it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from tests.io.forged_parts import copied, forms, objects, pick, read_array
from tests.io.mutations import Opened
from tests.io.specimens import ABOUT, PREPARATION, Specimen

_HOSTILE: tuple[Any, ...] = (
    "x", "", " ", "\x1b[31mred\x1b]0;title\x07", "\x00", "a\nb\r\x08", "\ud800", "\u202e",
    "e\u0301" * 50,
    "\U0001f600", "<script>alert(1)</script>", "{0.__class__}", "%s%n%d%d", "[bold]x[/bold]",
    "../../etc/passwd", "$(id)", "a" * 3000, "nan", "(other)", "%d%d", "%Y" * 50, "ISO8601",
    0, 1, -1, 10**9, 10**400, -(10**400), 2**63, 1e308, -1e308, 5e-324, 0.5, True, False, None,
    [], {}, [[]], ["a", "a"], ["\ud800"], [1, 2], {"": ""}, {"error": "x"}, {"\x1b": {"\n": 1}},
    [None] * 300, list(range(300)), {"seconds": 10**400}, [[[[[[[[1]]]]]]]],
)  # fmt: skip
_NAMES = (
    "training", "seconds", "task", "target", "error", "rmse", "r2", "oob_error", "oob_r2", "method",
    "study", "pruned", "settings", "made", "interval", "command", "version", "columns", "classes",
    "name", "kind", "levels", "has_other", "date_format", "parts", "orfeon", "numpy", "\x1b[2J",
)  # fmt: skip


def forge_texts(forged: Opened, rng: Random, known: Sequence[Specimen]) -> None:
    """Hostile texts and figures in what stands beside a model, or in names of the model itself."""
    which = rng.randrange(10)
    if which == 0:
        _rename(forged, rng)
    elif which < 6:
        if not forged.content["about"] or rng.random() < 0.5:
            forged.content["about"] = copied(ABOUT)
        _edit(forged.content, "about", rng)
    elif which < 9:
        if forged.content["preparation"] is None:
            forged.content["preparation"] = copied(PREPARATION)
        _edit(forged.content, "preparation", rng)
    else:
        _edit(forged.content, "made_by", rng)


def _edit(content: dict[str, Any], part: str, rng: Random) -> None:
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        container, key = _a_place(content, part, rng)
        how = rng.random()
        if how < 0.7:
            container[key] = copied(rng.choice(_HOSTILE))
        elif how < 0.8:
            del container[key]
            if part not in content:  # it must be there, whatever it is
                content[part] = {}
        elif isinstance(container, dict):
            container[rng.choice(_NAMES)] = copied(rng.choice(_HOSTILE))
        else:
            container[key:key] = [copied(container[key])] * rng.choice((1, 2, 300))


def _a_place(content: dict[str, Any], part: str, rng: Random) -> tuple[Any, Any]:
    """Some place within a part of the document, mostly deep down."""
    container: Any = content
    key: Any = part
    while isinstance(container[key], dict | list) and container[key] and rng.random() < 0.9:
        container = container[key]
        key = pick(container if isinstance(container, dict) else range(len(container)), rng)
    return container, key


def _rename(forged: Opened, rng: Random) -> None:
    """Hostile names of classes, columns and categories."""
    texts = [one for one in _HOSTILE if isinstance(one, str)]
    named = ("classes_", "feature_names_in_")
    fields = [one["fields"] for one in objects(forged)]
    found = [(one, name) for one in fields for name in named if name in one]
    if found and rng.random() < 0.6:
        one, name = rng.choice(found)
        if "objects" in one[name]:
            n = one[name]["objects"][0][0]
        else:
            n = len(read_array(forged, one[name]))
        one[name] = {"objects": [[n], rng.sample(texts, n)]}
        return
    place = pick([held for one in fields for held in forms(one.get("names", {}), "tuple")], rng)
    place["tuple"] = [rng.choice(texts) for _ in place["tuple"]]
