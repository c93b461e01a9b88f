"""A tree in DOT, the language of Graphviz.

Only text is made here; Graphviz itself is needed to draw it: ``dot -Tsvg tree.dot -o tree.svg``.
Labels are Graphviz's HTML-like ones; every name in them is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Literal

from orfeon.data.schema import Schema
from orfeon.rendering.cards import Card, make_cards
from orfeon.rendering.palette import EDGE, INK, MUTED_INK, TRACK
from orfeon.rendering.view import documented, read_tree

_BAR_WIDTH, _BAR_HEIGHT, _MARK_WIDTH = 72, 6, 6
_DIRECTIONS = {"down": "TB", "right": "LR"}


@documented
def export_graphviz(
    tree_or_forest: Any,
    *,
    tree: int = 0,
    schema: Schema | None = None,
    class_names: Sequence[Any] | None = None,
    max_depth: int | None = None,
    decimals: int | None = None,
    show_weights: bool = True,
    show_missing: bool = False,
    max_categories: int | None = 5,
    direction: Literal["down", "right"] = "down",
) -> str:
    """Write a tree as DOT text.

    Parameters
    ----------
    <tree>
    <drawn>
    <decimals>
    <weights>
    <missing>
    max_categories : int or None, default=5
        Categories named before a list is cut.
    direction : {"down", "right"}, default="down"
        Direction in which the tree grows.

    Returns
    -------
    str
        The DOT text.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.rendering import export_graphviz
    >>> dot = export_graphviz(CARTClassifier().fit([[1.0], [2.0], [7.0]], ["a", "a", "b"]))
    >>> dot.count("->")
    2
    """
    if direction not in _DIRECTIONS:
        raise ValueError(f"direction={direction!r} is not allowed: give 'down' or 'right'.")
    view, wording = read_tree(
        tree_or_forest, tree, schema, class_names, max_depth=max_depth, decimals=decimals,
        show_missing=show_missing, max_categories=max_categories, max_terms=3,
        signs=True,
    )  # fmt: skip
    lines = [
        "digraph tree {",
        f'  graph [rankdir={_DIRECTIONS[direction]}, ordering="out", nodesep=0.25, ranksep=0.45];',
        '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11, '
        f'fontcolor="{INK}", margin="0.1,0.05"];',
        f'  edge [fontname="Helvetica", fontsize=10, fontcolor="{INK}", color="{EDGE}", '
        "arrowhead=none];",
    ]
    for card in make_cards(view, wording, max_depth, show_weights):
        lines.append(f"  {_node(card)}")
        if card.branch:
            lines.append(f"  {_edge(card)}")
    return "\n".join([*lines, "}"])


def _node(card: Card) -> str:
    """Write a node's statement."""
    rows = [f"<TR><TD><B>{escape(card.title)}</B></TD></TR>"]
    if card.detail:
        detail = f'<FONT COLOR="{MUTED_INK}" POINT-SIZE="9">{escape(card.detail)}</FONT>'
        rows.append(f"<TR><TD>{detail}</TD></TR>")
    rows.append(f"<TR><TD>{_bar(card)}</TD></TR>")
    table = f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="1">{"".join(rows)}</TABLE>'
    style = ', style="rounded,filled,dashed"' if card.kind == "cut" else ""
    width = 1.8 if card.kind == "leaf" else 1.0
    return (
        f'n{card.node.index} [label=<{table}>, fillcolor="{card.fill}", color="{card.border}", '
        f"penwidth={width}{style}];"
    )


def _bar(card: Card) -> str:
    """Paint the classes' shares, or the mean's place on a scale, as a row of cells."""
    if card.mark is None:
        cells = [(max(1, round(share * _BAR_WIDTH)), colour) for share, colour in card.bar]
    else:
        before = round(card.mark * (_BAR_WIDTH - _MARK_WIDTH))
        after = _BAR_WIDTH - _MARK_WIDTH - before
        cells = [(before, TRACK), (_MARK_WIDTH, INK), (after, TRACK)]
    if not cells:  # no training sample came here, and Graphviz refuses a row without cells
        cells = [(_BAR_WIDTH, TRACK)]
    row = "".join(
        f'<TD FIXEDSIZE="TRUE" WIDTH="{width}" HEIGHT="{_BAR_HEIGHT}" BGCOLOR="{colour}"></TD>'
        for width, colour in cells
        if width > 0
    )
    # A fixed size, or Graphviz would stretch the table under a long title and tear the cells apart.
    return (
        '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0" FIXEDSIZE="TRUE" '
        f'WIDTH="{sum(width for width, _ in cells)}" HEIGHT="{_BAR_HEIGHT}"><TR>{row}</TR></TABLE>'
    )


def _edge(card: Card) -> str:
    """Write the statement of the edge that leads to a node."""
    return f"n{card.node.parent} -> n{card.node.index} [label=< {escape(card.branch)} >];"
