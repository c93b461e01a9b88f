"""Draw how data flow through orfeon, for the page on its architecture.

Run it with ``python examples/draw_architecture.py --out docs/images``; it needs matplotlib.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from orfeon.rendering.palette import EDGE, INK, MUTED_INK, class_colours, tint

BLUE, ORANGE, GREEN, PURPLE, *_ = class_colours(6)
WIDTH, HEIGHT = 13.0, 7.3
#: Width of a box on the line of the data, and the middles of the columns.
BOX, COLUMNS = 1.66, tuple(0.87 + 1.877 * column for column in range(7))


class Box(NamedTuple):
    """A part of the package: where it is drawn, and what is written in it."""

    x: float
    y: float
    width: float
    title: str
    text: str
    colour: str
    height: float = 1.05

    @property
    def left(self) -> tuple[float, float]:
        """Middle of the left side."""
        return self.x - self.width / 2, self.y

    @property
    def right(self) -> tuple[float, float]:
        """Middle of the right side."""
        return self.x + self.width / 2, self.y

    @property
    def top(self) -> tuple[float, float]:
        """Middle of the upper side."""
        return self.x, self.y + self.height / 2

    @property
    def bottom(self) -> tuple[float, float]:
        """Middle of the lower side."""
        return self.x, self.y - self.height / 2


#: The line that data flow along.
LINE = (
    Box(COLUMNS[0], 5.0, BOX, "data", "arrays, frames,\nArrow, files", EDGE),
    Box(COLUMNS[1], 5.0, BOX, "Schema", "what each\nfeature is", BLUE),
    Box(COLUMNS[2], 5.0, BOX, "Table", "ranked and\nsorted once", BLUE),
    Box(COLUMNS[3], 5.0, BOX, "growth", "kernels grow all\ntrees at once", BLUE),
    Box(COLUMNS[4], 5.0, BOX, "members", "a Forest, or any\nestimators", GREEN),
    Box(COLUMNS[5], 5.0, BOX, "votes", "a class code a\nmember and row", GREEN),
    Box(COLUMNS[6], 5.0, BOX, "decision", "class, share\nor number", EDGE),
)
METHODS = (
    Box(COLUMNS[1], 3.2, BOX, "boosting", "train, weigh,\nreweigh, again", BLUE),
    Box(COLUMNS[2], 3.2, BOX, "trees", "criterion, limits,\npruning", BLUE),
    Box(COLUMNS[3], 3.2, BOX, "ensembles", "a perturbation\na member", BLUE),
    Box(COLUMNS[3], 6.6, BOX, "perceptrons", "linear units,\nselected rows", BLUE),
    Box(COLUMNS[6], 6.6, BOX, "rules", "majority, mean,\nnaive Bayes...", GREEN),
    Box(COLUMNS[4], 3.2, BOX, "ordering", "a better order,\nand how many", ORANGE),
    Box(COLUMNS[5], 3.2, BOX, "inspection", "numbers and\npictures: why", ORANGE),
    Box(COLUMNS[6], 3.2, BOX, "combining", "stacks, cascades,\nearly decision", ORANGE),
)
AROUND = (
    Box(1.95, 1.15, 2.9, "statistics", "is one method better?", PURPLE, 0.8),
    Box(5.1, 1.15, 2.9, "io", "model files, ONNX", PURPLE, 0.8),
    Box(
        9.8,
        1.15,
        6.0,
        "workbench",
        "study, store, report, reproduce, serve, command line",
        PURPLE,
        0.8,
    ),
)


def draw_box(axes: Any, box: Box) -> None:
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(
        FancyBboxPatch(
            (box.x - box.width / 2, box.y - box.height / 2), box.width, box.height,
            boxstyle="round,pad=0,rounding_size=0.09", linewidth=1.2,
            edgecolor=box.colour, facecolor=tint(box.colour, 0.35),
        )
    )  # fmt: skip
    several = "\n" in box.text
    axes.text(
        box.x, box.y + (0.27 if several else 0.17), box.title, ha="center", va="center",
        fontsize=11, fontweight="bold", color=INK,
    )  # fmt: skip
    axes.text(
        box.x, box.y - (0.17 if several else 0.16), box.text, ha="center", va="center",
        fontsize=8.6, color=INK, linespacing=1.15,
    )  # fmt: skip


def draw_arrow(
    axes: Any,
    start: tuple[float, float],
    end: tuple[float, float],
    *,
    both: bool = False,
    bend: float = 0.0,
) -> None:
    axes.annotate(
        "", xy=end, xytext=start,
        arrowprops={
            "arrowstyle": "<|-|>" if both else "-|>", "color": MUTED_INK, "linewidth": 1.3,
            "shrinkA": 1.5, "shrinkB": 1.5, "connectionstyle": f"arc3,rad={bend}",
        },
    )  # fmt: skip


def draw_arrows(axes: Any) -> None:
    for one, next_one in pairwise(LINE):
        draw_arrow(axes, one.right, next_one.left)
    boosting, trees, ensembles, perceptrons, rules, ordering, inspection, combining = METHODS
    _, _, _, growth, members, votes, decision = LINE
    for place, method in ((-0.55, boosting), (-0.2, trees), (0.15, ensembles)):
        draw_arrow(axes, (method.x + 0.15, method.top[1]), (growth.x + place, growth.bottom[1]))
    draw_arrow(axes, (perceptrons.x + 0.4, perceptrons.bottom[1]), (members.x - 0.4, 5.53))
    draw_arrow(axes, rules.bottom, decision.top)
    draw_arrow(axes, ordering.top, members.bottom, both=True)
    draw_arrow(axes, votes.bottom, inspection.top)
    draw_arrow(axes, combining.top, decision.bottom)
    axes.text(ordering.x + 0.1, 4.1, "subset", fontsize=8.8, color=MUTED_INK, va="center")


def draw(path: Path) -> None:
    """Draw all of it.

    Parameters
    ----------
    path : Path
        A PNG file.
    """
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    figure, axes = plt.subplots(figsize=(WIDTH * 0.69, HEIGHT * 0.69))
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(0, HEIGHT)
    axes.axis("off")
    for x, y, text in (
        (0.05, 5.85, "data flow one way"),
        (1.95, 2.4, "each method adds only what is its own"),
        (7.55, 2.4, "these work on the members of any ensemble"),
        (0.5, 0.45, "nothing above knows these"),
    ):
        axes.text(x, y, text, fontsize=9.5, style="italic", color=MUTED_INK, va="center")
    for box in (*LINE, *METHODS, *AROUND):
        draw_box(axes, box)
    draw_arrows(axes)
    figure.subplots_adjust(0, 0, 1, 1)
    figure.savefig(path, dpi=130)
    plt.close(figure)
    # A hundred colours are enough for boxes and letters, and take a third of the bytes.
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(100)
    small.save(path, optimize=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=Path("docs/images"), help="a folder")
    folder = options.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    draw(folder / "architecture.png")
    print(f"{folder / 'architecture.png'} is drawn.")


if __name__ == "__main__":
    main()
