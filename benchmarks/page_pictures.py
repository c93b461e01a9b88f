"""The pictures of the performance page: ratios against peers, and room within targets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.page import FAMILIES, Record, digest, room
from orfeon.rendering.palette import FAINT, INK, MUTED_INK, class_colours

BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION = class_colours(6)
#: Peers that do the same work, and their marks.
PEERS = {
    "scikit-learn": ("o", BLUE),
    "ydf": ("s", ORANGE),
    "Intel's extension": ("^", GREEN),
    "LightGBM": ("D", PURPLE),
}
#: Suites whose ratios are in the first picture.
_COMPARED = ("trees", "ensembles", "boosting")
#: How many of the tightest targets are named, at least; all that are missed are.
_NAMED = 6


def _peer(record: Record) -> str | None:
    """The library that a measurement compares with."""
    name = record["peer"] or ""
    return next((peer for peer in PEERS if name.startswith(peer)), None)


def compared(records: Sequence[Record]) -> dict[tuple[str, str], list[tuple[str, float]]]:
    """Ratios by suite and case, all of them: those that nothing was promised of as well."""
    rows: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for record in records:
        peer = _peer(record)
        if record["suite"] in _COMPARED and record["unit"] == "x" and peer is not None:
            rows.setdefault((record["suite"], record["case"]), []).append((peer, record["figure"]))
    return rows


def _plain_numbers(axes: Any) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.axvline(1.0, color=INK, linewidth=1.0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0, colors=INK)
    axes.tick_params(axis="x", colors=MUTED_INK)


def _save(figure: Any, records: Sequence[Record], path: Path) -> None:
    """As few bytes as flat colours need, with the digest of what is shown."""
    import matplotlib.pyplot as plt
    from PIL import Image, PngImagePlugin

    figure.savefig(path, dpi=110)
    plt.close(figure)
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(64)
    about = PngImagePlugin.PngInfo()
    about.add_text("results", digest(records))
    small.save(path, optimize=True, pnginfo=about)


def draw_ratios(records: Sequence[Record], path: Path) -> None:
    """Times as fast as other libraries, a row a case."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    rows = compared(records)
    figure, axes = plt.subplots(figsize=(8.2, 1.3 + 0.22 * len(rows)), layout="constrained")
    labels = []
    for place, ((suite, case), ratios) in enumerate(rows.items()):
        is_engine = suite == "trees" and not case.startswith("CART")
        labels.append(f"{case} (engine)" if is_engine else case)
        for peer, ratio in ratios:
            mark, colour = PEERS[peer]
            axes.plot(ratio, place, mark, color=colour, markersize=6.5)
    for peer, (mark, colour) in PEERS.items():
        axes.plot([], [], mark, color=colour, label=peer)
    axes.set_yticks(range(len(labels)), labels, fontsize=8.5)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    _plain_numbers(axes)
    axes.set_title(
        "Times as fast as other libraries (right of 1: orfeon is faster)", fontsize=10.5, loc="left"
    )
    figure.legend(loc="outside lower center", ncols=len(PEERS), frameon=False, fontsize=9)
    _save(figure, records, path)


def draw_targets(records: Sequence[Record], path: Path) -> None:
    """How far inside its target each figure is, the tightest first."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    judged = sorted(
        ((found, record) for record in records if (found := room(record)) is not None),
        key=lambda pair: pair[0],
    )
    n_named = max(_NAMED, sum(not record["ok"] for _, record in judged))
    steps = np.where(np.arange(len(judged)) < n_named, 0.18, 0.02)  # inches: a line of text
    figure, axes = plt.subplots(figsize=(8.2, 1.2 + float(steps.sum())), layout="constrained")
    height = 0.0
    for place, (found, record) in enumerate(judged):
        colour, mark = (BLUE, "o") if record["ok"] else (VERMILLION, "X")
        axes.plot(found, height, mark, color=colour, markersize=5.5)
        if place < n_named:
            title = FAMILIES.get(record["suite"], (record["suite"], ""))[0]
            axes.annotate(
                f"{title}: {record['case']}", (found, height), xytext=(9, 0),
                textcoords="offset points", fontsize=8, color=MUTED_INK, va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
            )  # fmt: skip
        height += steps[place]
    axes.set_ylim(height + 0.1, -0.2)
    axes.set_yticks([])
    _plain_numbers(axes)
    axes.set_title(
        "How many times better than its target each figure is (left of 1, crosses: missed)",
        fontsize=10.5, loc="left",
    )  # fmt: skip
    _save(figure, records, path)
