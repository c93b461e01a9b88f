"""A tree as a self-contained web page: boxes that open and close, without scripts.

The page is nested ``details`` elements, so the keyboard works: Tab moves between tests, Enter or
Space opens and closes them. Readers can switch between a picture, top down, and an outline, which
suits large trees. Browsers limit how deeply elements may be nested; deeper subtrees continue in
sections of their own, with links there and back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from orfeon.data.schema import Schema
from orfeon.rendering._style import STYLE
from orfeon.rendering.cards import Card, make_cards
from orfeon.rendering.numbers import weight_text
from orfeon.rendering.pages import render
from orfeon.rendering.palette import class_colours
from orfeon.rendering.view import TreeView, check_option, documented, read_tree

#: Tests nested in one section; each takes three elements, and browsers flatten pages beyond 512.
_SECTION_DEPTH = 80
#: Wider pictures do not fit a window.
_MOST_IN_PICTURE = 12
_SHAPES = ("picture", "outline")


@documented
def export_html(
    tree_or_forest: Any,
    *,
    tree: int = 0,
    schema: Schema | None = None,
    class_names: Sequence[Any] | None = None,
    max_depth: int | None = None,
    decimals: int | None = None,
    show_weights: bool = True,
    show_missing: bool = False,
    max_categories: int | None = 8,
    shape: Literal["auto", "picture", "outline"] = "auto",
    open_depth: int | None = 4,
    title: str = "Decision tree",
    full_page: bool = True,
) -> str:
    """Export a tree as HTML, without scripts.

    Parameters
    ----------
    <tree>
    max_depth : int, optional
        Depth of the tests that are shown; deeper subtrees are summarised.
    <decimals>
    <weights>
    <missing>
    max_categories : int or None, default=8
        Maximum number of categories to list.
    shape : {"auto", "picture", "outline"}, default="auto"
        The view that opens first; readers can switch. "auto" is a picture for up to twelve leaves.
    open_depth : int or None, default=4
        Depth to which tests are open at first; ``None`` opens all.
    title : str, default="Decision tree"
        The heading.
    full_page : bool, default=True
        Whether to return a whole page, or a fragment to embed in another page.

    Returns
    -------
    str
        The HTML text.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.rendering import export_html
    >>> tree = CARTClassifier().fit([[1.0], [2.0], [7.0]], ["a<b", "a<b", "c"])
    >>> page = export_html(tree, title="Two classes")
    >>> page.count("<details"), "a&lt;b" in page, "a<b" in page
    (1, True, False)
    """
    check_option("open_depth", open_depth)
    if shape not in ("auto", *_SHAPES):
        raise ValueError(f"shape={shape!r} is not allowed: give 'auto', 'picture' or 'outline'.")
    view, wording = read_tree(
        tree_or_forest, tree, schema, class_names, max_depth=max_depth, decimals=decimals,
        show_missing=show_missing, max_categories=max_categories, max_terms=6,
        signs=True,
    )  # fmt: skip
    cards = {card.node.index: card for card in make_cards(view, wording, max_depth, show_weights)}
    if shape == "auto":
        drawn = sum(card.kind != "test" for card in cards.values())
        shape = "picture" if drawn <= _MOST_IN_PICTURE else "outline"
    steps = list(_steps(cards, open_depth))
    # Ids must differ between trees on one page and stay the same between runs.
    key = hashlib.sha256(repr(steps).encode("utf-8", "replace")).hexdigest()[:8]
    return render(
        "orfeon.rendering",
        "tree.html",
        steps=steps,
        key=key,
        style=STYLE,
        title=title,
        summary=_summary(view),
        legend=list(zip(view.class_names, class_colours(len(view.class_names)), strict=True)),
        shapes=_SHAPES,
        shape=shape,
        full_page=full_page,
    )


Step = tuple[str, Card | None, bool]


def _steps(cards: dict[int, Card], open_depth: int | None) -> Iterator[Step]:
    """Walk the tree from its root, then what is too deep to be nested in it, and so on."""
    roots = [0]
    for root in roots:  # grows while it is read
        yield "section", cards[root], False
        yield from _subtree(cards, root, open_depth, roots)
        yield "section end", None, False


def _subtree(
    cards: dict[int, Card], root: int, open_depth: int | None, later: list[int]
) -> Iterator[Step]:
    """Walk a subtree; what is too deep to be nested in it is added to ``later``."""
    top = cards[root].node.depth
    pending: list[int | None] = [root]
    while pending:
        item = pending.pop()
        if item is None:
            yield "test end", None, False
            continue
        card, depth = cards[item], cards[item].node.depth - top
        if card.kind == "test" and depth < _SECTION_DEPTH:
            yield "test", card, open_depth is None or depth < open_depth
            pending += [None, *reversed(card.node.children)]
            continue
        if card.kind == "test":
            later.append(item)
        yield "leaf" if card.kind == "leaf" else "cut", card, False


def _summary(view: TreeView) -> str:
    n_leaves = view.root.n_leaves
    parts = [f"{n_leaves} {'leaf' if n_leaves == 1 else 'leaves'}", f"depth {view.depth}"]
    if view.root.weight is not None:
        parts.append(f"n = {weight_text(view.root.weight)}")
    return " · ".join(parts)
