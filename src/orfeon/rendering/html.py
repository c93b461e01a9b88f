"""A tree as a web page of its own: boxes that open and close, no scripts, nothing fetched.

The page is nested ``details`` elements, so the keyboard works as everywhere: Tab moves between the
tests, Enter or Space opens and closes them. The same elements are shown as a picture, top down, or
as an outline, which suits large trees. Browsers limit how deeply elements may be nested; subtrees
below that are continued in sections of their own, with a link to them and one back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, Literal

from orfeon.data.schema import Schema
from orfeon.rendering._checks import check_option
from orfeon.rendering._style import STYLE
from orfeon.rendering.cards import Card, make_cards
from orfeon.rendering.numbers import weight_text
from orfeon.rendering.palette import class_colours
from orfeon.rendering.view import TreeView, view_tree

#: Tests nested in one section; each takes three elements, and browsers flatten pages beyond 512.
_SECTION_DEPTH = 80
#: Wider pictures do not fit a window.
_MOST_IN_PICTURE = 12
_SHAPES = ("picture", "outline")


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
    """Write a tree as HTML, on one page without scripts.

    Parameters
    ----------
    tree_or_forest : estimator or Forest
        A fitted estimator with a ``forest_``, or a forest.
    tree : int, default=0
        Which tree of the forest.
    schema : Schema, optional
        Names and categories of the features; the estimator's by default.
    class_names : sequence, optional
        Names of the classes; the estimator's by default.
    max_depth : int, optional
        Tests that are there on a path; what is below is summed up.
    decimals : int, optional
        Digits after the point; four significant digits by default, more where thresholds of one
        feature would otherwise read the same.
    show_weights : bool, default=True
        Whether the weights of the samples are written.
    show_missing : bool, default=False
        Whether to say which branch takes missing values.
    max_categories : int or None, default=8
        Categories named before a list is cut.
    shape : {"auto", "picture", "outline"}, default="auto"
        What is shown first; the reader can switch. "auto" is a picture up to twelve leaves.
    open_depth : int or None, default=4
        Tests that are open at first on a path; ``None`` opens all.
    title : str, default="Decision tree"
        The heading.
    full_page : bool, default=True
        Whether to make a whole page, or a fragment to put into another.

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
    check_option("max_depth", max_depth)
    check_option("decimals", decimals, largest=17)
    check_option("max_categories", max_categories, smallest=1)
    check_option("open_depth", open_depth)
    if shape not in ("auto", *_SHAPES):
        raise ValueError(f"shape={shape!r} is not allowed: give 'auto', 'picture' or 'outline'.")
    view = view_tree(tree_or_forest, tree=tree, schema=schema, class_names=class_names)
    wording = view.wording(
        decimals, show_missing=show_missing, max_categories=max_categories, max_terms=6, signs=True
    )
    cards = {card.node.index: card for card in make_cards(view, wording, max_depth, show_weights)}
    if shape == "auto":
        drawn = sum(card.kind != "test" for card in cards.values())
        shape = "picture" if drawn <= _MOST_IN_PICTURE else "outline"
    body = "".join(_sections(cards, open_depth))
    # Ids must differ between trees on one page and stay the same between runs.
    key = hashlib.sha256(body.encode()).hexdigest()[:8]
    fragment = _fragment(view, body.replace(_KEY, key), key, title, shape)
    return _page(fragment, title) if full_page else fragment


#: Stands for the key of the ids until the body is known; no name can hold it, for control
#: characters in names are escaped.
_KEY = "\x00"


def _sections(cards: dict[int, Card], open_depth: int | None) -> Iterator[str]:
    """Write the tree from its root, then what was too deep to be nested in it, and so on."""
    roots = [0]
    for root in roots:  # grows while it is read
        if root:
            back = f'<a href="#t{_KEY}-to-{root}">back to where it belongs</a>'
            yield f'<h3 id="t{_KEY}-from-{root}">Continued: node {root} ({back})</h3>'
        yield '<ul class="orfeon-root">'
        yield from _subtree(cards, root, open_depth, roots)
        yield "</ul>"


def _subtree(
    cards: dict[int, Card], root: int, open_depth: int | None, later: list[int]
) -> Iterator[str]:
    """Write the items of a subtree, nested; subtrees that are too deep are put off to ``later``."""
    top = cards[root].node.depth
    pending: list[int | str] = [root]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
            continue
        card, depth = cards[item], cards[item].node.depth
        branch = f'<span class="branch">{escape(card.branch)}</span>' if card.branch else ""
        if card.kind == "test" and depth - top < _SECTION_DEPTH:
            is_open = " open" if open_depth is None or depth - top < open_depth else ""
            yield f"<li><details{is_open}><summary>{branch}"
            yield f'<span class="box test" {_painted(card)}>{_face(card)}</span></summary><ul>'
            pending.append("</ul></details></li>")
            pending.extend(reversed(card.node.children))
            continue
        kind, link = card.kind, ""
        if card.kind == "test":
            later.append(item)
            kind = "cut"
            link = (
                f'<a class="on" id="t{_KEY}-to-{item}" href="#t{_KEY}-from-{item}">'
                f"… {card.node.n_leaves} leaves, continued below</a>"
            )
        yield f'<li>{branch}<div class="box {kind}" {_painted(card)}>{_face(card)}{link}</div></li>'


def _painted(card: Card) -> str:
    return f'style="background:{card.fill};border-color:{card.border}" title="{escape(card.story)}"'


def _face(card: Card) -> str:
    """Write what stands in a box."""
    detail = f'<span class="detail">{escape(card.detail)}</span>' if card.detail else ""
    if card.mark is not None:
        inside = f'<i class="mark" style="left:{100 * card.mark:.4g}%"></i>'
        bar = f'<span class="bar scale" aria-hidden="true">{inside}</span>'
    else:
        parts = (f'<i style="width:{100 * s:.4g}%;background:{c}"></i>' for s, c in card.bar)
        bar = f'<span class="bar" aria-hidden="true">{"".join(parts)}</span>'
    return f'<span class="title">{escape(card.title)}</span>{detail}{bar}'


def _fragment(view: TreeView, body: str, key: str, title: str, shape: str) -> str:
    """Write the tree with its heading, its legend and the switch between the two shapes."""
    root = view.root
    answers = [
        f"{root.n_leaves} {'leaf' if root.n_leaves == 1 else 'leaves'}",
        f"depth {view.depth}",
    ]
    if root.weight is not None:
        answers.append(f"n = {weight_text(root.weight)}")
    legend = "".join(
        f'<li><i style="background:{colour}"></i>{escape(name)}</li>'
        for name, colour in zip(view.class_names, class_colours(len(view.class_names)), strict=True)
    )
    switch = "".join(
        f'<input type="radio" name="t{key}-shape" id="t{key}-{s}" class="to-{s}"'
        f'{" checked" if s == shape else ""}><label for="t{key}-{s}">{s.capitalize()}</label>'
        for s in _SHAPES
    )
    return (
        f'<section class="orfeon-tree" aria-label="{escape(title)}"><style>{STYLE}</style>'
        f'<h2>{escape(title)}</h2><p class="summary">{" · ".join(answers)}</p>'
        + (f'<ul class="legend">{legend}</ul>' if legend else "")
        + f'{switch}<div class="canvas" tabindex="0" role="group" aria-label="tree">{body}</div>'
        "</section>"
    )


def _page(fragment: str, title: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title></head>\n"
        f'<body style="margin:0">{fragment}</body></html>\n'
    )
