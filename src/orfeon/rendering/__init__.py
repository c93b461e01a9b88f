"""Trees for people to read: text, rules, drawings, Graphviz and HTML."""

from __future__ import annotations

from orfeon.rendering.graphviz import export_graphviz
from orfeon.rendering.html import export_html
from orfeon.rendering.plot import plot_tree
from orfeon.rendering.rules import LeafRule, export_rules
from orfeon.rendering.text import export_text
from orfeon.rendering.view import NodeView, TreeView, view_tree

__all__ = [
    "LeafRule",
    "NodeView",
    "TreeView",
    "export_graphviz",
    "export_html",
    "export_rules",
    "export_text",
    "plot_tree",
    "view_tree",
]
