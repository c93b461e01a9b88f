"""A tree drawn with matplotlib.

The drawing is laid out in points from the measured sizes of its texts, so that nothing overlaps,
and its texts grow and shrink with the axes: the same picture fits a page, a slide or a subplot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orfeon.data.schema import Schema
from orfeon.rendering.cards import Card, make_cards
from orfeon.rendering.layout import horizontal_positions, vertical_positions
from orfeon.rendering.palette import class_colours
from orfeon.rendering.view import TreeView, check_option, documented, read_tree
from orfeon.rendering.wording import shortened

#: With more classes a legend would outgrow the tree; the leaves name their classes anyway.
_MOST_IN_LEGEND = 16


@documented
def plot_tree(
    tree_or_forest: Any,
    *,
    tree: int = 0,
    schema: Schema | None = None,
    class_names: Sequence[Any] | None = None,
    max_depth: int | None = None,
    decimals: int | None = None,
    show_weights: bool = True,
    show_missing: bool = False,
    max_categories: int | None = 4,
    max_length: int | None = 32,
    ax: Any = None,
) -> Any:
    """Draw a tree.

    Parameters
    ----------
    <tree>
    <drawn>
    <decimals>
    <weights>
    <missing>
    max_categories : int or None, default=4
        Categories named before a list is cut.
    max_length : int or None, default=32
        Characters of a name before it is cut.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure of the size the tree needs.

    Returns
    -------
    matplotlib Axes
        The axes drawn on. The box of node ``i`` has the gid ``node-i``.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from orfeon import CARTClassifier
    >>> from orfeon.rendering import plot_tree
    >>> ax = plot_tree(CARTClassifier().fit([[1.0], [2.0], [7.0]], ["a", "a", "b"]))
    >>> sorted(patch.get_gid() for patch in ax.patches if patch.get_gid())
    ['node-0', 'node-1', 'node-2']
    >>> matplotlib.pyplot.close(ax.figure)
    """
    check_option("max_length", max_length, smallest=2)
    view, wording = read_tree(
        tree_or_forest, tree, schema, class_names, max_depth=max_depth, decimals=decimals,
        show_missing=show_missing, max_categories=max_categories,
        max_length=max_length, max_terms=3, signs=True,
    )  # fmt: skip
    canvas = _canvas()
    boxes = _placed(make_cards(view, wording, max_depth, show_weights), canvas)
    width = max(box.x + box.slot / 2 for box in boxes)
    height = -min(box.top - box.height for box in boxes)
    legend, width, height = canvas.place_legend(_classes(view, max_length), width, height)
    ax = canvas.prepare_axes(ax, width, height)
    canvas.draw_edges(ax, boxes)
    canvas.draw_boxes(ax, boxes)
    canvas.draw_legend(ax, legend)
    return ax


def _canvas() -> Any:
    """Import the module that draws only now: the rest of the package needs no matplotlib."""
    try:
        from orfeon.rendering import _canvas
    except ImportError as error:
        raise ImportError(
            "plot_tree needs matplotlib, which the extra orfeon[plot] installs: "
            "pip install 'orfeon[plot]'."
        ) from error
    return _canvas


def _placed(cards: list[Card], canvas: Any) -> list[Any]:
    """Give the cards their places; boxes are in the order of the nodes' numbers."""
    cards = sorted(cards, key=lambda card: card.node.index)  # parents come before their children
    position = {card.node.index: i for i, card in enumerate(cards)}
    children = [
        [position[c] for c in card.node.children] if card.kind == "test" else [] for card in cards
    ]
    sizes = [canvas.measure(card) for card in cards]
    centres = horizontal_positions(children, [size.slot for size in sizes], canvas.BOX_GAP)
    depths = [card.node.depth for card in cards]
    tops = vertical_positions(depths, [size.height for size in sizes], canvas.ROW_GAP)
    return [
        canvas.Box(card, centre, -top, size, position.get(card.node.parent, -1))
        for card, centre, top, size in zip(cards, centres, tops, sizes, strict=True)
    ]


def _classes(view: TreeView, max_length: int | None) -> list[tuple[str, str]]:
    """Names and colours of the classes for the legend."""
    if len(view.class_names) > _MOST_IN_LEGEND:
        return []
    colours = class_colours(len(view.class_names))
    names = [shortened(name, max_length) for name in view.class_names]
    return list(zip(names, colours, strict=True))
