"""Formulas as MathML, which browsers draw themselves: no script, and nothing from another host.

The conversion is that of docutils, which Sphinx needs anyway. What it cannot convert is a warning,
so a build with ``-W`` fails instead of showing TeX to readers. A font that knows how braces grow
goes with the site, for systems that have none.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import matplotlib as mpl
from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from fontTools import subset
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)
#: Latin, Greek, punctuation, arrows and operators, shapes, brackets; italic, bold, script, double.
CHARACTERS = (
    (0x20, 0x100), (0x370, 0x400), (0x2010, 0x2070), (0x20D0, 0x2300), (0x25A0, 0x2600),
    (0x27C0, 0x27F0), (0x1D400, 0x1D4D0), (0x1D538, 0x1D56C), (0x1D6A8, 0x1D756),
)  # fmt: skip


def converted(node: nodes.Element, as_block: bool) -> str:
    """The MathML of a formula; where there is none, its TeX and a warning."""
    tex = node.astext().strip()
    try:
        return str(tex2mathml(tex, as_block=as_block))
    except (MathError, SyntaxError, IndexError, KeyError) as error:
        logger.warning("no MathML for the formula %r: %s", tex, error, location=node)
        return f"<code>{nodes.unescape(tex)}</code>"


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(converted(node, as_block=False))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own, with its number if it has one."""
    self.body.append(self.starttag(node, "div", CLASS="formula"))
    self.body.append(converted(node, as_block=True))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def source_of_font() -> Path:
    """STIX Two Math, which ziamath brings; without it, a font of matplotlib's that nearly does."""
    ziamath = importlib.util.find_spec("ziamath")
    if ziamath is not None and ziamath.origin is not None:
        return Path(ziamath.origin).parent / "fonts" / "STIXTwoMath-Regular.ttf"
    return Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSerif.ttf"


def write_font(app: Sphinx, error: Exception | None) -> None:
    """Put a mathematical font beside the styles, with the characters that formulas use."""
    if error is not None or app.builder.format != "html":
        return
    options = subset.Options(layout_features=["ssty"], hinting=False)
    font = subset.load_font(str(source_of_font()), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for part in CHARACTERS for code in range(*part)])
    subsetter.subset(font)
    subset.save_font(font, str(Path(app.outdir) / "_static" / "math.ttf"), options)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer, for ``html_math_renderer = "mathml"``."""
    app.connect("build-finished", write_font)
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
