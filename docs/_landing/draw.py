"""Draw the picture of the landing page: ``python docs/_landing/draw.py`` (some seconds).

Two drawings side by side, as SVG within the page, in the colours of its theme: the members of a
bag, those that are kept in colour; and the test error with the first 1, 2, ... members, means over
ten training sets, beside that of a bag of unpruned trees, the better bag when nothing is pruned.
The figures that the page's text names are printed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "examples"))

from prune_a_forest import (  # noqa: E402
    N_MEMBERS,
    bag_of_full_trees,
    bag_of_pruned_trees,
    draw,
    mean_curves,
)

from orfeon import prune  # noqa: E402

WIDTH, HEIGHT = 440, 330
FIFTH = N_MEMBERS // 5
#: The plot: left, right, top and bottom edges, and the errors in percent at the latter two.
LEFT, RIGHT, TOP, BOTTOM, MOST, LEAST = 46, 428, 18, 284, 36.0, 16.0


def drawing(label: str, content: str) -> str:
    """An SVG with a text for those who cannot see it."""
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">\n{content}\n</svg>'
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Words at a place."""
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{words}</text>'


def drawing_of_members(kept: Any) -> str:
    """Every member as a small tree; those that are kept in colour."""
    columns, step = 20, 21.0
    left, top = (WIDTH - columns * step) / 2, 18.0
    parts = []
    for t in range(N_MEMBERS):
        x, y = left + (t % columns + 0.5) * step, top + (t // columns) * 27.0
        kind = "kept" if t in kept else "left"
        crown = f"M{x:.1f} {y:.1f}l7 15h-14z"
        parts.append(f'<path class="{kind}" d="{crown}M{x - 1:.1f} {y + 15:.1f}h2v4h-2z"/>')
    words = f"{N_MEMBERS} trees; the {len(kept)} that are kept"
    parts.append(text(WIDTH / 2, HEIGHT - 10, words, "axis", "middle"))
    return drawing(f"A bag of {N_MEMBERS} trees, {len(kept)} of them in colour", "\n".join(parts))


def place(size: float, error: float) -> tuple[float, float]:
    """Where in the plot an error with so many members is."""
    x = LEFT + (RIGHT - LEFT) * size / N_MEMBERS
    return x, BOTTOM - (BOTTOM - TOP) * (error - LEAST) / (MOST - LEAST)


def path_of(curve: Any) -> str:
    """A curve as the path of an SVG."""
    inside = [(size, error) for size, error in enumerate(curve, 1) if error <= MOST]
    points = [place(size, error) for size, error in inside]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def drawing_of_errors(ordered: Any, random: Any, unpruned: float) -> str:
    """Test error by the number of members, in both orders, and that of unpruned trees."""
    parts = []
    for error in (20, 25, 30, 35):
        _, y = place(0, error)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{RIGHT}"/>')
        parts.append(text(LEFT - 6, y + 4, f"{error}%", "axis", "end"))
    for size in (1, FIFTH, 100, 150, N_MEMBERS):
        x, _ = place(size, LEAST)
        anchor = "end" if size == N_MEMBERS else "middle"
        parts.append(text(x, BOTTOM + 18, f"{size}", "axis", anchor))
    parts.append(text((LEFT + RIGHT) / 2, HEIGHT - 10, "members", "axis", "middle"))
    x, y = place(FIFTH, ordered[FIFTH - 1])
    parts.append(f'<path class="grid strong" d="M{x:.1f} {BOTTOM}V{TOP}"/>')
    _, level = place(0, unpruned)
    parts.append(f'<path class="grid strong" d="M{LEFT} {level:.1f}H{RIGHT}"/>')
    words = f"{N_MEMBERS} unpruned trees: {unpruned:.2f}%"
    parts.append(text(RIGHT, level + 18, words, "axis", "end"))
    parts.append(f'<path class="random" d="{path_of(random)}"/>')
    parts.append(f'<path class="ordered" d="{path_of(ordered)}"/>')
    parts.append(f'<circle class="ordered" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
    parts.append(text(x + 6, y + 42, f"{ordered[FIFTH - 1]:.2f}% with {FIFTH}", "ordered"))
    x, y = place(N_MEMBERS, ordered[-1])
    parts.append(f'<circle class="random" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
    parts.append(text(RIGHT, y - 14, f"{ordered[-1]:.2f}% with all {N_MEMBERS}", "random", "end"))
    parts.append(text(place(43, 0)[0], place(0, 24.1)[1], "in random order", "random name"))
    name_x, name_y = place(N_MEMBERS - 4, 20.25)
    parts.append(text(name_x, name_y, "in a better order", "ordered name", "end"))
    label = (
        f"Test error by the number of members: in random order it falls to {random[-1]:.1f}%; in a "
        f"better order it is {ordered[FIFTH - 1]:.2f}% with the first {FIFTH} and climbs back; "
        f"{N_MEMBERS} unpruned trees have {unpruned:.2f}%"
    )
    return drawing(label, "\n".join(parts))


def main() -> None:
    """Draw it."""
    curves = mean_curves(bag_of_pruned_trees)
    X, y, *_ = draw(0)
    kept = {int(t) for t in prune(bag_of_pruned_trees(0).fit(X, y), X, y).kept_}
    ordered, random = curves["ordered, test"], curves["random, test"]
    unpruned = mean_curves(bag_of_full_trees)["ordered, test"][-1]
    pictures = f"{drawing_of_members(kept)}\n{drawing_of_errors(ordered, random, unpruned)}"
    page = f'<div class="orfeon-pruning">\n{pictures}\n</div>\n'
    (HERE / "pruning.html").write_text(page, encoding="utf-8")
    below = np.flatnonzero(ordered <= ordered[-1])[0] + 1
    print(f"all {N_MEMBERS}: {ordered[-1]:.2f}%; the first {FIFTH}: {ordered[FIFTH - 1]:.2f}%")
    print(f"{N_MEMBERS} unpruned trees: {unpruned:.2f}%")
    print(f"the first {below} err as little as all; least: {ordered.min():.2f}%")


if __name__ == "__main__":
    main()
