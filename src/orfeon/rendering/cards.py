"""What is written and painted on each node of a drawn tree, whatever draws it.

A test shows its feature, and its conditions are on the branches; a leaf shows its class or mean.
Below are the weight of its samples and a bar with the share of each class, or a mark that places
its mean between the lowest and the highest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orfeon.rendering.numbers import share_text, weight_text
from orfeon.rendering.palette import EDGE, class_colours, mixed, scale_colour, tint
from orfeon.rendering.view import NodeView, TreeView
from orfeon.rendering.wording import Wording, shortened


@dataclass(frozen=True)
class Card:
    """A node to draw."""

    node: NodeView
    kind: Literal["test", "leaf", "cut"]
    branch: str
    title: str
    detail: str
    fill: str
    border: str
    bar: tuple[tuple[float, str], ...]
    mark: float | None
    story: str


def make_cards(
    view: TreeView, wording: Wording, max_depth: int | None = None, show_weights: bool = True
) -> list[Card]:
    """Make the cards of a tree, each subtree in one piece."""
    colours = class_colours(len(view.class_names))
    return [
        _card(view, wording, node, cut, show_weights, colours)
        for node, cut in view.visible(max_depth)
    ]


def _card(
    view: TreeView,
    wording: Wording,
    node: NodeView,
    cut: bool,
    show_weights: bool,
    colours: tuple[str, ...],
) -> Card:
    prediction = view.prediction(node, wording)
    tested = node.children and view.nodes[node.children[0]].condition
    is_test = bool(tested) and not cut
    fill, border, bar, mark = _paint(view, node, colours)
    return Card(
        node=node,
        kind="test" if is_test else "cut" if cut else "leaf",
        branch="" if node.condition is None else wording.branch(node.condition),
        title=(
            wording.subject(tested.subject)
            if tested and is_test
            else shortened(prediction, wording.max_length)
        ),
        detail=_detail(view, wording, node, cut, show_weights),
        fill=fill,
        border=border,
        bar=bar,
        mark=mark,
        story=_story(view, wording, node, prediction),
    )


def _paint(
    view: TreeView, node: NodeView, colours: tuple[str, ...]
) -> tuple[str, str, tuple[tuple[float, str], ...], float | None]:
    """Fill, border, bar and mark of a node."""
    if node.mean is not None:
        least, greatest = view.mean_range
        mark = (node.mean - least) / (greatest - least) if greatest > least else 0.5
        fill = scale_colour(mark)
        return fill, mixed(EDGE, fill, 0.8), (), mark
    share = node.shares[node.label]
    chance = 1 / len(colours)
    purity = (share - chance) / (1 - chance) if len(colours) > 1 else 1.0
    colour = colours[node.label]
    bar = tuple((s, c) for s, c in zip(node.shares, colours, strict=True) if s > 0)
    return tint(colour, purity), mixed(colour, EDGE, 0.35 + 0.65 * max(purity, 0.0)), bar, None


def _detail(view: TreeView, wording: Wording, node: NodeView, cut: bool, show_weights: bool) -> str:
    """Write the second line: weight, and how sure the node is or what is cut below it."""
    parts = []
    if show_weights and node.weight is not None:
        parts.append(f"n = {weight_text(node.weight)}")
    if (node.is_leaf or cut) and view.class_names and any(node.shares):
        parts.append(share_text(node.shares[node.label]))
    if show_weights and node.is_leaf and node.deviation is not None:
        parts.append(f"sd {wording.number(node.deviation)}")
    if cut:
        parts.append(f"… {node.n_leaves} leaves")
    return " · ".join(parts)


def _story(view: TreeView, wording: Wording, node: NodeView, prediction: str) -> str:
    """Prediction, weight and every class's share, in a sentence."""
    answers = f"node {node.index}: {prediction}"
    if node.weight is not None:
        answers += f", weight {weight_text(node.weight)}"
    if node.deviation is not None:
        answers += f", standard deviation {wording.number(node.deviation)}"
    shares = [
        f"{name} {share_text(share)}"
        for name, share in zip(view.class_names, node.shares, strict=True)
        if share > 0
    ]
    return f"{answers} ({', '.join(shares)})" if shares else answers
